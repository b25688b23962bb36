//! The task description, Garcia-Molina's d.

use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::bounded;
use crate::canonical::Form;
use crate::digest::fnv1a;
use crate::ident::ElectionId;

/// No task description is longer than this: it travels in one frame.
pub const TASK_MAX: usize = 16 * 1024;

/// The content of a task. Only the application knows what it means. Never longer than [`TASK_MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content(#[serde(deserialize_with = "bounded::list::<TASK_MAX, _, _>")] Vec<u8>);

impl Content {
    /// These bytes, as the content of a task.
    ///
    /// # Errors
    /// If there are more than [`TASK_MAX`].
    pub fn new(bytes: Vec<u8>) -> Result<Self, TaskTooLong> {
        if bytes.len() <= TASK_MAX { Ok(Self(bytes)) } else { Err(TaskTooLong { len: bytes.len() }) }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What a group works on, as its coordinator computed it, the same for all members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Which of its coordinator's reorganizations made it. No two descriptions are taken for one another, though their
    /// content be the same.
    made_by: ElectionId,
    content: Content,
}

impl Task {
    /// The description that a reorganization arrived at.
    pub fn new(made_by: ElectionId, content: Content) -> Self {
        Self { made_by, content }
    }

    /// Which of its coordinator's reorganizations made it.
    pub fn made_by(&self) -> ElectionId {
        self.made_by
    }

    /// The content.
    pub fn content(&self) -> &[u8] {
        self.content.as_bytes()
    }

    /// A number that tells descriptions apart in traces.
    pub fn digest(&self) -> TaskDigest {
        let ElectionId { node, incarnation, seq } = self.made_by;
        let number = [u64::from(node.0), incarnation.0, seq].map(u64::to_le_bytes);
        TaskDigest(fnv1a(number.into_iter().flatten().chain(self.content().iter().copied())))
    }

    pub(super) fn canonical(&self, form: &mut Form) {
        form.reorganization(self.made_by);
        form.number(self.content().len() as u64);
        self.content().iter().for_each(|byte| form.number(u64::from(*byte)));
    }
}

/// Tells task descriptions apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskDigest(pub u64);

impl fmt::Display for TaskDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The task description is too long to be distributed. No member has heard of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a task description of {len} bytes; the longest allowed is {TASK_MAX}")]
pub struct TaskTooLong {
    /// How long it is.
    pub len: usize,
}
