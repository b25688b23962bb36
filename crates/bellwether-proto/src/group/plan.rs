//! What the application does in a reorganization: "the reorganization of the system occurs here" (Garcia-Molina, Appendix
//! I).
//!
//! ```text
//!   coordinator: group formed ──Plan──► application ──Planned(content)──► Ready to the members
//!                ◄──ReorganizationFailed(self)── it failed, or has not answered in time: the election starts another
//! ```
//!
//! The election hears of a failure no earlier than T after the application was asked. Otherwise an application that fails at
//! once would make its node hold one election after the other.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::ledger::Attempted;
use super::{Content, Lineage, Past};
use crate::ident::{ElectionId, GroupId, NodeId};

/// The question to the application: what does a group work on?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRequest {
    /// Which of the coordinator's reorganizations asks. The answer names it.
    pub no: ElectionId,
    /// The number of the group, if the algorithm numbers groups.
    pub group: Option<GroupId>,
    /// Its members, including the coordinator, in order of id.
    pub members: Vec<PlanMember>,
    /// The nodes that were in a group that this one follows, and are not in it. All members agree on them if the algorithm
    /// does that (`fb-omega`).
    pub failed: Vec<NodeId>,
    /// The members that were in none of the groups that this one follows, or have been away since.
    pub readmitted: Vec<NodeId>,
}

impl PlanRequest {
    /// `known` is what the members know about earlier groups. A group that another of them came from has been followed
    /// already, and what became of its members has been told.
    pub(super) fn new(
        no: ElectionId,
        group: Option<GroupId>,
        members: Vec<PlanMember>,
        known: &Lineage,
    ) -> Self {
        // Who has been away may come from long ago, and is asked only if nobody else can say.
        let all_away = members.iter().all(|member| member.away);
        let asked = members.iter().filter(|member| all_away || !member.away);
        let heads: BTreeSet<GroupId> = asked.filter_map(|member| member.head).collect();
        let older: BTreeSet<GroupId> = heads.iter().flat_map(|head| known.ancestors(*head).groups).collect();
        let followed = heads.difference(&older).filter_map(|head| known.record(*head));
        let before: BTreeSet<NodeId> = followed.flat_map(|record| record.members.iter().copied()).collect();
        let now: BTreeSet<NodeId> = members.iter().map(|member| member.node).collect();
        let failed = before.difference(&now).copied().collect();
        let readmitted = members.iter().filter(|member| member.away || !before.contains(&member.node));
        let readmitted = readmitted.map(|member| member.node).collect();
        Self { no, group, members, failed, readmitted }
    }
}

/// A member of a group that is to be given its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanMember {
    /// Who.
    pub node: NodeId,
    /// The group that it was last in; `None` if there was none.
    pub head: Option<GroupId>,
    /// Whether it has been in no group since.
    pub away: bool,
    /// Restricted operations that it voted for without knowing the outcome.
    pub doubts: Vec<Attempted>,
}

impl PlanMember {
    pub(super) fn new(node: NodeId, past: &Past) -> Self {
        Self { node, head: past.head, away: past.away, doubts: past.doubts.clone() }
    }
}

/// The application's answer; `None` if it has failed. An answer that is too long is an error when [`Content`] is made of
/// it, before any member hears of it.
pub type Plan = Option<Content>;
