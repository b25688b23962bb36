//! A line of the store's file.

use serde::{Deserialize, Serialize};

use super::wire::What;

/// What was taken, from whom, with which token, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) token: u64,
    pub(super) node: u32,
    pub(super) what: What,
    /// Since the store began.
    pub(super) at_ms: u64,
}
