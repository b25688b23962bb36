//! Runs in assumption models, and what can be read from them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::election::{AnyMsg, Protocol, Variant, adft, fjr};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::link::consistent::Carried;
use bellwether_proto::message::{Body, Letter, Message};
use bellwether_proto::opinion::Opinion;
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_sim::report::Report;
use bellwether_sim::run;
use bellwether_sim::scenario::{Fault, Latency, Model, ModelKind, Planned, Scenario};

/// Links, where they are timely.
pub(crate) const LATENCY: Latency = Latency { low: Span::micros(500), high: Span::millis(5) };

/// The time at which promises begin.
pub(crate) const GST: Span = Span::secs(20);

pub(crate) fn secs(secs: u64) -> Time {
    Time::ZERO + Span::secs(secs)
}

pub(crate) fn event(at_millis: u64, fault: Fault) -> Planned {
    Planned { at: Time::ZERO + Span::millis(at_millis), fault }
}

/// Every case in both variants.
pub(crate) fn both_variants<T: Copy>(
    cases: impl IntoIterator<Item = T>,
) -> impl Iterator<Item = (Variant, T)> {
    cases.into_iter().flat_map(|case| Variant::ALL.map(|variant| (variant, case)))
}

/// A run in a model. Its source is node 3, or the last if there are fewer: not the strongest, which would be too easy.
pub(crate) fn in_model(protocol: Protocol, nodes: u32, kind: ModelKind) -> Scenario {
    let mut scenario = Scenario::calm(protocol, nodes, secs(200));
    scenario.network.base.latency = LATENCY;
    scenario.timing.delta = LATENCY.high + Span::millis(1);
    scenario.timing.step = scenario.timing.delta;
    let (source, t, gst) = (NodeId(nodes.min(3)), scenario.t(), Time::ZERO + GST);
    let model = Model { kind, source, t, gst, delta: LATENCY.high, loss: 0.5 }.as_read();
    scenario.network.model = Some(model);
    scenario
}

/// ADFT with t timely links.
pub(crate) fn t_source(nodes: u32, t: u32) -> Scenario {
    let mut scenario = in_model(Protocol::Adft, nodes, ModelKind::TSource);
    tolerate(&mut scenario, t);
    scenario
}

pub(crate) fn model(scenario: &mut Scenario) -> &mut Model {
    scenario.network.model.as_mut().expect("it is in a model")
}

/// The t of the protocol and of the model.
pub(crate) fn tolerate(scenario: &mut Scenario, t: u32) {
    scenario.parameters.t = Some(t);
    model(scenario).t = t;
}

/// These crash for good, four seconds apart from second 10 on: some before promises begin, some after.
pub(crate) fn crash_apart(scenario: &mut Scenario, nodes: &[u32]) {
    let crashes = nodes
        .iter()
        .zip(0..)
        .map(|(node, place)| event(10_000 + 4_000 * place, Fault::Crash(vec![NodeId(*node)])));
    scenario.events.extend(crashes);
}

/// Plays a run and has OMEGA judged, promised or not.
pub(crate) fn play(scenario: &Scenario) -> Report {
    play_with(scenario, |_| {})
}

pub(crate) fn play_with(scenario: &Scenario, listener: impl FnMut(&TraceEvent)) -> Report {
    let mut scenario = scenario.clone();
    scenario.expect.holds = vec![Property::Omega];
    run::run_with(&scenario, Box::new(listener))
}

pub(crate) fn holds(report: &Report, property: Property) -> bool {
    let judged = report.properties.iter().find(|judged| judged.property == property);
    judged.unwrap_or_else(|| panic!("{property} had nothing to judge")).holds
}

/// Whom those that are up name at the end.
pub(crate) fn named(report: &Report) -> BTreeSet<Option<u32>> {
    report.last.iter().filter(|node| node.up).map(|node| node.leader).collect()
}

/// What every node showed of itself, in order.
pub(crate) fn opinions(scenario: &Scenario) -> Vec<(NodeId, Opinion)> {
    let mut opinions = Vec::new();
    drop(play_with(scenario, |event| {
        if let What::Node(Event::Opinion(opinion)) = event.what {
            opinions.push((event.node, opinion));
        }
    }));
    opinions
}

/// When messages were sent, and by whom, from then on.
pub(crate) fn sends_after(scenario: &Scenario, from: Time) -> Vec<(Time, NodeId)> {
    let mut sends = Vec::new();
    drop(play_with(scenario, |event| {
        if matches!(event.what, What::Send(_)) && event.at >= from {
            sends.push((event.at, event.node));
        }
    }));
    sends
}

/// How many messages were sent in each period between the two.
pub(crate) fn by_window(sends: &[(Time, NodeId)], from: Time, to: Time, period: Span) -> Vec<u64> {
    let windows = to.since(from).as_micros() / period.as_micros();
    let mut counts = vec![0; windows as usize];
    for (at, _) in sends {
        let window = at.since(from).as_micros() / period.as_micros();
        counts.get_mut(window as usize).into_iter().for_each(|count| *count += 1);
    }
    counts
}

/// To whom all links of the source are timely, once promises hold.
pub(crate) fn timely_receivers(scenario: &Scenario) -> Vec<u32> {
    let Model { source, delta, gst, .. } = scenario.network.model.expect("it is in a model");
    let mut slowest: BTreeMap<u32, Span> = BTreeMap::new();
    drop(play_with(scenario, |event| {
        if let What::Recv(msg, sent) = event.what
            && msg.from == source
            && sent >= gst
        {
            let slowest = slowest.entry(msg.to.0).or_default();
            *slowest = event.at.since(sent).max(*slowest);
        }
    }));
    slowest.into_iter().filter(|(_, slowest)| *slowest <= delta).map(|(to, _)| to).collect()
}

/// A run whose messages can be read.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    pub(crate) events: Vec<TraceEvent>,
    /// What the election said, by the number of the message less one.
    pub(crate) said: Vec<Option<AnyMsg>>,
}

pub(crate) fn transcript(scenario: &Scenario) -> Transcript {
    let (events, said) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let mut world = run::world(scenario, Some(Box::new(|event| events.borrow_mut().push(*event))));
    world.set_relay(|frame| {
        said.borrow_mut().push(match &frame.body {
            Body::Election(msg) => Some(msg.clone()),
            Body::Join(joining) => Some(joining.msg.clone()),
            Body::Consistent(msg) => match &msg.carries {
                Some(Carried { msg: Letter::Election(msg), .. }) => Some(msg.clone()),
                _ => None,
            },
            Body::Link(_) | Body::Detector(_) | Body::Group(_) | Body::Leadership(_) | Body::Exclusive(_) => {
                None
            }
        });
        frame
    });
    world.run_until(scenario.until);
    drop(world);
    Transcript { events: events.into_inner(), said: said.into_inner() }
}

/// None for a message of another layer.
pub(crate) fn fjr_message(said: &[Option<AnyMsg>], id: u64) -> Option<fjr::Msg> {
    match &said[id as usize - 1] {
        Some(AnyMsg::Fjr(msg)) => Some(*msg),
        _ => None,
    }
}

/// Whom a message suspects.
pub(crate) fn suspects(msg: Option<fjr::Msg>) -> Option<NodeId> {
    match msg {
        Some(fjr::Msg::Suspicion { silent, .. }) => Some(silent),
        _ => None,
    }
}

/// The largest number that any message carried.
pub(crate) fn largest_counter(scenario: &Scenario) -> u64 {
    let mut largest = 0;
    let mut world = run::world(scenario, None);
    world.set_relay(|frame| {
        if let Body::Election(msg) = &frame.body {
            largest = msg.largest_counter().max(largest);
        }
        frame
    });
    world.run_until(scenario.until);
    drop(world);
    largest
}

/// The largest count of each process that any ALIVE carried until then.
pub(crate) fn largest_counts(scenario: &Scenario, until: Time) -> Vec<u64> {
    let largest = RefCell::new(vec![0; scenario.nodes as usize]);
    let mut world = run::world(scenario, None);
    world.set_relay(|frame| {
        if let Body::Election(AnyMsg::Adft(adft::Msg::Alive(counts))) = &frame.body {
            let mut largest = largest.borrow_mut();
            largest
                .iter_mut()
                .zip(counts.iter())
                .for_each(|(largest, count)| *largest = count.count.max(*largest));
        }
        frame
    });
    world.run_until(until);
    drop(world);
    largest.into_inner()
}
