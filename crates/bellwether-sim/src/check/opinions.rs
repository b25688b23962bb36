//! One state of a cluster by itself: who is up, what each shows, who can speak with whom. What a trace has told is one,
//! and a state that a search has reached is another; both are judged by the same definitions.

use bellwether_proto::group::TaskDigest;
use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::members::Members;
use bellwether_proto::opinion::Opinion;
use bellwether_proto::promise::Property;
use bellwether_proto::time::Span;

use super::elected::{Judgement, leader_elected, leaders_elected, one_leader_elected};
use super::{
    Facts, a1, a2, a3, a4, a4_prime, ale1, ale2, answered, fake_clean, granted, led, omega,
    one_leader_per_view, one_view_or_dead, sle1, sle2, view_agree, while_stable,
};

/// What nodes show at one moment.
pub(crate) trait Opinions {
    /// The nodes that are up, and what they show.
    fn up(&self) -> impl Iterator<Item = (NodeId, Opinion)>;

    /// Whether that node is up.
    fn is_up(&self, id: NodeId) -> bool;

    /// What the node shows; nothing much if it is down.
    fn opinion(&self, id: NodeId) -> Opinion;

    /// The task description in place at the node, if there is one.
    fn task(&self, id: NodeId) -> Option<TaskDigest>;

    /// The view that the node installed last, in this incarnation, and who is in it.
    fn installed(&self, id: NodeId) -> Option<(GroupId, Members)>;

    /// Whether the node remembers anything that was said about a change of views.
    fn remembers(&self, id: NodeId) -> bool;

    /// The leader that the node announced last, in this incarnation.
    fn announced(&self, id: NodeId) -> Option<NodeId>;

    /// Whether the node is up and not paused.
    fn runs(&self, id: NodeId) -> bool {
        self.is_up(id)
    }

    /// Whether messages pass in both directions.
    fn connected(&self, a: NodeId, b: NodeId) -> bool;
}

/// How a state by itself breaks a property that must hold in every state; `None` also for properties of another kind.
pub(crate) fn breach(property: Property, opinions: &impl Opinions) -> Option<String> {
    match property {
        Property::A1 => a1::dispute(opinions),
        Property::A3 => a3::dispute(opinions),
        Property::Sle1 => sle1::dispute(opinions),
        Property::Ale1 => ale1::dispute(opinions),
        Property::OneLeaderPerView => one_leader_per_view::dispute(opinions),
        Property::ViewAgree => view_agree::dispute(opinions),
        Property::OneViewOrDead => one_view_or_dead::dispute(opinions),
        _ => None,
    }
}

/// Whether a state is one that the system must come to and then stay in, if so many must agree on an announced leader; `None`
/// for properties of another kind.
pub(crate) fn settled(property: Property, opinions: &impl Opinions, quorum: usize) -> Option<Judgement> {
    match property {
        Property::A2 => Some(one_leader_elected(opinions)),
        Property::A4 => Some(a4::cliques_are_groups(opinions)),
        Property::A4Prime => Some(a4_prime::elected_within_reach(opinions)),
        Property::Sle2 => Some(leader_elected(opinions)),
        Property::Ale2Prime => Some(leaders_elected(opinions)),
        Property::Ale2 => Some(ale2::elected_in_few_groups(opinions)),
        Property::Omega => Some(omega::judgement(opinions)),
        Property::FakeClean => Some(fake_clean::judgement(opinions)),
        Property::Settled => Some(super::settled::judgement(opinions, quorum)),
        Property::Led => Some(led::all_led(opinions, quorum)),
        _ => None,
    }
}

/// How long the system may take for that from an arbitrary state, where the papers give a bound.
pub(crate) fn bound(property: Property, facts: &Facts) -> Option<Span> {
    match property {
        Property::A2 => Some(a2::c_gm(facts) * 2),
        Property::A4 | Property::A4Prime => Some(while_stable::c_g(facts)),
        Property::Sle2 => Some(sle2::c_s(facts) * 2),
        Property::Ale2Prime | Property::Ale2 => Some(while_stable::c_a(facts)),
        Property::Led => Some(led::c_l(facts)),
        Property::Granted => Some(granted::c_x(facts)),
        Property::Answered => Some(answered::bound(facts)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_proto::ident::{ElectionId, Incarnation};
    use bellwether_proto::opinion::Status;

    /// What each node shows, from 1 on, the number of the view that it has installed, and who is in that.
    struct Shown(Vec<(Opinion, u64, Members)>);

    impl Opinions for Shown {
        fn up(&self) -> impl Iterator<Item = (NodeId, Opinion)> {
            (1..).map(NodeId).zip(self.0.iter().map(|(opinion, ..)| *opinion))
        }

        fn is_up(&self, id: NodeId) -> bool {
            self.installed(id).is_some()
        }

        fn opinion(&self, id: NodeId) -> Opinion {
            self.0[id.0 as usize - 1].0
        }

        fn task(&self, _: NodeId) -> Option<TaskDigest> {
            None
        }

        fn installed(&self, id: NodeId) -> Option<(GroupId, Members)> {
            let (_, seq, members) = self.0.get(id.0 as usize - 1)?;
            Some((in_view(*seq).group?, *members))
        }

        fn remembers(&self, id: NodeId) -> bool {
            id == NodeId(2)
        }

        fn announced(&self, _: NodeId) -> Option<NodeId> {
            None
        }

        fn connected(&self, _: NodeId, _: NodeId) -> bool {
            true
        }
    }

    fn in_view(seq: u64) -> Opinion {
        let group = GroupId(ElectionId { node: NodeId(1), incarnation: Incarnation(1), seq });
        Opinion { status: Status::Normal, leader: Some(NodeId(1)), group: Some(group) }
    }

    #[test]
    fn members_of_a_view_agree_on_it_in_every_state() {
        let (both, first) = (Members::of([0, 1]), Members::of([0]));
        let wrong = |one: (u64, Members), two: (u64, Members)| {
            let shown = [one, two].map(|(seq, members)| (in_view(seq), seq, members));
            breach(Property::ViewAgree, &Shown(shown.to_vec()))
        };
        assert_eq!(wrong((1, both), (1, both)), None);
        assert_eq!(wrong((2, first), (1, both)), None, "two views");
        let told = wrong((1, first), (1, both));
        assert_eq!(told.as_deref(), Some("1 is in view 1.1.1 of {1}, 2 in one of {1, 2}"));
        let told = wrong((1, both), (2, first));
        assert_eq!(told.as_deref(), Some("2 is in view 1.1.2 of {1}, without itself"));
    }

    #[test]
    fn a_node_is_in_the_view_that_it_installed_or_dead_in_every_state() {
        let dead = Opinion { status: Status::Dead, leader: None, group: None };
        let wrong =
            |opinion| breach(Property::OneViewOrDead, &Shown(vec![(opinion, 1, Members::of([0]))])).is_some();
        assert!(!wrong(in_view(1)) && !wrong(dead) && !wrong(Opinion { status: Status::Down, ..dead }));
        assert!(wrong(in_view(2)), "another");
        assert!(wrong(Opinion { status: Status::Dead, ..in_view(1) }), "both");
        assert!(wrong(Opinion { status: Status::Election, ..dead }), "neither");
    }

    #[test]
    fn memories_count_once_all_are_in_one_view() {
        let both = Members::of([0, 1]);
        let judgement = |shown| settled(Property::FakeClean, &Shown(shown), 1);
        let one_view = judgement(vec![(in_view(1), 1, both), (in_view(1), 1, both)]);
        assert!(matches!(one_view, Some(Judgement::Fails(_))), "2 remembers");
        let two_views = judgement(vec![(in_view(1), 1, both), (in_view(2), 2, both)]);
        assert!(matches!(two_views, Some(Judgement::Open)));
        let alone = judgement(vec![(in_view(1), 1, Members::of([0]))]);
        assert!(matches!(alone, Some(Judgement::Holds)));
    }
}
