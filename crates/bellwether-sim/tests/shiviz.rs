//! Logs as ShiViz reads them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bellwether_proto::ident::NodeId;
use bellwether_proto::trace::What;
use bellwether_sim::run::trace;
use bellwether_sim::scenario::Scenario;
use bellwether_sim::shiviz::Shiviz;

/// With crashes, losses, duplicates and announcements.
const SCENARIOS: [&str; 6] = [
    "est06a-lost-halt-printed",
    "est07-old-rej-printed",
    "est12-no-fifo-printed",
    "partition-and-merge",
    "agent-paused-leader",
    "era03-rec-from-is-assigned",
];

#[test]
fn every_clock_of_shiviz_is_beyond_all_that_happened_before() {
    for scenario in SCENARIOS.map(named) {
        let mut shiviz = Shiviz::default();
        let (mut last, mut sent) = (BTreeMap::<NodeId, Clock>::new(), BTreeMap::<u64, Clock>::new());
        for event in trace(&scenario) {
            let Some(lines) = shiviz.lines(&event) else { continue };
            let clock = clock(&lines, event.node);
            let own = last.get(&event.node).map_or(0, |clock| clock[&host(event.node)]);
            assert_eq!(clock[&host(event.node)], own + 1, "{lines}");
            if let Some(before) = last.insert(event.node, clock.clone()) {
                assert!(dominates(&clock, &before), "{lines}");
            }
            match event.what {
                What::Send(msg) => {
                    sent.insert(msg.id, clock);
                }
                What::Recv(msg, _) => {
                    assert!(dominates(&clock, &sent[&msg.id]), "{lines}");
                    assert_ne!(clock, sent[&msg.id]);
                }
                _ => {}
            }
        }
        assert!(!sent.is_empty(), "{}", scenario.name);
    }
}

type Clock = BTreeMap<String, u64>;

/// The clock of two lines of a log, which are of that node.
fn clock(lines: &str, node: NodeId) -> Clock {
    assert_eq!(lines.matches('\n').count(), 2, "{lines}");
    let (place, clock) = lines.lines().next().unwrap().split_once(' ').unwrap();
    assert_eq!(place, host(node));
    serde_json::from_str(clock).unwrap_or_else(|error| panic!("{clock}: {error}"))
}

fn host(node: NodeId) -> String {
    format!("node{node}")
}

fn dominates(later: &Clock, earlier: &Clock) -> bool {
    earlier.iter().all(|(host, count)| later.get(host).is_some_and(|later| later >= count))
}

fn named(name: &str) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.toml"));
    Scenario::parse(name, &fs::read_to_string(file).unwrap()).unwrap()
}
