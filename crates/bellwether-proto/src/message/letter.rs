//! What a consistent link carries.

use alloc::boxed::Box;

use crate::canonical::Form;
use crate::group::GroupMsg;
use crate::kind::{Kind, Message};

/// A message of a layer that wants it to arrive in order and once, for as long as the link is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Letter<M> {
    /// Of the election.
    Election(M),
    /// A message of the group layer. It follows the election's: a member has installed the view before it hears the view's
    /// task.
    Group(Box<GroupMsg>),
}

impl<M: Message> Message for Letter<M> {
    fn kind(&self) -> Kind {
        match self {
            Self::Election(msg) => msg.kind(),
            Self::Group(msg) => msg.kind(),
        }
    }

    fn canonical(&self, form: &mut Form) {
        match self {
            Self::Election(msg) => msg.canonical(form),
            Self::Group(msg) => msg.canonical(form),
        }
    }

    fn largest_counter(&self) -> u64 {
        match self {
            Self::Election(msg) => msg.largest_counter(),
            Self::Group(_) => 0,
        }
    }
}
