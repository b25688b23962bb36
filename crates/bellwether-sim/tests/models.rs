//! Assumption models in a world: what reaches the trace, what may stand beside a model, and the adversary.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::election::Protocol;
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{DropReason, MsgRef, TraceEvent, What};
use bellwether_sim::report::Report;
use bellwether_sim::run;
use bellwether_sim::scenario::{Model, ModelKind, Scenario};

/// Five nodes that talk all the time, since none can be sure of another.
const HEAD: &str = "protocol = \"async-bully\"\nnodes = 5\nuntil = \"60s\"\n";

#[test]
fn after_gst_every_message_of_a_world_is_timely() {
    for seed in 1..4 {
        let model =
            format!("seed = {seed}\n[network.model]\nkind = \"gst\"\ngst = \"30s\"\ndelta = \"20ms\"\n");
        let late = |received: &Received| received.delay > Span::millis(20);
        let (before, after): (Vec<_>, Vec<_>) =
            received(&play(&model)).into_iter().partition(|received| received.sent < at(30));
        assert!(before.iter().any(late) && after.len() > 100);
        assert!(!after.iter().any(late), "seed {seed}");
    }
}

#[test]
fn a_reliable_model_delivers_everything_and_kcs_does_not() {
    let drops = |model: &str| {
        let trace = play(&format!("[network.model]\n{model}"));
        trace.iter().filter(|event| matches!(event.what, What::Drop(..))).count()
    };
    for kind in ModelKind::ALL.into_iter().filter(|kind| *kind != ModelKind::Kcs) {
        assert_eq!(drops(&format!("kind = \"{}\"", kind.name())), 0, "{}", kind.name());
    }
    assert!(drops("kind = \"kcs\"") > 100);
    assert_eq!(drops("kind = \"kcs\"\nloss = 0"), 0);
}

#[test]
fn a_late_message_of_a_model_is_recorded_as_such() {
    let trace = play("[network.model]\nkind = \"t-source\"\n");
    let announced: BTreeSet<_> = trace.iter().filter_map(late).collect();
    let delta = Span::millis(2);
    let overdue: Vec<_> = received(&trace).into_iter().filter(|received| received.delay > delta).collect();
    assert!(overdue.len() > 100 && overdue.iter().all(|received| announced.contains(&received.msg.id)));
}

#[test]
fn a_link_with_a_rule_of_its_own_follows_that() {
    let rule = "[[network.link]]\nfrom = 2\nto = 1\nlatency = \"3ms\"\n";
    let trace = play(&format!("[network.model]\nkind = \"t-source\"\n{rule}"));
    let between = |from, to| {
        let on_link = received(&trace).into_iter().filter(move |received| received.is_on(from, to));
        on_link.map(|received| received.delay).collect::<Vec<_>>()
    };
    assert!(between(2, 1).len() > 100 && between(2, 1).iter().all(|delay| *delay == Span::millis(3)));
    assert!(between(3, 1).iter().any(|delay| *delay > Span::secs(1)));
}

#[test]
fn a_slowed_link_follows_the_event_until_the_world_heals() {
    let events = "[[event]]\nat = \"20s\"\nslow = { from = 1, to = 2, latency = \"90ms\" }\n\
                  [[event]]\nat = \"40s\"\nheal = true\n";
    let trace = play(&format!("[network.model]\nkind = \"synchronous\"\n{events}"));
    for received in received(&trace).iter().filter(|received| received.is_on(1, 2)) {
        let slow = (at(20)..at(40)).contains(&received.sent);
        assert_eq!(received.delay, Span::millis(if slow { 90 } else { 1 }), "{received:?}");
    }
}

#[test]
fn cuts_losses_and_duplicates_come_on_top_of_a_model() {
    let cut = "[[event]]\nat = \"30s\"\ncut = [[1, 2]]\n";
    let rule = "[network]\nloss = 0.2\nduplicate = 0.5\n";
    let trace = play(&format!("{rule}[network.model]\nkind = \"gst\"\ndelta = \"9ms\"\n{cut}"));
    let (mut sent, mut lost, mut cut) = (0, 0, 0);
    for event in &trace {
        match event.what {
            What::Send(_) => sent += 1,
            What::Drop(_, DropReason::Lost) => lost += 1,
            What::Drop(_, DropReason::Cut) => cut += 1,
            _ => {}
        }
    }
    let mut times = BTreeMap::<u64, u32>::new();
    received(&trace).iter().for_each(|received| *times.entry(received.msg.id).or_default() += 1);
    let twice = times.values().filter(|times| **times == 2).count();
    assert!(
        cut > 10 && !received(&trace).iter().any(|received| received.is_on(1, 2) && received.sent > at(30))
    );
    assert!((0.15..0.25).contains(&(f64::from(lost) / f64::from(sent))), "{lost} of {sent}");
    assert!((0.4..0.6).contains(&(twice as f64 / times.len() as f64)), "{twice} of {}", times.len());
}

#[test]
fn a_model_is_as_deterministic_as_the_rest() {
    for kind in ModelKind::ALL {
        let hash = |seed| {
            let text = format!("{HEAD}seed = {seed}\n[network.model]\nkind = \"{}\"\n", kind.name());
            let scenario = Scenario::parse("x.toml", &text).unwrap_or_else(|error| panic!("{error}"));
            let mut world = run::world(&scenario, None);
            world.run_until(scenario.until);
            (world.journal().hash(), world.canonical().timed())
        };
        assert_eq!(hash(1), hash(1), "{}", kind.name());
        let nothing_to_draw = matches!(kind, ModelKind::Synchronous | ModelKind::Gst | ModelKind::Adversary);
        assert!(nothing_to_draw || hash(1) != hash(2), "{}", kind.name());
    }
}

/// Theorem 1: no leader lasts, and the longer the run, the more there were.
#[test]
fn the_adversary_never_lets_a_leader_last() {
    let changes = |model: Option<Model>| {
        [15, 60, 240].map(|secs| {
            let mut scenario = Scenario::calm(Protocol::AsyncBully, 4, Time::ZERO + Span::secs(secs));
            scenario.network.model = model;
            run::run(&scenario).leader_changes
        })
    };
    let [short, longer, longest] = changes(Some(Model::neutral(ModelKind::Adversary)));
    assert!(short > 0 && longer > 2 * short && longest > 2 * longer, "{short}, {longer}, {longest}");
    let [short, _, longest] = changes(None);
    assert_eq!(short, longest, "left alone, the first leader to be agreed on stays");
}

#[test]
fn the_adversary_delays_but_loses_and_reorders_nothing() {
    let (report, trace) =
        report("[network]\nlatency = [\"1ms\", \"9ms\"]\n[network.model]\nkind = \"adversary\"\n");
    let delta = Span::millis(10);
    let received = received(&trace);
    let held: Vec<_> = received.iter().filter(|received| received.delay > delta).collect();
    assert!(held.len() > 100, "{}", held.len());
    assert_eq!(report.messages.lost, 0);
    let announced: BTreeSet<_> = trace.iter().filter_map(late).collect();
    assert!(held.iter().all(|received| announced.contains(&received.msg.id)));
    let mut last = BTreeMap::new();
    for Received { msg, .. } in &received {
        let before = last.insert((msg.from, msg.to), msg.id);
        assert!(before.is_none_or(|before| before < msg.id), "{msg:?} was overtaken");
    }
}

#[test]
fn the_adversary_lets_go_of_who_crashes() {
    let crash = "[[event]]\nat = \"1s\"\ncrash = [1]\n";
    let trace = play(&format!("[network.model]\nkind = \"adversary\"\n{crash}"));
    let first = received(&trace)
        .into_iter()
        .filter(|received| received.msg.from == NodeId(1) && received.delay > Span::millis(2))
        .map(|received| received.sent + received.delay)
        .collect::<Vec<_>>();
    let released = at(1) + Span::millis(1);
    assert!(!first.is_empty() && first.iter().all(|arrival| *arrival <= released), "{first:?}");
}

/// A message that arrived.
#[derive(Clone, Copy, Debug)]
struct Received {
    msg: MsgRef,
    sent: Time,
    delay: Span,
}

impl Received {
    fn is_on(&self, from: u32, to: u32) -> bool {
        (self.msg.from, self.msg.to) == (NodeId(from), NodeId(to))
    }
}

fn received(trace: &[TraceEvent]) -> Vec<Received> {
    let received = |event: &TraceEvent| match event.what {
        What::Recv(msg, sent) => Some(Received { msg, sent, delay: event.at.since(sent) }),
        _ => None,
    };
    trace.iter().filter_map(received).collect()
}

/// The number of a message of which it is recorded that it will be late.
fn late(event: &TraceEvent) -> Option<u64> {
    match event.what {
        What::Late(msg) => Some(msg.id),
        _ => None,
    }
}

fn play(rest: &str) -> Vec<TraceEvent> {
    report(rest).1
}

fn report(rest: &str) -> (Report, Vec<TraceEvent>) {
    let scenario =
        Scenario::parse("x.toml", &format!("{HEAD}{rest}")).unwrap_or_else(|error| panic!("{error}\n{rest}"));
    let mut trace = Vec::new();
    let report = run::run_with(&scenario, Box::new(|event| trace.push(*event)));
    (report, trace)
}

fn at(secs: u64) -> Time {
    Time::ZERO + Span::secs(secs)
}
