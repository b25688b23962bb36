//! The task of a group, and its lineage: what Ready carries.

use alloc::sync::Arc;

use super::{GroupMsg, Lineage, Record, Task};
use crate::canonical::Form;
use crate::ident::GroupId;

#[derive(Clone, Debug)]
pub(super) struct Work {
    pub(super) task: Task,
    /// Of the group, if it is remembered,
    pub(super) record: Option<Arc<Record>>,
    /// and of those before it.
    pub(super) lineage: Lineage,
}

impl Work {
    pub(super) fn ready(&self, group: Option<GroupId>) -> GroupMsg {
        GroupMsg::Ready { group, task: self.task.clone(), lineage: self.lineage.clone() }
    }

    pub(super) fn canonical(&self, form: &mut Form) {
        self.task.canonical(form);
        self.lineage.canonical(form);
    }
}
