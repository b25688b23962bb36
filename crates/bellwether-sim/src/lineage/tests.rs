//! The graph of a trace, and its pictures.

use bellwether_proto::group::GroupEvent;
use bellwether_proto::ident::{ElectionId, Incarnation};

use super::layout::{BOX_HEIGHT, Layout};
use super::*;
use crate::plan;
use crate::run;
use crate::scenario::Scenario;

fn number(node: u32, seq: u64) -> GroupId {
    GroupId(ElectionId { node: NodeId(node), incarnation: Incarnation(1), seq })
}

/// What a coordinator reports of its new group.
fn formed(at: u64, group: GroupId, members: &[u32], parents: &[GroupId]) -> Vec<TraceEvent> {
    let recorded = Event::Group(GroupEvent::Recorded { group, record: RecordDigest(at) });
    let members = members.iter().map(|member| Event::Group(GroupEvent::Member(NodeId(*member))));
    let parents = parents.iter().map(|parent| Event::Group(GroupEvent::Parent(*parent)));
    let events = [recorded].into_iter().chain(members).chain(parents);
    let event = |what| TraceEvent {
        at: Time::from_micros(at * 1_000),
        node: group.0.node,
        incarnation: Incarnation(1),
        what: What::Node(what),
    };
    events.map(event).collect()
}

/// Two alone, then together, then apart again, and all three together.
fn merges() -> Lineage {
    let events = [
        formed(0, number(1, 1), &[1], &[ROOT]),
        formed(0, number(2, 1), &[2], &[ROOT]),
        formed(0, number(3, 1), &[3], &[ROOT]),
        formed(1500, number(2, 2), &[1, 2], &[number(1, 1), number(2, 1)]),
        formed(9000, number(3, 2), &[1, 2, 3], &[number(2, 2), number(3, 1)]),
    ];
    Lineage::of(events.iter().flatten())
}

#[test]
fn a_trace_tells_which_group_came_from_which() {
    let lineage = merges();
    assert_eq!(lineage.groups().len(), 5);
    let last = &lineage.groups()[&number(3, 2)];
    assert_eq!(last.parents, BTreeSet::from([number(2, 2), number(3, 1)]));
    assert_eq!(lineage.heads()[&NodeId(3)], number(3, 2));
    assert_eq!(lineage.generations()[&number(3, 2)], 2);
    assert_eq!(lineage.cycle(), None);
}

#[test]
fn what_is_said_to_have_a_history_has_one() {
    for protocol in Protocol::ALL {
        for variant in Variant::ALL {
            let mut scenario = Scenario::calm(protocol, 3, Time::from_micros(2_000_000));
            scenario.variant = variant;
            let found = !Lineage::of(&run::trace(&scenario)).groups().is_empty();
            assert_eq!(is_kept(protocol, variant), found, "{} {}", protocol.name(), variant.name());
        }
    }
}

#[test]
fn a_cycle_is_found() {
    let events = [
        formed(0, number(1, 1), &[1], &[ROOT]),
        formed(1, number(2, 1), &[2], &[number(1, 1), number(3, 1)]),
        formed(2, number(3, 1), &[3], &[number(2, 1)]),
    ];
    assert_eq!(Lineage::of(events.iter().flatten()).cycle(), Some(number(2, 1)));
}

#[test]
fn the_graph_for_graphviz_has_all_groups_and_edges() {
    let text = dot(&merges());
    assert!(text.starts_with("digraph history {\n"), "{text}");
    assert!(text.contains("\"3.1.2\" -> \"2.1.2\";\n"), "{text}");
    assert!(text.contains("\"1.1.1\" -> \"initial group\";\n"), "{text}");
    assert_eq!(text.matches(" -> ").count(), 7);
    assert!(text.contains("\"3.1.2\" [label=\"3.1.2\\nnodes 1, 2, 3\", style=bold];"), "{text}");
}

#[test]
fn the_picture_has_a_box_for_each_group_and_a_line_for_each_edge() {
    let text = svg(&merges(), "three nodes", "invitation");
    assert_eq!(text.matches("class=\"edge\"").count(), 7);
    assert_eq!(text.matches("<g class=").count(), 6, "with the root");
    assert!(text.contains(">3.1.2 · 9.000 s<"), "{text}");
    assert_eq!(text, svg(&merges(), "three nodes", "invitation"));
}

/// Groups form, part and merge at random, so that many come from ones that are several rows above.
#[test]
fn no_line_runs_behind_a_box() {
    let mut lanes = 0;
    for seed in 1..=40 {
        let lineage = Lineage::of(&run::trace(&plan::draw(Protocol::Invitation, Variant::Repaired, seed)));
        let drawn: Vec<GroupId> = lineage.groups().keys().copied().take(60).collect();
        let layout = Layout::new(&lineage, &drawn, 90.0, |_| 120.0);
        for group in &drawn {
            for to in layout.ends(&lineage, *group) {
                let line = layout.line(*group, to);
                lanes += line.len() / 2 - 1;
                for place in layout.places.values() {
                    let crosses = |(x, y): &(f64, f64)| {
                        let beside = (x - place.middle).abs() > place.width / 2.0 + 10.0;
                        !beside && *y >= place.top && *y <= place.top + BOX_HEIGHT
                    };
                    let inner = &line[1..line.len() - 1];
                    assert!(!inner.iter().any(crosses), "plan {seed}: {group} to {to}: {line:?} {place:?}");
                }
            }
        }
    }
    assert!(lanes > 100, "{lanes}");
}

#[test]
fn of_many_groups_the_latest_are_drawn() {
    let mut events = Vec::new();
    for seq in 1..=200 {
        let parent = if seq == 1 { ROOT } else { number(1, seq - 1) };
        events.extend(formed(seq, number(1, seq), &[1], &[parent]));
    }
    let text = svg(&Lineage::of(&events), "one node", "invitation");
    assert_eq!(text.matches("<g class=").count(), picture::GROUPS_MAX + 1);
    assert!(text.contains("80 earlier groups left out"), "{text}");
}
