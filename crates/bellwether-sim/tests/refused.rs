//! Simulated agents that their peers refuse, and agents that have met too few peers to lead.

use bellwether_proto::election::Protocol;
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_sim::run;
use bellwether_sim::scenario::Scenario;

/// Every algorithm that an agent runs, for which one survivor is enough.
fn of_survivors() -> impl Iterator<Item = Protocol> {
    let fits = |protocol: &Protocol| protocol.spec().runs_in_agent() && protocol.spec().mode.needs(3) == 1;
    Protocol::ALL.into_iter().filter(fits)
}

/// Three agents to which that happens.
fn play(protocol: Protocol, min_peers: u32, events: &str) -> Vec<TraceEvent> {
    let text = format!(
        "protocol = \"{}\"\nagent = true\nnodes = 3\nuntil = \"60s\"\nmin_peers = {min_peers}\n[timing]\ndelta = \"100ms\"\n\
         tau = \"50ms\"\n{events}",
        protocol.name()
    );
    let scenario = Scenario::parse("test.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run::trace(&scenario)
}

/// When that node began to lead, and when it ceased, in seconds. Algorithms differ in who leads at first.
fn led(trace: &[TraceEvent], node: u32) -> Vec<(u64, bool)> {
    let (node, mut leads, mut found) = (NodeId(node), false, Vec::new());
    for event in trace.iter().filter(|event| event.node == node) {
        let now = match event.what {
            What::Node(Event::Announced(announced)) => announced.leader == Some(node),
            What::Crash => false,
            _ => continue,
        };
        if now != leads {
            found.push((event.at.since(Time::ZERO).as_micros() / Span::secs(1).as_micros(), now));
            leads = now;
        }
    }
    found
}

const THREE_IS_REFUSED: &str = "[[event]]\nat = \"5s\"\ncrash = [3]\n[[event]]\nat = \"6s\"\nrefuse = [[1, 3], [2, 3]]\n\
                                [[event]]\nat = \"10s\"\nrecover = [3]\n";

/// Else it would lead itself from 10 s on: nothing passes between it and the others.
#[test]
fn who_comes_back_and_is_refused_does_not_lead() {
    for protocol in of_survivors() {
        let trace = play(protocol, 0, THREE_IS_REFUSED);
        assert!(led(&trace, 3).iter().all(|(at, _)| *at <= 5), "{}", protocol.name());
    }
}

#[test]
fn who_is_cut_off_without_an_answer_leads_itself() {
    for protocol in of_survivors() {
        let silence = THREE_IS_REFUSED.replace("refuse =", "cut =");
        let led = led(&play(protocol, 0, &silence), 3);
        assert!(matches!(led[..], [.., (10.., true)]), "{}: {led:?}", protocol.name());
    }
}

#[test]
fn a_leader_that_all_refuse_ceases_to_lead_until_one_accepts_it() {
    let events = "[[event]]\nat = \"5s\"\ncrash = [2, 3]\n[[event]]\nat = \"10s\"\nrefuse = [[2, 1], [3, 1]]\n\
                  [[event]]\nat = \"11s\"\nrecover = [2]\n[[event]]\nat = \"30s\"\naccept = [[2, 1]]\n";
    for protocol in of_survivors() {
        let (trace, name) = (play(protocol, 0, events), protocol.name());
        let one = led(&trace, 1);
        let ceased = one.iter().position(|change| *change == (10, false));
        let ceased = ceased.unwrap_or_else(|| panic!("{name}: {one:?}"));
        assert!(one[ceased + 1..].iter().all(|(at, _)| *at >= 30), "{name}: {one:?}");
        let two = led(&trace, 2);
        assert!(
            matches!(two[..], [.., (11..30, true)] | [.., (11..30, true), (30.., false)]),
            "{name}: {two:?}"
        );
    }
}

#[test]
fn one_that_accepts_is_enough() {
    let events = "[[event]]\nat = \"5s\"\nrefuse = [[3, 1]]\n";
    let trace = play(Protocol::Fjr, 0, events);
    assert_eq!(led(&trace, 1), [(0, true)], "node 2 is connected with it");
}

#[test]
fn a_first_election_waits_for_peers_and_a_survivor_does_not() {
    let events = "[[event]]\nat = \"0s\"\ncrash = [2, 3]\n[[event]]\nat = \"10s\"\nrecover = [2]\n\
                  [[event]]\nat = \"30s\"\ncrash = [1, 2]\n[[event]]\nat = \"31s\"\nrecover = [1]\n";
    for protocol in of_survivors() {
        let (trace, name) = (play(protocol, 1, events), protocol.name());
        let began = |after: u64| {
            let all = [1, 2].into_iter().flat_map(|node| led(&trace, node));
            all.filter(|(at, leads)| *leads && *at >= after).map(|(at, _)| at).min()
        };
        assert!(matches!(began(0), Some(10..20)), "{name}: {:?}", began(0));
        assert!(matches!(began(31), Some(31..40)), "{name}: {:?}", began(31));
    }
}
