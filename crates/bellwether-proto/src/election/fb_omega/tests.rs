use alloc::boxed::Box;
use alloc::vec::Vec;

use super::*;
use crate::canonical::Form;
use crate::cause::Cause;
use crate::election::franceschetti::rig::Rig;
use crate::election::franceschetti::{About, Change, Msg, NextView, first_view};
use crate::election::raynal::rig::decide;
use crate::election::{
    Action, Actions, Choices, Election, Input, Membership, Primary, Protocol, Setup, Timing, Variant,
};
use crate::ident::{ElectionId, GroupId, Incarnation, NodeId};
use crate::kind::Message;
use crate::members::Members;
use crate::opinion::Status;
use crate::roster::Roster;
use crate::time::{Span, Time};

type Nodes = Rig<FbOmega>;

fn five(variant: Variant) -> Nodes {
    Rig::new(5, variant, Primary::Majority)
}

fn isolate(rig: &mut Nodes, node: u32) {
    let links = rig.of(node);
    rig.cut(&links);
    rig.deliver();
}

/// The links of these nodes to everybody.
fn links_of(rig: &Nodes, nodes: &[u32]) -> Vec<(u32, u32)> {
    nodes.iter().flat_map(|node| rig.of(*node)).collect()
}

/// S7, section 1: "Finally, processes 1 and 5 are released and enter again an alive state."
#[test]
fn five_processes_fare_as_in_the_introduction() {
    let mut rig = five(Variant::Repaired);
    assert_eq!(rig.leaders(&[1, 2, 3, 4, 5]), [Some(1); 5]);
    isolate(&mut rig, 5);
    assert!(rig.is_dead(5));
    assert_eq!(rig.leaders(&[1, 2, 3, 4]), [Some(1); 4]);
    assert_eq!(
        rig.take_said(),
        [
            "1 cand_down(5) 2",
            "1 cand_down(5) 3",
            "1 cand_down(5) 4",
            "2 accept_down(5) 1",
            "3 accept_down(5) 1",
            "4 accept_down(5) 1",
            "1 view{1,2,3,4} 2",
            "1 view{1,2,3,4} 3",
            "1 view{1,2,3,4} 4",
        ]
    );
    isolate(&mut rig, 1);
    assert!(rig.is_dead(1));
    assert_eq!(rig.leaders(&[2, 3, 4]), [Some(2); 3]);
    let links = links_of(&rig, &[1, 5]);
    rig.mend(&links);
    rig.deliver();
    assert_eq!(rig.leaders(&[1, 2, 3, 4, 5]), [Some(2); 5], "who admits leads (E-FB9)");
}

#[test]
fn one_that_was_admitted_leads_the_next_change() {
    let mut rig = five(Variant::Repaired);
    isolate(&mut rig, 5);
    isolate(&mut rig, 1);
    rig.mend(&[(1, 2), (1, 3), (1, 4)]);
    rig.deliver();
    assert_eq!(rig.leaders(&[1, 2, 3, 4]), [Some(2); 4]);
    let links = rig.of(5);
    rig.mend(&links);
    rig.deliver();
    assert_eq!(rig.leaders(&[1, 2, 3, 4, 5]), [Some(1); 5]);
}

/// E-FB5, E-FB7: as printed nobody ever admits 1, which is lighter than all who could.
#[test]
fn as_printed_the_introduction_hangs() {
    let mut rig = five(Variant::Printed);
    isolate(&mut rig, 5);
    isolate(&mut rig, 1);
    let links = links_of(&rig, &[1, 5]);
    rig.mend(&links);
    rig.deliver();
    rig.pass(Span::secs(60));
    assert!(rig.is_dead(5));
    assert!(!rig.said.iter().any(|said| said.contains("up(")), "nobody proposes to admit anybody");
    // Even where 1 was isolated from the beginning, so that nothing had to be updated.
    for (variant, hangs) in [(Variant::Printed, true), (Variant::Repaired, false)] {
        let mut rig: Nodes = Rig::without(5, variant, Primary::Majority, &[1]);
        rig.take_said();
        let links = rig.of(1);
        rig.mend(&links);
        rig.deliver();
        rig.pass(Span::secs(60));
        assert_eq!(rig.is_dead(1), hangs, "{variant:?}");
        assert_eq!(rig.said.is_empty(), hangs, "{variant:?}: {:?}", rig.said);
    }
}

/// S8: as Ψ hangs, Ω takes back what was wrong, and then admits 5.
#[test]
fn a_wrong_suspicion_is_taken_back() {
    let mut rig: Nodes = Rig::without(5, Variant::Repaired, Primary::Majority, &[5]);
    rig.cut(&[(1, 4), (3, 4)]);
    rig.deliver();
    assert_eq!(rig.take_said(), ["1 cand_down(4) 2", "1 cand_down(4) 3", "3 accept_down(4) 1"]);
    rig.mend(&[(1, 4), (3, 4)]);
    rig.deliver();
    let said = rig.take_said();
    assert_eq!(said, ["1 cancel_down(4) 2", "1 cancel_down(4) 3", "3 cancel_down(4) 1"]);
    assert_eq!(rig.remembers, [false; 5], "theorem 3.3");
    let links = rig.of(5);
    rig.mend(&links);
    rig.deliver();
    assert_eq!(rig.leaders(&[1, 2, 3, 4, 5]), [Some(1); 5]);
}

/// E-FB4: Def. 3.2 excuses an unanswered cand if the link of the node that it is about is down, which it is.
#[test]
fn as_printed_one_leads_before_anybody_has_answered() {
    let mut rig: Nodes = Rig::without(5, Variant::Printed, Primary::Majority, &[5]);
    rig.cut(&[(2, 4)]);
    rig.deliver();
    assert_eq!(rig.leaders(&[1]), [Some(1)], "nobody has proposed anything yet");
    rig.cut(&[(1, 4)]);
    assert_eq!(rig.leaders(&[1]), [Some(1)], "it leads, though 3 still sees 4");
    let mut rig: Nodes = Rig::without(5, Variant::Repaired, Primary::Majority, &[5]);
    let before = rig.opinion(1).group;
    rig.cut(&[(2, 4), (1, 4)]);
    rig.deliver();
    assert_eq!(rig.opinion(1).group, before, "no view without 4 while 3 sees it");
}

/// E-FB10: all links of 3 go down and come back before anything arrives. 3 is dead, and the others take it for a member.
#[test]
fn a_node_that_was_isolated_for_a_moment_is_admitted_again() {
    let mut rig: Nodes = Rig::new(3, Variant::Repaired, Primary::Majority);
    let links = rig.of(3);
    rig.cut(&links);
    rig.mend(&links);
    rig.deliver();
    rig.pass(Span::secs(10));
    assert_eq!(rig.leaders(&[1, 2, 3]), [Some(1); 3]);
    assert_eq!(rig.remembers, [false; 3]);
    assert!(rig.opinion(1).group.is_some_and(|view| view.0.seq == 1), "in a new view");
}

#[test]
fn a_restart_that_nobody_noticed_is_admitted_again() {
    for victim in 1..=3 {
        let mut rig: Nodes = Rig::new(3, Variant::Repaired, Primary::Majority);
        rig.restart(victim);
        assert!(rig.is_dead(victim));
        rig.deliver();
        rig.pass(Span::secs(10));
        let leaders = rig.leaders(&[1, 2, 3]);
        assert!(leaders[0].is_some() && leaders.iter().all(|leader| *leader == leaders[0]), "{leaders:?}");
    }
}

/// E-FB7: fail, rejoin, and fail again.
#[test]
fn the_second_failure_of_a_node_is_a_failure_too() {
    let mut rig = five(Variant::Repaired);
    for _ in 0..3 {
        isolate(&mut rig, 2);
        assert_eq!(rig.leaders(&[1, 3, 4, 5]), [Some(1); 4]);
        assert!(rig.is_dead(2));
        let links = rig.of(2);
        rig.mend(&links);
        rig.deliver();
        assert_eq!(rig.leaders(&[1, 2, 3, 4, 5]), [Some(1); 5]);
    }
    assert!(rig.opinion(1).group.is_some_and(|view| view.0.seq == 6), "six changes");
}

/// All lose their memory: the lightest of more than half of them forms a view that follows all that were.
#[test]
fn when_all_have_restarted_a_majority_begins_anew() {
    let mut rig = five(Variant::Repaired);
    isolate(&mut rig, 5);
    let before = rig.opinion(1).group.map(|view| view.0.seq);
    (1..=5).for_each(|node| rig.restart(node));
    rig.deliver();
    rig.pass(Span::secs(10));
    assert_eq!(rig.leaders(&[1, 2, 3, 4]), [Some(1); 4]);
    assert!(rig.is_dead(5));
    assert!(rig.opinion(1).group.map(|view| view.0.seq) > before);
}

#[test]
fn fewer_than_half_do_not_begin_anew() {
    let mut rig = five(Variant::Repaired);
    rig.cut(&[(1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)]);
    rig.deliver();
    assert_eq!(rig.leaders(&[1, 2, 3, 4, 5]), [None, None, Some(3), Some(3), Some(3)]);
    [1, 2].into_iter().for_each(|node| rig.restart(node));
    rig.deliver();
    rig.pass(Span::secs(10));
    assert!(rig.is_dead(1) && rig.is_dead(2), "two of five");
    rig.mend(&[(1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)]);
    rig.deliver();
    rig.pass(Span::secs(10));
    assert_eq!(rig.leaders(&[1, 2, 3, 4, 5]), [Some(3); 5]);
}

/// C68: without a primary component each clique has its leader; when they meet, the weaker view yields.
#[test]
fn without_a_primary_component_every_clique_leads_itself_and_they_merge_again() {
    let split = [(1, 3), (1, 4), (2, 3), (2, 4)];
    let mut rig: Nodes = Rig::new(4, Variant::Repaired, Primary::Any);
    rig.cut(&split);
    rig.deliver();
    assert_eq!(rig.leaders(&[1, 2, 3, 4]), [Some(1), Some(1), Some(3), Some(3)]);
    rig.mend(&split);
    rig.deliver();
    rig.pass(Span::secs(10));
    assert_eq!(
        rig.leaders(&[1, 2, 3, 4]),
        [Some(1); 4],
        "of two views with one number that of the lighter leader"
    );
    assert_eq!(rig.remembers, [false; 4]);
    let mut rig: Nodes = Rig::new(4, Variant::Repaired, Primary::Majority);
    rig.cut(&split);
    rig.deliver();
    assert_eq!(rig.leaders(&[1, 2, 3, 4]), [None; 4], "of two halves neither is primary");
    rig.mend(&split);
    rig.deliver();
    rig.pass(Span::secs(10));
    assert_eq!(rig.leaders(&[1, 2, 3, 4]), [Some(1); 4]);
    assert!(rig.opinion(1).group.is_some_and(|view| view.0.seq == 0), "nothing has changed");
}

/// E-FB11: 4 is gone, and 2 and 3 cannot speak with each other: accepts about 4 alone would make a view of them.
#[test]
fn no_view_has_members_that_are_not_linked() {
    let mut rig: Nodes = Rig::new(4, Variant::Repaired, Primary::Majority);
    rig.cut(&[(2, 3)]);
    isolate(&mut rig, 4);
    assert!(!rig.take_said().iter().any(|said| said.contains("view")), "1, 2 and 3 are no clique");
    rig.mend(&[(2, 3)]);
    rig.deliver();
    rig.pass(Span::secs(10));
    assert_eq!(rig.leaders(&[1, 2, 3]), [Some(1); 3]);
}

/// C66: a dead node proposes nothing.
#[test]
fn a_dead_node_answers_and_does_not_propose() {
    let mut rig = five(Variant::Repaired);
    isolate(&mut rig, 1);
    rig.take_said();
    let links = rig.of(1);
    rig.mend(&links[..2]);
    rig.cut(&[(1, 2)]);
    rig.deliver();
    assert!(!rig.said.iter().any(|said| said.starts_with("1 cand")), "{:?}", rig.said);
}

#[test]
fn views_of_other_members_are_other_messages() {
    let id = GroupId(first_view(NodeId(1)));
    let form = |members: &[usize]| {
        let mut form = Form::new();
        let members = Members::of(members.iter().copied());
        Msg::View(Box::new(NextView { id, parent: id, members })).canonical(&mut form);
        form.timed()
    };
    assert_ne!(form(&[0, 1]), form(&[0, 2]));
    assert_ne!(form(&[0, 1]), form(&[0, 70]), "beyond the first word, too");
    assert_ne!(form(&[0, 70]), form(&[0, 71]));
}

/// Weak liveness: 4 and 5 cannot speak with each other, so that nobody can lead without 1. But nobody goes on following it.
#[test]
fn who_misses_its_leader_follows_nobody() {
    let mut rig = five(Variant::Repaired);
    rig.cut(&[(4, 5)]);
    rig.deliver();
    assert_eq!(rig.leaders(&[1, 2, 3, 4, 5]), [Some(1); 5], "the view stays");
    isolate(&mut rig, 1);
    assert_eq!(rig.leaders(&[2, 3, 4, 5]), [None; 4]);
    rig.mend(&[(4, 5)]);
    rig.deliver();
    assert_eq!(rig.leaders(&[2, 3, 4, 5]), [Some(2); 4]);
}

/// One node by itself, told of its links.
struct Alone {
    node: FbOmega,
    now: Time,
    why: Option<Cause>,
}

impl Alone {
    fn new(me: u32, nodes: u32) -> Self {
        let setup = Setup {
            protocol: Protocol::FbOmega,
            variant: Variant::Repaired,
            roster: Roster::new(NodeId(me), (1..=nodes).map(NodeId), Priority::LowestId),
            incarnation: Incarnation(1),
            count: 0,
            t: 0,
            timing: Timing { delta: Span::millis(10), tau: Span::millis(100), step: Span::millis(10) },
            choices: Choices::default(),
        };
        let mut alone = Self { node: FbOmega::new(setup, Span::ZERO), now: Time::ZERO, why: None };
        alone.input(Input::Recovery);
        alone
    }

    fn input(&mut self, input: Input<Msg>) -> Vec<Action<Msg>> {
        let mut actions = Actions::new();
        self.why = decide(&mut self.node, self.now, input, &mut actions).or(self.why);
        actions.drain().collect()
    }

    fn linked(&mut self, peer: u32, view: GroupId) {
        let up = Some(Membership { view: Some(view), dead: false });
        self.input(Input::Link { peer: NodeId(peer), up });
    }

    /// Longer than news of a view may take.
    fn wait(&mut self) {
        self.now = self.now + Span::secs(5);
        self.input(Input::Deadline);
    }

    fn status(&self) -> Status {
        self.node.opinion().status
    }
}

fn view(leader: u32, seq: u64) -> GroupId {
    GroupId(ElectionId { node: NodeId(leader), incarnation: Incarnation(u64::from(seq > 0)), seq })
}

#[test]
fn who_sees_a_later_view_is_dead_unless_it_is_told_of_it_in_time() {
    let mut node = Alone::new(2, 3);
    node.linked(1, view(1, 1));
    node.linked(3, view(1, 0));
    assert_ne!(node.status(), Status::Dead, "it may be on its way");
    node.wait();
    assert_eq!(node.status(), Status::Dead);
}

#[test]
fn who_sees_an_earlier_view_is_not_left_behind() {
    let mut node = Alone::new(2, 3);
    node.linked(3, view(1, 0));
    node.linked(1, view(1, 0));
    let members = Members::of([0, 1, 2]);
    let msg = Msg::View(Box::new(NextView { id: view(3, 1), parent: view(1, 0), members }));
    node.input(Input::Message { from: NodeId(3), msg });
    node.linked(3, view(3, 1));
    node.wait();
    assert_ne!(node.status(), Status::Dead, "1 is");
}

#[test]
fn a_leader_that_cannot_manage_is_dead_unless_there_is_nobody_else() {
    let mut one_of_three = Alone::new(1, 3);
    [2, 3].into_iter().for_each(|peer| one_of_three.linked(peer, view(1, 0)));
    let actions = one_of_three.input(Input::ReorganizationFailed(NodeId(1)));
    assert!(actions.contains(&Action::Disband));
    assert_eq!(one_of_three.status(), Status::Dead);

    let mut single = Alone::new(1, 1);
    let actions = single.input(Input::ReorganizationFailed(NodeId(1)));
    assert!(actions.iter().any(|action| matches!(action, Action::Form(_))), "it is asked again: {actions:?}");
    assert_eq!(single.status(), Status::Reorganizing);
}

/// The first view of four, which 4 has left.
fn missing_four() -> (Alone, About) {
    let mut node = Alone::new(1, 4);
    [2, 3, 4].into_iter().for_each(|peer| node.linked(peer, view(1, 0)));
    node.input(Input::Link { peer: NodeId(4), up: None });
    (node, About { view: view(1, 0), change: Change::Down, node: NodeId(4) })
}

#[test]
fn an_acceptance_that_was_taken_back_is_none() {
    let (mut node, about) = missing_four();
    let mut says = |from, msg| node.input(Input::Message { from: NodeId(from), msg });
    says(2, Msg::Accept(about));
    says(2, Msg::Cancel(about));
    let leads = |actions: &[Action<Msg>]| actions.iter().any(|action| matches!(action, Action::Install(_)));
    assert!(!leads(&says(3, Msg::Accept(about))), "2 does not agree any more");
    assert!(leads(&says(2, Msg::Accept(about))));
}

#[test]
fn a_cancel_of_another_view_takes_nothing_back() {
    let (mut node, about) = missing_four();
    let mut says = |from, msg| node.input(Input::Message { from: NodeId(from), msg });
    says(2, Msg::Accept(about));
    says(2, Msg::Cancel(About { view: view(1, 7), ..about }));
    let actions = says(3, Msg::Accept(about));
    assert!(actions.iter().any(|action| matches!(action, Action::Install(_))));
}

#[test]
fn a_view_that_does_not_follow_is_not_installed() {
    let mut node = Alone::new(2, 3);
    [1, 3].into_iter().for_each(|peer| node.linked(peer, view(1, 0)));
    let members = Members::of([0, 1, 2]);
    let msg = Msg::View(Box::new(NextView { id: view(1, 2), parent: view(1, 1), members }));
    assert_eq!(node.input(Input::Message { from: NodeId(1), msg }), []);
    let msg = Msg::View(Box::new(NextView { id: view(3, 1), parent: view(1, 0), members }));
    assert_eq!(node.input(Input::Message { from: NodeId(1), msg }), [], "not of who leads it");
    assert_eq!(node.node.opinion().group, Some(view(1, 0)));
}

/// However often it changes its mind: what counts is since when it has been elsewhere.
#[test]
fn news_are_not_awaited_for_ever() {
    let mut node = Alone::new(2, 3);
    [1, 3].into_iter().for_each(|peer| node.linked(peer, view(1, 0)));
    node.linked(1, view(1, 1));
    let first = node.node.deadline();
    assert_ne!(first, Time::NEVER, "it was in the same view before");
    node.now = node.now + Span::millis(50);
    node.linked(1, view(1, 2));
    assert_eq!(node.node.deadline(), first);
}

#[test]
fn it_says_why_a_view_ended() {
    let mut rig = five(Variant::Repaired);
    isolate(&mut rig, 5);
    assert_eq!(
        rig.whys(&[1, 2, 3, 4]),
        [Some(Cause::Silent(NodeId(5))); 4],
        "it does not lead, but is missed"
    );
    assert_eq!(rig.whys(&[5]), [Some(Cause::Silent(NodeId(1)))], "its leader");
    rig.tell_of(&[2, 3, 4], || Input::Gone(NodeId(1)));
    isolate(&mut rig, 1);
    assert_eq!(rig.whys(&[2, 3, 4]), [Some(Cause::Gone(NodeId(1))); 3]);
    let links = links_of(&rig, &[1, 5]);
    rig.mend(&links);
    rig.deliver();
    assert_eq!(rig.whys(&[2, 3, 4]), [Some(Cause::Merged); 3], "1 and 5 are admitted");
    rig.tell_of(&[1, 3, 4, 5], || Input::Resigned { who: NodeId(2), next: None });
    isolate(&mut rig, 2);
    assert_eq!(rig.whys(&[1, 3, 4, 5]), [Some(Cause::Resigned(NodeId(2))); 4]);
    let links = rig.of(2);
    rig.mend(&links);
    rig.deliver();
    isolate(&mut rig, 2);
    assert_eq!(rig.whys(&[1, 3, 4, 5]), [Some(Cause::Silent(NodeId(2))); 4], "what it said before is over");
}

#[test]
fn who_was_left_behind_says_so() {
    let mut node = Alone::new(2, 3);
    node.linked(1, view(1, 0));
    node.linked(3, view(1, 0));
    node.input(Input::Reorganized);
    assert_eq!(node.status(), Status::Normal);
    node.linked(1, view(3, 1));
    assert_eq!(node.why, Some(Cause::Dropped(NodeId(3))));
}
