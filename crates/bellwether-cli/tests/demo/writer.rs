//! Writers that are killed and stopped, and a store that refuses old tokens.

use nix::sys::signal::Signal;
use serde_json::Value;

use super::rain::DEADLINE;
use super::run::Run;
use crate::cluster::{exists, run, wait_until};

/// The tokens of the file, one for each line, and the numbers of those that have one.
fn file(run: &Run) -> (Vec<u64>, Vec<u64>) {
    let lines = run.lines();
    let entries: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tokens = entries.iter().map(|entry| entry["token"].as_u64().unwrap()).collect();
    let numbers = entries.iter().filter_map(|entry| entry["what"]["write"].as_u64()).collect();
    (tokens, numbers)
}

/// A leader was killed, another was stopped and has come back with an old token.
fn wait_for_the_story(run: &mut Run, comes_back: &str) -> Value {
    run.wait_for("done", |told| told["what"] == "killed");
    run.wait_for("done", |told| told["what"] == "continued");
    run.wait_after(0, comes_back, |_| true)
}

#[test]
fn a_leader_that_comes_back_is_refused_and_the_file_goes_forwards() {
    for kind in ["token", "lease"] {
        let mut run = Run::writer(&["--kind", kind]);
        let refused = wait_for_the_story(&mut run, "refused");
        assert!(refused["token"].as_u64() < refused["seen"].as_u64(), "{refused:#}");
        run.process.signal(Signal::SIGINT);
        let summary = run.summary();
        let (tokens, numbers) = file(&run);
        assert!(tokens.is_sorted(), "{tokens:?}");
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
        assert_eq!((&summary["kind"], &summary["wrong"]), (&kind.into(), &Value::Null), "{summary:#}");
        assert_eq!(summary["lines"].as_u64(), Some(numbers.len() as u64), "{summary:#}");
        for at_least_one in ["refused", "changes", "killed", "stopped", "longest_gap_ms"] {
            assert!(summary[at_least_one].as_u64() >= Some(1), "{at_least_one}: {summary:#}");
        }
        run.assert_nothing_runs();
    }
}

#[test]
fn a_store_that_takes_every_token_is_caught() {
    let mut run = Run::writer(&["--no-fence"]);
    wait_for_the_story(&mut run, "backwards");
    run.process.signal(Signal::SIGINT);
    let summary = run.summary_and(1);
    assert!(summary["wrong"]["backwards"].is_object(), "{summary:#}");
    let (tokens, _) = file(&run);
    assert!(!tokens.is_sorted(), "{tokens:?}");
    run.assert_nothing_runs();
}

#[test]
fn whoever_kills_the_demo_keeps_no_writer() {
    let mut run = Run::writer(&["--by-hand"]);
    let first = run.wait_for("writes", |_| true);
    run.order("stop", u32::try_from(first["node"].as_u64().unwrap()).unwrap());
    run.process.signal(Signal::SIGKILL);
    assert_eq!(run.process.wait(DEADLINE), None);
    let pids = run.pids();
    assert!(pids.len() == 5 && wait_until(DEADLINE, || pids.iter().all(|pid| !exists(*pid))), "{pids:?}");
}

#[test]
fn what_no_writer_can_do_is_refused_before_anything_is_done() {
    for (args, error) in [
        (["--kind", "lock"], "invalid value 'lock' for '--kind <K>'"),
        (["--for", "soon"], "invalid value 'soon' for '--for <DURATION>'"),
    ] {
        let (code, out, err) = run(&[&["demo", "writer"], &args[..]].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(error), "{args:?}: {err}");
    }
}
