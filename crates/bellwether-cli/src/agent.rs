//! The agent: a member of a cluster as a process of its own.

#![allow(dead_code, unused_imports, reason = "the command that runs an agent is built on this")]

pub(crate) mod config;
