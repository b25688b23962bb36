//! What is only for people: `protocols`, help.

use crate::harness::bellwether;

#[test]
fn protocols_fit_any_terminal() {
    let out = bellwether(&["protocols"]).done();
    for name in [
        "bully-fd",
        "async-bully",
        "lfa",
        "adft",
        "mmrt",
        "fjr",
        "lockstep",
        "gamma",
        "phi",
        "psi",
        "fb-omega",
    ] {
        assert!(out.lines().any(|line| line.starts_with(name)), "{name}: {out}");
    }
    assert_plain(&out, 80);
}

#[test]
fn help_is_as_asked() {
    for args in [
        &["--help"][..],
        &["up", "--help"],
        &["up", "kill", "--help"],
        &["agent", "--help"],
        &["status", "--help"],
        &["leader", "--help"],
        &["members", "--help"],
        &["watch", "--help"],
        &["history", "--help"],
        &["resign", "--help"],
        &["transfer", "--help"],
        &["sim", "--help"],
        &["compare", "--help"],
        &["protocols", "--help"],
    ] {
        assert_plain(&bellwether(args).done(), 100);
    }
    assert!(bellwether(&["--help"]).out.contains("Exit codes:\n  0  as asked\n"));
}

/// No control characters, nothing at the ends of lines, no line too long.
#[track_caller]
fn assert_plain(text: &str, width: usize) {
    for line in text.lines() {
        assert!(!line.contains(char::is_control) && line == line.trim_end(), "{line:?}");
        assert!(line.chars().count() <= width, "{line:?}");
    }
}
