use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::election::raynal::rig;
use crate::election::{Action, Choices, Protocol, Timing};
use crate::ident::Incarnation;
use crate::roster::Roster;

/// All nodes, and how many messages it took; messages arrive in the order of sending.
fn play(nodes: u32, candidates: &[u32], variant: Variant) -> (Vec<Gamma>, usize) {
    let mut all: Vec<Gamma> =
        (1..=nodes).map(|me| Gamma::new(setup(me, nodes, candidates, variant), Span::ZERO)).collect();
    let mut mail = Vec::new();
    for me in 1..=nodes {
        mail.extend(input(&mut all, me, Input::Recovery));
    }
    let sent = run(&mut all, mail);
    (all, sent)
}

fn run(all: &mut [Gamma], mail: Vec<(u32, u32, Msg)>) -> usize {
    let mut mail: alloc::collections::VecDeque<_> = mail.into();
    let mut sent = 0;
    while let Some((from, to, msg)) = mail.pop_front() {
        sent += 1;
        mail.extend(input(all, to, Input::Message { from: NodeId(from), msg }));
    }
    sent
}

fn input(all: &mut [Gamma], me: u32, input: Input<Msg>) -> Vec<(u32, u32, Msg)> {
    let mut out = Actions::new();
    all[me as usize - 1].handle(Time::ZERO, input, &mut out);
    let sent = out.drain().map(|action| match action {
        Action::Send { to, msg } => (me, to.0, msg),
        other => panic!("{other:?}"),
    });
    sent.collect()
}

fn setup(me: u32, nodes: u32, candidates: &[u32], variant: Variant) -> Setup {
    Setup {
        protocol: Protocol::Gamma,
        variant,
        roster: Roster::new(NodeId(me), (1..=nodes).map(NodeId), Priority::LowestId),
        incarnation: Incarnation(1),
        count: 0,
        t: 0,
        timing: Timing { delta: rig::DELTA, tau: rig::TAU, step: rig::STEP },
        choices: Choices { candidate: candidates.contains(&me), ..Choices::default() },
    }
}

fn leaders(all: &[Gamma]) -> Vec<Option<u32>> {
    all.iter().map(|node| node.opinion().normal_leader().map(|leader| leader.0)).collect()
}

/// Every set of candidates among up to five nodes: the lightest leads, all know it, and the count is that of the formula.
#[test]
fn the_lightest_candidate_leads_at_the_cost_of_the_formula() {
    for nodes in 1..=5_u32 {
        for set in 1..1_u32 << nodes {
            let candidates: Vec<u32> = (1..=nodes).filter(|id| set >> (id - 1) & 1 == 1).collect();
            let (all, sent) = play(nodes, &candidates, Variant::Repaired);
            assert_eq!(leaders(&all), vec![Some(candidates[0]); nodes as usize], "{candidates:?} of {nodes}");
            let (k, n) = (candidates.len(), nodes as usize);
            assert_eq!(sent, 2 * k * (n - 1) - k * (k - 1) / 2 + (n - 1), "{candidates:?} of {nodes}");
        }
    }
}

/// E-FB1: 2 leads, and has woken 1 up; then 1 wakes up by itself.
#[test]
fn who_was_woken_up_does_not_stand_any_more() {
    for (variant, then) in [(Variant::Repaired, 2), (Variant::Printed, 1)] {
        let (mut all, _) = play(3, &[2], variant);
        assert_eq!(leaders(&all), [Some(2); 3]);
        all[0].setup.choices.candidate = true;
        let mail = input(&mut all, 1, Input::Recovery);
        assert_eq!(mail.is_empty(), variant == Variant::Repaired);
        run(&mut all, mail);
        assert_eq!(leaders(&all)[0], Some(then), "{variant:?}: two leaders, if it is printed");
    }
}

#[test]
fn a_node_that_is_alone_leads() {
    assert_eq!(leaders(&play(1, &[1], Variant::Repaired).0), [Some(1)]);
}
