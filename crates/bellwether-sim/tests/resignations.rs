//! How long simulated agents are without a leader when theirs resigns: a few message delays and a write, not a timeout.

use bellwether_proto::cause::Cause;
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::leadership::Announcement;
use bellwether_proto::time::Span;
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_sim::run;
use bellwether_sim::scenario::Scenario;

const NODES: u32 = 5;
/// When somebody goes who comes back, in ms.
const FIRST: u64 = 3_000;
/// Less than a period, so nobody has waited for a heartbeat; far less than a timeout, which is 250 ms.
const SOON: Span = Span::millis(25);

/// After what befalls a member, the leader resigns.
fn play(befalls: &str, resigns: u64, disk_ms: u64) -> (String, Vec<TraceEvent>) {
    let mut text = format!(
        "protocol = \"fjr\"\nagent = true\nnodes = {NODES}\nuntil = \"5s\"\nseed = {resigns}\n[network]\n\
         latency = [\"50us\", \"500us\"]\n[timing]\ndelta = \"100ms\"\ntau = \"50ms\"\n[disk]\nlatency = \"{disk_ms}ms\"\n\
         {befalls}"
    );
    // Whoever does not lead refuses.
    for node in 1..=NODES {
        text +=
            &format!("[[event]]\nat = \"{resigns}ms\"\nresign_for = {{ node = {node}, hold = \"1s\" }}\n");
    }
    let scenario = Scenario::parse("test.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (text, run::trace(&scenario))
}

/// How long it took from the last time that a leader resigned until every other member announced the next.
fn without_leader(trace: &[TraceEvent]) -> Option<Span> {
    let announced = |event: &TraceEvent| match event.what {
        What::Node(Event::Announced(announced)) => Some((event.at, event.node, announced)),
        _ => None,
    };
    let announced: Vec<_> = trace.iter().filter_map(announced).collect();
    let resigned = announced
        .iter()
        .rposition(|(_, node, it)| it.leader.is_none() && it.cause == Cause::Resigned(*node))?;
    let (at, resigner, _) = announced[resigned];
    let is_led = |it: &Announcement| it.leader.is_some_and(|leader| leader != resigner);
    let led_at =
        |id| announced[resigned..].iter().find(|(_, node, it)| *node == id && is_led(it)).map(|(at, ..)| *at);
    let others = (1..=NODES).map(NodeId).filter(|id| *id != resigner);
    others.map(led_at).try_fold(at, |last, led_at| Some(last.max(led_at?))).map(|last| last.since(at))
}

/// A member is away for so many ms, as told. It comes back at any moment of a period, and the leader resigns soon after, with disks
/// of several speeds.
fn assert_soon(befalls: impl Fn(u64) -> String) {
    for (disk_ms, away) in
        [0, 1, 4].into_iter().flat_map(|disk| (100..150).step_by(7).map(move |away| (disk, away)))
    {
        for after in (2..100).step_by(5) {
            let (text, trace) = play(&befalls(away), FIRST + away + after, disk_ms);
            let took = without_leader(&trace);
            assert!(took.is_some_and(|took| took < SOON), "{took:?}, `bellwether sim` of:\n{text}");
        }
    }
}

/// It has been suspected least, but contends only when it has heard the leader.
#[test]
fn whoever_resigned_and_is_back_is_not_chosen_before_it_follows() {
    assert_soon(|away| {
        format!("[[event]]\nat = \"{FIRST}ms\"\nresign_for = {{ node = 1, hold = \"{away}ms\" }}\n")
    });
}

#[test]
fn whoever_was_restarted_is_not_chosen_before_it_follows() {
    assert_soon(|away| {
        let back = FIRST + away;
        format!("[[event]]\nat = \"{FIRST}ms\"\ncrash = [2]\n[[event]]\nat = \"{back}ms\"\nrecover = [2]\n")
    });
}
