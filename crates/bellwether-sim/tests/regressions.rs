//! Runs that once went wrong, each with its story. What they broke must hold, or not be promised.

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_sim::run;
use bellwether_sim::scenario::Scenario;

/// What must be so of a property.
enum Must {
    /// It is judged, and holds.
    Hold(&'static [&'static str]),
    /// The world breaks an assumption: it is not promised, and not judged.
    BeAbsent(&'static [&'static str]),
}

const RUNS: &[(&str, &str, Must)] = &[
    (
        "a repeated Subscribe was answered by a new incarnation, and the end of the old one went unreported",
        r#"
protocol = "bully-fd"
nodes = 2
until = "30s"
timing.delta = "60ms"
detector.kind = "heartbeat"
event = [{ at = "1s", crash = [1, 2] }, { at = "2s", recover = [1] }, { at = "2050ms", recover = [2] }]
"#,
        Must::Hold(&["SLE1", "SLE2"]),
    ),
    (
        "a sign of life that arrived at the very instant of the deadline came too late if another frame came first",
        r#"
protocol = "bully-fd"
nodes = 4
until = "3s"
network.latency = "1ms"
timing = { delta = "1ms", tau = "10ms" }
detector = { kind = "heartbeat", period = "10ms" }
event = [{ at = "1013ms", crash = [1] }, { at = "1017ms", recover = [1] }]
"#,
        Must::Hold(&["SLE1", "SLE2", "FD-ACCURATE"]),
    ),
    (
        "the watched side sent beats less often than the watcher had been promised",
        r#"
protocol = "bully-fd"
nodes = 3
until = "1s"
network.latency = "100us"
timing.delta = "200us"
detector = { kind = "heartbeat", period = "500us" }
"#,
        Must::Hold(&["SLE1", "SLE2"]),
    ),
    (
        "the leader's clock ran fast, and every answer to its questions was a little too late",
        r#"
protocol = "async-bully"
nodes = 3
until = "60s"
network.latency = "9950us"
timing = { delta = "10ms", tau = "5ms" }
detector.kind = "adaptive"
clock.drift_ppm = { 1 = 200 }
expect.leader = { 1 = 1, 2 = 1, 3 = 1 }
"#,
        Must::Hold(&["ALE1"]),
    ),
    (
        "Norm? overtook Ldr, which was then refused, and each repetition was overtaken again",
        r#"
protocol = "async-bully"
nodes = 3
until = "60s"
network = { latency = ["1ms", "50ms"], fifo = false }
timing.tau = "5ms"
"#,
        Must::Hold(&["ALE1", "ALE2'", "ALE2"]),
    ),
    (
        "a slow clock made every vote a little too late for its poll, and nobody was ever reported",
        r#"
protocol = "async-bully"
nodes = 3
until = "30s"
network.latency = "10ms"
timing = { delta = "10ms", tau = "20ms" }
detector = { kind = "cooperative", k = 2 }
clock.drift_ppm = { 3 = -200 }
event = [{ at = "5s", crash = [1] }]
"#,
        Must::Hold(&["FD-COMPLETE", "FD-LATENCY"]),
    ),
    (
        "the oracle was not told of a node that crashed before it had started",
        r#"
protocol = "bully-fd"
nodes = 2
until = "10s"
event = [{ at = "0s", crash = [2] }, { at = "0s", recover = [2] }, { at = "0s", crash = [1] }]
"#,
        Must::Hold(&["SLE2", "FD-COMPLETE", "FD-LATENCY"]),
    ),
    (
        "the oracle was not told of a node that was paused before it had started",
        r#"
protocol = "bully-fd"
nodes = 3
until = "10s"
event = [{ at = "0s", pause = [1] }, { at = "1s", crash = [1] }]
"#,
        Must::Hold(&["FD-COMPLETE", "FD-LATENCY"]),
    ),
    (
        "answers were ignored that a patient detector would have waited for, and the split was for ever",
        r#"
protocol = "async-bully"
nodes = 3
until = "60s"
network.latency = "30ms"
timing = { delta = "10ms", tau = "20ms" }
detector = { kind = "adaptive", period = "100ms" }
expect.leader = { 1 = 1, 2 = 1, 3 = 1 }
"#,
        Must::Hold(&["ALE1"]),
    ),
    (
        "reporters that must agree may be too few: nothing that needs a report is promised",
        r#"
protocol = "bully-fd"
nodes = 3
until = "30s"
detector.kind = "cooperative"
event = [{ at = "1s", crash = [1, 3] }]
"#,
        Must::BeAbsent(&["SLE2"]),
    ),
    (
        "clocks that drift further than delta has slack make honest detectors err",
        r#"
protocol = "async-bully"
nodes = 3
until = "60s"
network.latency = "10ms"
timing.delta = "10ms"
clock.drift_ppm = { 1 = 200 }
"#,
        Must::BeAbsent(&["ALE2'", "ALE2", "FD-ACCURATE"]),
    ),
    (
        "the slack may be used up later, by an event",
        r#"
protocol = "bully-fd"
nodes = 3
until = "60s"
network.latency = "1ms"
timing.delta = "10ms"
detector.kind = "ping"
clock.drift_ppm = { 2 = 20000 }
event = [{ at = "3s", network = { latency = "10ms" } }]
"#,
        Must::BeAbsent(&["SLE1", "SLE2", "FD-ACCURATE"]),
    ),
    (
        "a link that loses everything was overlooked, and the protocol blamed for what follows",
        r#"
protocol = "lfa"
nodes = 3
until = "60s"
network.link = [{ from = 1, to = 2, loss = 1.0 }]
"#,
        Must::BeAbsent(&["OMEGA", "SINGLE-SENDER"]),
    ),
    (
        "so was one that takes the place of a model's timely link",
        r#"
protocol = "fjr"
nodes = 3
until = "60s"
network.model = { kind = "kcs", source = 2 }
network.link = [{ from = 2, to = 3, loss = 1.0 }]
"#,
        Must::BeAbsent(&["OMEGA", "SINGLE-SENDER"]),
    ),
    (
        "with t down the message pattern is there, but where links are hostile no run is long enough to show it",
        r#"
protocol = "mmrt"
nodes = 3
until = "60s"
network.model = { kind = "t-moving-source" }
event = [{ at = "1s", crash = [1] }]
"#,
        Must::BeAbsent(&["OMEGA"]),
    ),
    (
        "one that restarted alone took its guess at the others' counts for knowledge, and ousted a leader that never failed",
        r#"
protocol = "adft"
nodes = 5
until = "160s"
event = [
    { at = "3s", crash = [1] },
    { at = "4s", recover = [1] },
    { at = "8s", crash = [5] },
    { at = "28s", recover = [5] },
    { at = "40s", partition = [[1, 2, 3, 4], [5]] },
    { at = "40001ms", crash = [5] },
    { at = "40100ms", recover = [5] },
    { at = "41s", heal = true },
]
expect.leader = { 1 = 2, 2 = 2, 3 = 2, 4 = 2, 5 = 2 }
"#,
        Must::Hold(&["OMEGA"]),
    ),
    (
        "a follower that crashed between hearing of a leadership and writing that down led with the same epoch",
        r#"
protocol = "fjr"
agent = true
nodes = 3
until = "20s"
event = [
    { at = "5s", crash = [1] },
    { at = "5s", drop_next = { from = 2, to = 3, kind = "Claim" } },
    { at = "5003ms", crash_before_send = { node = 3, kind = "Follow" } },
    { at = "6s", partition = [[2], [3]] },
    { at = "7s", recover = [3] },
]
expect.leader = { 2 = 2, 3 = 3 }
"#,
        Must::Hold(&["EPOCH"]),
    ),
    (
        "an epoch that a follower had told of was announced when its leader told of it, and never written down",
        r#"
protocol = "lfa"
agent = true
nodes = 3
until = "5s"
timing.delta = "100ms"
event = [
    { at = "100ms", drop_next = { from = 1, to = 2, kind = "Lead" } },
    { at = "250ms", cut_one_way = [[1, 2], [1, 3]] },
    { at = "550ms", heal = true },
    { at = "2s", partition = [[2], [1, 3]] },
    { at = "2100ms", crash = [2] },
    { at = "2200ms", recover = [2] },
]
"#,
        Must::Hold(&["EPOCH"]),
    ),
    (
        "a link that had never been up was taken for one that had been up all the time",
        r#"
protocol = "fb-omega"
nodes = 3
until = "1s"
timing.delta = "6ms"
event = [
    { at = "0s", drop_next = { from = 3, to = 2, kind = "accept_down" } },
    { at = "100ms", pause = [1] },
    { at = "700ms", resume = [1] },
    { at = "710ms", drop_next = { from = 2, to = 1, kind = "LinkBeat" } },
]
"#,
        Must::Hold(&["FAKE-CLEAN"]),
    ),
];

#[test]
fn what_went_wrong_once_does_not_again() {
    for (story, text, must) in RUNS {
        let scenario = parse(text);
        let report = run::run(&scenario);
        assert!(report.passed(&scenario), "{story}: {report:?}");
        let judged = |name: &&&str| report.properties.iter().any(|judged| judged.property.name() == **name);
        match must {
            Must::Hold(names) => assert!(names.iter().all(|name| judged(&name)), "{story}: {report:?}"),
            Must::BeAbsent(names) => assert!(!names.iter().any(|name| judged(&name)), "{story}: {report:?}"),
        }
    }
}

/// Each outage of a follower put off the day on which the leader could be replaced: here by seventeen minutes.
#[test]
fn adft_replaces_its_leader_however_often_the_others_were_down() {
    let outage = |n: u64| {
        let (node, at) = (2 + n % 2, 5 + 7 * n);
        format!("{{ at = \"{at}s\", crash = [{node}] }}, {{ at = \"{}s\", recover = [{node}] }}", at + 5)
    };
    let outages: Vec<_> = (0..40).map(outage).collect();
    let scenario = parse(&format!(
        r#"
protocol = "adft"
nodes = 3
until = "600s"
timing.delta = "10ms"
event = [{}, {{ at = "290s", crash = [1] }}]
expect = {{ leader = {{ 2 = 2, 3 = 2 }}, holds = ["OMEGA"] }}
"#,
        outages.join(", ")
    ));
    let mut last_opinion = 0;
    let listener = |event: &TraceEvent| {
        if matches!(event.what, What::Node(Event::Opinion(_))) {
            last_opinion = event.at.as_micros();
        }
    };
    let report = run::run_with(&scenario, Box::new(listener));
    assert!(report.passed(&scenario), "{report:?}");
    assert!(last_opinion < 295_000_000, "the last change of mind was at {last_opinion} us");
}

/// One that stayed down was charged for the mistakes made about others: each time it took longer to pass it over.
#[test]
fn lfa_passes_over_the_dead_as_quickly_each_time() {
    let crash = |n: u64| {
        let at = 1_000 + 3_000 * n;
        format!("{{ at = \"{at}ms\", crash = [1] }}, {{ at = \"{}ms\", recover = [1] }}", at + 1_500)
    };
    let crashes: Vec<_> = (0..50).map(crash).collect();
    let scenario = parse(&format!(
        r#"
protocol = "lfa"
nodes = 3
until = "160s"
timing.delta = "10ms"
event = [{{ at = "500ms", crash = [2] }}, {}]
"#,
        crashes.join(", ")
    ));
    let (mut crashed, mut took) = (0, Vec::new());
    let listener = |event: &TraceEvent| match event.what {
        What::Crash if event.node == NodeId(1) => crashed = event.at.as_micros(),
        What::Node(Event::Opinion(opinion)) if opinion.leader == Some(NodeId(3)) => {
            took.push(event.at.as_micros() - crashed)
        }
        _ => {}
    };
    run::run_with(&scenario, Box::new(listener));
    assert!(took.len() >= 50 && took.iter().skip(1).all(|time| *time <= took[1]), "{took:?}");
}

/// The oracle's news reached a paused node, which acted on them.
#[test]
fn a_paused_node_does_not_even_hear_the_oracle() {
    let scenario = parse(
        r#"
protocol = "bully-fd"
nodes = 3
until = "5s"
event = [{ at = "1s", pause = [2] }, { at = "2s", crash = [1] }, { at = "2050ms", recover = [1] }]
"#,
    );
    run::run_with(
        &scenario,
        Box::new(|event| {
            assert!(event.node != NodeId(2) || event.at.as_micros() <= 1_000_000, "{event:?}");
        }),
    );
}

/// A node that was paused before it had started, and then crashed, kept its mail for its next incarnation.
#[test]
fn a_crash_before_the_start_loses_what_was_waiting() {
    let scenario = parse(
        r#"
protocol = "async-bully"
nodes = 3
until = "30s"
event = [
    { at = "0s", pause = [2] },
    { at = "1s", crash = [2] },
    { at = "2s", recover = [2] },
    { at = "10s", pause = [2] },
    { at = "10001ms", resume = [2] },
]
"#,
    );
    let report = run::run_with(
        &scenario,
        Box::new(|event| {
            if let What::Recv(_, sent) = event.what {
                assert!(event.at.since(sent).as_micros() < 10_000, "{event:?}");
            }
        }),
    );
    assert!(report.passed(&scenario), "{report:?}");
}

fn parse(text: &str) -> Scenario {
    Scenario::parse("regression.toml", text).unwrap_or_else(|error| panic!("{error}"))
}
