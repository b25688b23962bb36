//! The application's say in a reorganization: "the reorganization of the system occurs here" (Garcia-Molina, Appendix I).
//!
//! ```text
//!   coordinator: group formed ──Plan──► application ──Planned(content)──► Ready to the members
//!                ◄──ReorganizationFailed(self)── it failed, or has not answered in time: the election starts another
//! ```
//!
//! The election hears of a failure no earlier than T after the application was asked: one that fails at once would otherwise
//! have its node hold elections as fast as it can fail.

use alloc::vec::Vec;

use super::ledger::Attempted;
use super::{Content, Past};
use crate::ident::{ElectionId, GroupId, NodeId};

/// The application is asked what a group is to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRequest {
    /// Which of the coordinator's reorganizations asks. The answer names it.
    pub no: ElectionId,
    /// The number of the group, if the algorithm numbers groups.
    pub group: Option<GroupId>,
    /// Who is in it, the coordinator included, in order of id.
    pub members: Vec<PlanMember>,
}

/// A member of a group that is to be given its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanMember {
    /// Who.
    pub node: NodeId,
    /// The group that it was last in; `None` if it never was in any.
    pub head: Option<GroupId>,
    /// Restricted operations that it voted for without knowing the outcome.
    pub doubts: Vec<Attempted>,
}

impl PlanMember {
    pub(super) fn new(node: NodeId, past: &Past) -> Self {
        Self { node, head: past.head, doubts: past.doubts.clone() }
    }
}

/// What the application answers; `None` if it has failed. What is too long to be distributed is an error to whoever wants
/// to make [`Content`] of it, before any member hears of it.
pub type Plan = Option<Content>;
