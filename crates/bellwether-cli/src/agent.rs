//! The agent: a member of a cluster as a process of its own, with an HTTP interface.

pub(crate) mod config;
pub(crate) mod descriptors;
pub(crate) mod hooks;
pub(crate) mod http;
pub(crate) mod log;
pub(crate) mod reload;
pub(crate) mod sessions;
pub(crate) mod socket;
pub(crate) mod supervisor;
