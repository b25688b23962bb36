//! What is only for people: `up`, `protocols`, help.

use crate::harness::bellwether;

#[test]
fn up_shows_three_elections_and_says_that_they_are_simulated() {
    let out = bellwether(&["up", "--speed", "1000"]).done();
    assert!(out.starts_with("simulated "), "{out}");
    let leads: Vec<_> =
        out.lines().filter_map(|line| line.split_once("  node ")?.1.split_once(" leads: ")).collect();
    // The default is stable: who comes back follows whoever leads then.
    let expected = [("1", "all 5 agree"), ("2", "all 4 agree"), ("2", "all 5 agree")];
    assert_eq!(leads.len(), expected.len(), "{out}");
    for ((leader, rest), (expected, agree)) in leads.iter().zip(expected) {
        assert!(*leader == expected && rest.starts_with(agree), "{out}");
    }
    assert!(out.contains("node 1 crashes") && out.contains("node 1 recovers"), "{out}");
    assert_plain(&out, 80);
}

#[test]
fn up_shows_any_protocol_and_size() {
    for protocol in ["bully-fd", "async-bully", "lfa", "adft", "fjr", "lockstep"] {
        for nodes in ["2", "8"] {
            let out =
                bellwether(&["up", "--speed", "10000", "--nodes", nodes, "--protocol", protocol]).done();
            assert_eq!(out.matches(" leads: ").count(), 3, "{out}");
            assert_plain(&out, 80);
        }
    }
}

#[test]
fn up_is_the_same_every_time() {
    assert_eq!(bellwether(&["up", "--speed", "1000"]), bellwether(&["up", "--speed", "2000"]));
}

#[test]
fn protocols_fit_any_terminal() {
    let out = bellwether(&["protocols"]).done();
    for name in ["bully-fd", "async-bully", "lfa", "adft", "mmrt", "fjr", "lockstep"] {
        assert!(out.lines().any(|line| line.starts_with(name)), "{name}: {out}");
    }
    assert_plain(&out, 80);
}

#[test]
fn help_is_as_asked() {
    for args in [
        &["--help"][..],
        &["up", "--help"],
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
