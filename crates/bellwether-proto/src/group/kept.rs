//! What the group layer keeps in safe storage (Garcia-Molina, Assumption 4).
//!
//! | kept | the paper's | forgotten, it would |
//! |---|---|---|
//! | head | S(i).g | have a node that comes back join as if it came from nowhere |
//! | task | S(i).d | leave whoever comes back without what it was working on |
//! | lineage | "for safekeeping (in S(i).d)" | lose which groups may be in conflict |
//! | ledger | the log of its two-phase commit | let a node vote for one operation in two groups |
//!
//! S(i).s, c and Up are not kept: each incarnation begins with an election, which finds them anew. The counter of group
//! numbers need not be kept, because an incarnation is part of the number, and the incarnation is on disk.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::ledger::Ledger;
use super::lineage::Lineage;
use super::{Past, Task};
use crate::canonical::Form;
use crate::digest::fnv1a;
use crate::ident::GroupId;

/// What the group layer of a node keeps in safe storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The last group whose task was in place.
    pub head: Option<GroupId>,
    /// That task.
    pub task: Option<Task>,
    /// The groups that it came from.
    pub lineage: Lineage,
    /// The outcomes of restricted operations.
    pub ledger: Ledger,
}

impl Kept {
    /// No more bytes than this are ever written.
    pub const LEN_MAX: usize = 64 * 1024;

    /// As bytes, for a disk.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a growing buffer takes whatever is written to it")
    }

    /// Reads what [`Kept::to_bytes`] wrote; `None` if the bytes are something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kept, rest) = postcard::take_from_bytes::<Self>(bytes).ok()?;
        (rest.is_empty() && kept.past().is_sound()).then_some(kept)
    }

    /// A number that changes with what is kept, for traces.
    pub fn digest(&self) -> u64 {
        fnv1a(self.to_bytes())
    }

    /// Writes it in canonical form.
    pub fn canonical(&self, form: &mut Form) {
        form.option(self.head, |form, group| form.election(group.0));
        form.option(self.task.as_ref(), |form, task| task.canonical(form));
        self.lineage.canonical(form);
        self.ledger.canonical(form);
    }

    pub(super) fn past(&self) -> Past {
        let Self { head, lineage, ledger, .. } = self;
        Past { head: *head, away: false, lineage: lineage.clone(), doubts: ledger.doubts().to_vec() }
    }
}
