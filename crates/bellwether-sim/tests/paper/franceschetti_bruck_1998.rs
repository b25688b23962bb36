//! M. Franceschetti and J. Bruck, *A Leader Election Protocol for Fault Recovery in Asynchronous Fully-Connected Networks*, 1998: claims
//! C58 to C70.
//!
//! The ledger is `docs/papers/franceschetti-bruck-1998.md`. What is about links that a test turns up and down at will is tested
//! beside the code, in `bellwether-proto`; here the same rules run over links that have to find out for themselves.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::election::{Primary, Protocol, Timing, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::link::consistent::{Pace, SKEW};
use bellwether_proto::members::Members;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_sim::plan;
use bellwether_sim::run;
use bellwether_sim::scenario::{Fault, Planned, Scenario};

// Section 3.1.

/// "Exactly one node among the candidates is elected, and all nodes know the identity of this node", for
/// 2k(n - 1) - k(k - 1)/2 + n - 1 messages.
#[test]
fn c58_the_lightest_candidate_leads_at_the_cost_of_the_formula() {
    for n in [4, 8, 16, 32] {
        for k in [1, 2, n / 2, n] {
            // Spread over the nodes, the first at a place of its own.
            let candidates: Vec<NodeId> = (0..k).map(|at| NodeId(n - at * (n / k))).collect();
            let mut scenario = Scenario::calm(Protocol::Gamma, n, secs(1));
            scenario.parameters.candidates = Some(candidates.clone());
            let trace = run::trace(&scenario);
            let lightest = candidates.iter().min().copied();
            assert!(
                last_opinions(&trace).values().all(|opinion| opinion.normal_leader() == lightest),
                "{k} of {n}"
            );
            let (k, n) = (u64::from(k), u64::from(n));
            assert_eq!(sent(&trace).values().sum::<u64>(), 2 * k * (n - 1) - k * (k - 1) / 2 + n - 1);
        }
    }
}

// Section 3.2.

/// Theorem 3.1, counts corrected: k nodes fail, the lightest of the others leads them, for k(n - k - 1) cand, as many accept and n - k - 1
/// view.
#[test]
fn c60_after_k_failures_the_lightest_leads_at_the_cost_of_the_corrected_formula() {
    for n in [4_u32, 8, 16, 32] {
        for k in [1, n / 2 - 1] {
            let mut scenario = Scenario::calm(Protocol::Phi, n, secs(6));
            scenario.events.push(at(3_000, Fault::Crash((1..=k).map(NodeId).collect())));
            let trace = run::trace(&scenario);
            let opinions = last_opinions(&trace);
            let left: Vec<_> = (k + 1..=n).map(|id| opinions[&NodeId(id)].normal_leader()).collect();
            assert!(left.iter().all(|leader| *leader == Some(NodeId(k + 1))), "{k} of {n}: {left:?}");
            let counts = sent(&trace);
            let count = |kind| counts.get(kind).copied().unwrap_or(0);
            let expected = u64::from(k * (n - k - 1));
            assert_eq!((count("cand_down"), count("accept_down")), (expected, expected), "{k} of {n}");
            assert_eq!(count("view"), u64::from(n - k - 1), "{k} of {n}");
        }
    }
}

/// "Only if … all processes suspect all others to have failed, our algorithm blocks."
#[test]
fn c60_who_has_lost_all_others_is_dead() {
    for protocol in [Protocol::Phi, Protocol::Psi, Protocol::FbOmega] {
        let mut scenario = Scenario::calm(protocol, 4, secs(20));
        scenario.events.push(at(3_000, Fault::Crash(vec![NodeId(1), NodeId(2), NodeId(4)])));
        let opinions = last_opinions(&run::trace(&scenario));
        assert_eq!(opinions[&NodeId(3)].status, Status::Dead, "{}", protocol.name());
    }
}

// Section 2.

/// "Every time processor 1 is unable to communicate with processor 2 … processor 2 will eventually be unable to communicate with processor
/// 1": over networks that lose, repeat and reorder, with cuts in one direction, pauses, and restarts of any speed.
#[test]
fn c61_both_ends_of_a_link_see_the_same_history() {
    let (mut turns, mut restarts, mut flaps) = (0, 0, 0);
    for seed in 1..=150 {
        let plan = plan::draw(Protocol::FbOmega, Variant::Repaired, seed);
        let mut seen: BTreeMap<(NodeId, u64, NodeId, u64), u64> = BTreeMap::new();
        for event in run::trace(&plan) {
            let What::Node(Event::Link(turn)) = event.what else { continue };
            let here = (event.node, event.incarnation.0, turn.peer, turn.incarnation.0);
            let there = (turn.peer, turn.incarnation.0, event.node, event.incarnation.0);
            let before = seen.insert(here, turn.seen).unwrap_or(0);
            assert_eq!(turn.seen, before + 1, "seed {seed}: {event:?}");
            assert!(turn.seen <= seen.get(&there).unwrap_or(&0) + SKEW, "seed {seed}: {event:?}");
            turns += 1;
            restarts += u64::from(turn.incarnation.0 > 1 && turn.seen == 1);
            flaps += u64::from(turn.seen > 2);
        }
    }
    assert!(turns > 10_000 && restarts > 500 && flaps > 2_000, "{turns} {restarts} {flaps}");
}

// Section 3.3.

/// Theorem 3.2, counts corrected: (k + q)(m - k + q - 1) for k failures and q repairs that everybody learns of at once.
#[test]
fn c62_failures_and_repairs_cost_what_the_corrected_formula_says() {
    for (n, q) in [(5_u32, 1_u32), (8, 2), (16, 3)] {
        let back: Vec<NodeId> = (n - q + 1..=n).map(NodeId).collect();
        for protocol in [Protocol::Psi, Protocol::FbOmega] {
            let mut scenario = Scenario::calm(protocol, n, secs(10));
            scenario.events.push(at(0, Fault::Crash(back.clone())));
            scenario.events.push(at(5_000, Fault::Recover(back.clone())));
            let trace = run::trace(&scenario);
            assert!(last_opinions(&trace).values().all(|opinion| opinion.normal_leader() == Some(NodeId(1))));
            let counts = sent(&trace);
            let count = |kind| counts.get(kind).copied().unwrap_or(0);
            let m = n - q;
            let expected = u64::from(q * (m + q - 1));
            assert_eq!((count("cand_up"), count("accept_up")), (expected, expected), "{q} of {n}");
            assert_eq!(count("view"), u64::from((m - 1) + (m + q - 1)), "{q} of {n}");
        }
    }
}

// Section 3.4.

/// Theorem 3.3: of five nodes, every set of links but those that isolate somebody or split the network fails for a while: no view, and
/// nothing is remembered, unless all whom somebody can still reach agree that it is gone.
#[test]
fn c64_failures_that_only_some_perceive_leave_no_trace() {
    let links: Vec<(u32, u32)> = (1..=4).flat_map(|a| (a + 1..=4).map(move |b| (a, b))).collect();
    let mut judged = 0;
    for set in 1..1_u32 << links.len() {
        let cut: Vec<_> = (0..links.len()).filter(|at| set >> at & 1 == 1).map(|at| links[at]).collect();
        if !is_perceived_by_some_only(4, &cut) {
            continue;
        }
        let mut scenario = Scenario::calm(Protocol::FbOmega, 4, secs(12));
        let cut: Vec<_> = cut.into_iter().map(|(a, b)| (NodeId(a), NodeId(b))).collect();
        scenario.events.extend([at(3_000, Fault::Cut(cut.clone())), at(5_000, Fault::Heal)]);
        let trace = run::trace(&scenario);
        assert_eq!(sent(&trace).get("view"), None, "{cut:?}");
        let mut pending: BTreeSet<NodeId> = BTreeSet::new();
        for event in &trace {
            match event.what {
                What::Node(Event::Pending(true)) => drop(pending.insert(event.node)),
                What::Node(Event::Pending(false)) => drop(pending.remove(&event.node)),
                _ => {}
            }
        }
        assert!(pending.is_empty(), "{cut:?}: {pending:?} remember something");
        judged += 1;
    }
    assert!(judged >= 20, "{judged}");
}

/// Nobody is isolated, and no clique is cut off from all others: somebody always sees both sides.
fn is_perceived_by_some_only(nodes: u32, cut: &[(u32, u32)]) -> bool {
    let linked = |a: u32, b: u32| !cut.contains(&(a.min(b), a.max(b)));
    // No set of nodes that are all linked with each other misses all the others.
    (1..(1_u32 << nodes) - 1).all(|set| {
        let is_in = |id: u32| set >> (id - 1) & 1 == 1;
        let inside: Vec<u32> = (1..=nodes).filter(|id| is_in(*id)).collect();
        let outside: Vec<u32> = (1..=nodes).filter(|id| !is_in(*id)).collect();
        let clique = inside.iter().all(|a| inside.iter().all(|b| a == b || linked(*a, *b)));
        let apart = inside.iter().all(|a| outside.iter().all(|b| !linked(*a, *b)));
        !(clique && apart)
    })
}

/// The scenario of the introduction, at many moments: 2 leads, or 1 if it was admitted before 5 came back.
#[test]
fn c65_the_scenario_of_the_introduction_has_three_outcomes() {
    let mut outcomes: BTreeSet<Vec<(u32, usize)>> = BTreeSet::new();
    for offset in 0..60 {
        let mut scenario = Scenario::calm(Protocol::FbOmega, 5, secs(25));
        scenario.seed = offset + 1;
        let (back_1, back_5) = (10_000 + 37 * (offset % 9), 10_000 + 41 * (offset / 9));
        scenario.events.extend([
            at(3_000, Fault::Cut(links_of(5, 5))),
            at(6_000, Fault::Cut(links_of(1, 5))),
            at(back_1, Fault::Mend((2..=4).map(|peer| (NodeId(1), NodeId(peer))).collect())),
            at(back_5, Fault::Mend((2..=4).map(|peer| (NodeId(5), NodeId(peer))).collect())),
            at(back_1.max(back_5), Fault::Heal),
        ]);
        let trace = run::trace(&scenario);
        let views = views_installed(&trace);
        assert_eq!(views[..3], [(1, 5), (1, 4), (2, 3)], "{offset}: {views:?}");
        let all: BTreeSet<_> =
            last_opinions(&trace).values().map(|opinion| opinion.normal_leader()).collect();
        assert_eq!(all.len(), 1, "{offset}: {views:?}");
        assert!(all.first().is_some_and(|leader| leader.is_some()));
        outcomes.insert(views[3..].to_vec());
    }
    let expected = [vec![(2, 4), (1, 5)], vec![(2, 5)], vec![(2, 4), (2, 5)]];
    assert!(outcomes.iter().all(|outcome| expected.contains(outcome)), "{outcomes:?}");
    assert!(outcomes.len() >= 2, "{outcomes:?}");
}

/// "Since they are dead processes, they do not react to any change in connectivity that occurs in their local views." Of those who died
/// with their last link, or come back from a crash: what others said before may still be sent again. That somebody is alive again is
/// known when it has been so for longer than a link is silent.
#[test]
fn c66_a_dead_node_proposes_nothing_while_others_are_alive() {
    let mut answers = 0;
    for seed in 1..=60 {
        let plan = plan::draw(Protocol::FbOmega, Variant::Repaired, seed);
        let mut dead: BTreeSet<NodeId> = BTreeSet::new();
        let (mut alive, mut links) = (BTreeMap::new(), BTreeSet::new());
        let known_after = Pace::of(plan.timing).patience;
        for event in run::trace(&plan) {
            match event.what {
                What::Node(Event::Link(turn)) if turn.is_up() => drop(links.insert((event.node, turn.peer))),
                What::Node(Event::Link(turn)) => drop(links.remove(&(event.node, turn.peer))),
                What::Node(Event::Opinion(opinion)) if opinion.status == Status::Dead => {
                    if !links.iter().any(|(node, _)| *node == event.node) {
                        dead.insert(event.node);
                    }
                    alive.remove(&event.node);
                }
                What::Node(Event::Opinion(_)) => {
                    dead.remove(&event.node);
                    alive.entry(event.node).or_insert(event.at);
                }
                What::Crash => {
                    dead.remove(&event.node);
                    alive.remove(&event.node);
                    links.retain(|(node, _)| *node != event.node);
                }
                What::Send(msg) if dead.contains(&event.node) && msg.kind.name().starts_with("accept") => {
                    answers += 1;
                }
                What::Send(msg) if dead.contains(&event.node) && msg.kind.name().starts_with("cand") => {
                    // They form a view of their own only where more than half are linked and dead.
                    let known = alive.values().filter(|since| event.at.since(**since) > known_after);
                    assert!(
                        known.count() * 2 < plan.nodes as usize,
                        "seed {seed}: {event:?}, {alive:?} are alive"
                    );
                }
                _ => {}
            }
        }
    }
    assert!(answers > 50, "{answers}");
}

/// "An infinite sequence of link failures and recoveries may have the protocol run forever, but single or multiple processes crashes cannot
/// force it to halt": while a link flaps nobody is elected; others are, once the rest is a clique.
#[test]
fn c67_a_link_that_flaps_for_ever_halts_nobody() {
    let mut scenario = Scenario::calm(Protocol::FbOmega, 5, secs(60));
    for n in 0..50 {
        scenario.events.push(at(3_000 + n * 1_000, Fault::Cut(vec![(NodeId(1), NodeId(2))])));
        scenario.events.push(at(3_500 + n * 1_000, Fault::Mend(vec![(NodeId(1), NodeId(2))])));
    }
    scenario.events.push(at(20_000, Fault::Crash(vec![NodeId(5)])));
    let trace = run::trace(&scenario);
    let turns = trace.iter().filter(|event| matches!(event.what, What::Node(Event::Link(_)))).count();
    assert!(turns > 150, "{turns}");
    let opinions = last_opinions(&trace);
    assert!((1..=4).all(|id| opinions[&NodeId(id)].normal_leader() == Some(NodeId(1))), "{opinions:?}");
    assert_eq!(
        views_installed(&trace).last(),
        Some(&(1, 4)),
        "the crash was agreed on, between two failures of the link"
    );
}

/// "In the case of a partition the algorithm splits and elects a leader for each subset of connected processes", or the majority's.
#[test]
fn c68_a_partition_has_a_leader_for_each_clique_or_for_the_majority() {
    for (nodes, left) in [(4_u32, 2_u32), (5, 2), (6, 3), (7, 3)] {
        for primary in Primary::ALL {
            let parts =
                [(1..=left).map(NodeId).collect::<Vec<_>>(), (left + 1..=nodes).map(NodeId).collect()];
            let mut scenario = Scenario::calm(Protocol::FbOmega, nodes, secs(10));
            scenario.parameters.primary = Some(primary);
            scenario.events.push(at(3_000, Fault::Partition(parts.to_vec())));
            let opinions = last_opinions(&run::trace(&scenario));
            for part in &parts {
                let leads = primary == Primary::Any || part.len() * 2 > nodes as usize;
                let expected = leads.then_some(part[0]);
                for id in part {
                    assert_eq!(opinions[id].normal_leader(), expected, "{nodes} {primary:?}: {id}");
                }
            }
        }
    }
}

/// "At each instant of time every process is either part of a logical completely connected component or is in a dead state."
#[test]
fn c70_a_node_is_in_the_view_that_it_installed_or_dead() {
    let mut instants = 0;
    for seed in 1..=60 {
        let mut installed: BTreeMap<NodeId, Opinion> = BTreeMap::new();
        for event in run::trace(&plan::draw(Protocol::FbOmega, Variant::Repaired, seed)) {
            match event.what {
                What::Node(Event::Opinion(opinion)) => {
                    assert_eq!(
                        opinion.group.is_none(),
                        opinion.status == Status::Dead,
                        "seed {seed}: {event:?}"
                    );
                    installed.insert(event.node, opinion);
                    instants += 1;
                }
                What::Node(Event::ViewInstalled(members)) => {
                    assert!(members.contains(event.node.0 as usize - 1), "seed {seed}: {event:?}");
                    assert!(installed[&event.node].group.is_some());
                }
                _ => {}
            }
        }
    }
    assert!(instants > 1_000, "{instants}");
}

/// Once the network is a clique again and stays so, all are in one view within three times what links take to settle.
#[test]
fn c67_convergence_takes_no_longer_than_stated() {
    let mut slowest = 0.0_f64;
    for seed in 1..=150 {
        let mut plan = plan::draw(Protocol::FbOmega, Variant::Repaired, seed);
        let everybody: Vec<NodeId> = plan.ids().collect();
        // What a slow link still carries would come after.
        plan.events.retain(|planned| !matches!(planned.fault, Fault::Slow { .. }));
        // Whatever the plan leaves behind is mended for good.
        let rage = plan.events.iter().map(|planned| planned.at).max().expect("plans have events");
        let quiet = Fault::Network { latency: None, loss: Some(0.0), duplicate: Some(0.0), fifo: None };
        for fault in [Fault::Heal, quiet, Fault::Resume(everybody.clone()), Fault::Recover(everybody)] {
            plan.events.push(Planned { at: rage, fault });
        }
        let bound = Pace::of(plan.timing).settles() * 3;
        plan.until = rage + bound * 3;
        let trace = run::trace(&plan);
        let settled = settled_at(&trace, plan.nodes);
        let took = settled.map(|at| at.since(rage)).expect("all are in one view in the end");
        assert!(took <= bound, "seed {seed}: {took}, where {bound} are allowed");
        slowest = slowest.max(took.as_micros() as f64 / bound.as_micros() as f64);
    }
    assert!(slowest > 0.2, "the bound is not idle: {slowest}");
}

/// When all nodes came to be normal in one view, to stay so.
fn settled_at(trace: &[TraceEvent], nodes: u32) -> Option<Time> {
    let mut opinions: BTreeMap<NodeId, Opinion> = BTreeMap::new();
    let mut since = None;
    for event in trace {
        match event.what {
            What::Node(Event::Opinion(opinion)) => drop(opinions.insert(event.node, opinion)),
            What::Crash => drop(opinions.remove(&event.node)),
            _ => continue,
        }
        let groups: BTreeSet<_> =
            opinions.values().map(|opinion| (opinion.group, opinion.normal_leader())).collect();
        let one = opinions.len() == nodes as usize && groups.len() == 1;
        let agreed = one && groups.first().is_some_and(|(_, leader)| leader.is_some());
        since = if agreed { since.or(Some(event.at)) } else { None };
    }
    since
}

/// What the timing of links follows from.
#[test]
fn c61_the_pace_of_links_follows_from_delta_and_tau() {
    let timing = Timing { delta: Span::millis(5), tau: Span::millis(100), step: Span::millis(5) };
    let pace = Pace::of(timing);
    assert_eq!((pace.period, pace.patience), (Span::millis(50), Span::millis(320)));
    assert_eq!((pace.again, pace.settles()), (Span::millis(110), Span::millis(640)));
}

// Helpers.

fn secs(secs: u64) -> Time {
    Time::ZERO + Span::secs(secs)
}

fn at(millis: u64, fault: Fault) -> Planned {
    Planned { at: Time::ZERO + Span::millis(millis), fault }
}

fn links_of(node: u32, nodes: u32) -> Vec<(NodeId, NodeId)> {
    (1..=nodes).filter(|peer| *peer != node).map(|peer| (NodeId(node), NodeId(peer))).collect()
}

/// What each node showed last; not of nodes that crashed.
fn last_opinions(trace: &[TraceEvent]) -> BTreeMap<NodeId, Opinion> {
    let mut opinions = BTreeMap::new();
    for event in trace {
        match event.what {
            What::Node(Event::Opinion(opinion)) => drop(opinions.insert(event.node, opinion)),
            What::Crash => drop(opinions.remove(&event.node)),
            _ => {}
        }
    }
    opinions
}

/// How many messages of each kind were sent; beats are not of the protocol.
fn sent(trace: &[TraceEvent]) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for event in trace {
        if let What::Send(msg) = event.what
            && msg.kind.name() != "LinkBeat"
        {
            *counts.entry(msg.kind.name()).or_default() += 1;
        }
    }
    counts
}

/// Who formed each view, in order, and how many members it has.
fn views_installed(trace: &[TraceEvent]) -> Vec<(u32, usize)> {
    let (mut views, mut shown) = (Vec::new(), BTreeMap::new());
    for event in trace {
        match event.what {
            What::Node(Event::Opinion(opinion)) => drop(shown.insert(event.node, opinion)),
            What::Node(Event::ViewInstalled(members)) => {
                let leads = shown.get(&event.node).and_then(|opinion: &Opinion| opinion.group);
                if leads.is_some_and(|group| group.0.node == event.node) {
                    views.push((event.node.0, Members::count(members)));
                }
            }
            _ => {}
        }
    }
    views
}
