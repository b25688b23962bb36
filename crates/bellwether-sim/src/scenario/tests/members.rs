//! What is asked of members, and what they are told: only where nodes are run as an agent runs them.

use super::*;
use bellwether_toml::FileError;

const EVENTS: &str = r#"
protocol = "fjr"
nodes = 3
until = "10s"
agent = true
priority = { 3 = 10, 2 = 5 }
preempt = { 1 = "0s", 2 = "1500ms" }
release_timeout = "2s"
resign_hold = "1s"
min_peers = 2
event = [
    { at = "1s", resign = [1, 2] },
    { at = "1s", resign_for = { node = 1, hold = "3s" } },
    { at = "1s", resign_for = { node = 2, hold = "until-told" } },
    { at = "2s", stand = [2] },
    { at = "3s", transfer = { from = 1, to = 3 } },
    { at = "4s", leave = [3] },
    { at = "5s", unlink = [[1, 2]] },
    { at = "5s", refuse = [[1, 2], [3, 2]] },
    { at = "5s", accept = [[1, 2]] },
    { at = "6s", work = { node = 1, ends_after = "200ms" } },
    { at = "6s", work = { node = 2, ends_after = "never" } },
]
"#;

#[test]
fn a_file_says_what_members_are_asked_and_told() {
    let scenario = parse(EVENTS);
    assert_eq!(
        scenario.policy,
        Policy {
            priority: BTreeMap::from([(NodeId(2), 5), (NodeId(3), 10)]),
            preempt: BTreeMap::from([(NodeId(1), Span::ZERO), (NodeId(2), Span::millis(1_500))]),
            min_peers: 2,
            release_timeout: Span::secs(2),
            resign_hold: Span::secs(1),
        }
    );
    let (one, two, three) = (NodeId(1), NodeId(2), NodeId(3));
    let asked: Vec<_> = scenario.events.iter().map(|planned| planned.fault.clone()).collect();
    assert_eq!(
        asked,
        [
            Fault::Resign(vec![one, two]),
            Fault::ResignFor { node: one, hold: Some(Span::secs(3)) },
            Fault::ResignFor { node: two, hold: None },
            Fault::Stand(vec![two]),
            Fault::Transfer { from: one, to: three },
            Fault::Leave(vec![three]),
            Fault::Unlink(vec![(one, two)]),
            Fault::Refuse(vec![(one, two), (three, two)]),
            Fault::Accept(vec![(one, two)]),
            Fault::Work { node: one, ends_after: Some(Span::millis(200)) },
            Fault::Work { node: two, ends_after: None },
        ]
    );
    assert_eq!(parse(&scenario.to_toml()), scenario);
}

#[test]
fn what_is_left_out_is_as_agents_have_it() {
    let policy = parse("protocol = \"fjr\"\nnodes = 3\nuntil = \"1s\"\nagent = true\n").policy;
    assert!(policy.priority.is_empty() && policy.preempt.is_empty());
    assert_eq!((policy.release_timeout, policy.resign_hold), (Span::secs(5), Span::secs(30)));
}

#[test]
fn a_mistake_is_told_with_its_line_and_what_was_expected() {
    for (line, problem) in [
        ("priority = { 4 = 1 }", "there is no node 4, expected one from 1 to 3"),
        ("priority = { 1 = 1001 }", "`priority` is 1001, expected a whole number from 0 to 1000"),
        (
            "priority = 10",
            "found integer `10`, expected a table with a number for each node such as { 1 = 2, 3 = 2 }",
        ),
        (
            "preempt = { 1 = true }",
            "found boolean `true`, expected a time with a unit (us, ms, s, m, h) such as \"10ms\"",
        ),
        (
            "preempt = true",
            "found boolean `true`, expected a table with a time for each node such as { 1 = \"0s\" }",
        ),
        ("preemt = { 1 = \"0s\" }", "unknown key `preemt`, did you mean `preempt`?"),
        ("release_timeout = \"0s\"", "`release_timeout` is zero, expected a longer time such as \"10ms\""),
        (
            "resign_hold = 3",
            "found integer `3`, expected a time with a unit (us, ms, s, m, h) such as \"10ms\"",
        ),
        ("event = [{ at = \"0s\", resing = [1] }]", "unknown key `resing`, did you mean `resign`?"),
        ("event = [{ at = \"0s\", resign = [] }]", "found an empty list, expected at least one node"),
        (
            "event = [{ at = \"0s\", resign = 1 }]",
            "found integer `1`, expected a list of nodes such as [1, 2]",
        ),
        ("event = [{ at = \"0s\", stand = [4] }]", "there is no node 4, expected one from 1 to 3"),
        (
            "event = [{ at = \"0s\", resign_for = { node = 1, hold = \"for-ever\" } }]",
            "found \"for-ever\", expected a time with a unit (us, ms, s, m, h) such as \"10ms\", or \"until-told\"",
        ),
        (
            "event = [{ at = \"0s\", work = { node = 1, ends_after = 5 } }]",
            "found integer `5`, expected a time with a unit (us, ms, s, m, h) such as \"10ms\", or \"never\"",
        ),
        ("event = [{ at = \"0s\", work = { node = 1 } }]", "missing key `ends_after`"),
        (
            "event = [{ at = \"0s\", transfer = { from = 1, to = 1 } }]",
            "a link from node 1 to itself, expected two different nodes",
        ),
        (
            "event = [{ at = \"0s\", transfer = [1, 2] }]",
            "found a list, expected a table such as { from = 1, to = 2 }",
        ),
        (
            "event = [{ at = \"0s\", unlink = [[1]] }]",
            "found a list of 1, expected a pair of nodes such as [1, 2]",
        ),
        (
            "event = [{ at = \"0s\", leave = [1], crash = [2] }]",
            "`crash` in an event that has `leave`, expected one action in each [[event]]",
        ),
    ] {
        let error = wrong(&format!("agent = true\n{line}"));
        assert_eq!((error.line, error.message.as_str()), (5, problem), "{line}");
    }
}

#[test]
fn only_nodes_that_are_run_as_agents_can_be_asked_anything() {
    for line in [
        "priority = { 1 = 1 }",
        "preempt = { 1 = \"0s\" }",
        "release_timeout = \"1s\"",
        "resign_hold = \"1s\"",
        "event = [{ at = \"0s\", resign = [1] }]",
        "event = [{ at = \"0s\", resign_for = { node = 1, hold = \"1s\" } }]",
        "event = [{ at = \"0s\", stand = [1] }]",
        "event = [{ at = \"0s\", transfer = { from = 1, to = 2 } }]",
        "event = [{ at = \"0s\", leave = [1] }]",
        "event = [{ at = \"0s\", unlink = [[1, 2]] }]",
        "event = [{ at = \"0s\", work = { node = 1, ends_after = \"never\" } }]",
    ] {
        for agent in ["", "agent = false\n"] {
            let error = wrong(&format!("{agent}{line}"));
            assert_eq!(error.line, 4 + agent.lines().count(), "{line}");
            let key = error.message.split('`').nth(1).expect("it names the key");
            assert!(line.contains(&format!("{key} =")), "{error}");
            let expected = format!("`{key}` needs `agent = true` beside it");
            assert_eq!(error.message, expected);
        }
    }
}

/// What is wrong with a file of three nodes that has these lines from the fourth on.
fn wrong(lines: &str) -> FileError {
    let text = format!("protocol = \"fjr\"\nnodes = 3\nuntil = \"10s\"\n{lines}\n");
    Scenario::parse("x.toml", &text).expect_err("there is something wrong")
}
