//! Leader election as pure state machines.
//!
//! ```text
//! bytes ─► wire ─► link ────────► election ──► group ──────► leadership ─────► release
//!          codec   incarnations   one file per reorganized:  settled with the  work ends
//!                  and frames,    algorithm    what to       others, and       before the
//!                  detectors                   work on       numbered          next leads
//!       ◄──────── Outbox: Persist · Send · Broadcast · Plan · Tenure · Answer · Left · Event, carried out in order
//! ```
//!
//! A [`node::Node`] is a function of its state, the time and what arrives. This crate has no clock, no randomness, no hash
//! maps, no I/O and no `std`: a simulator and a driver on a real network run the same code. The run loop is in the
//! documentation of [`node::Node`].
//!
//! - [`election`]: the algorithms. [`spec`]: the facts about each. [`promise`]: what it promises.
//! - [`group`]: what follows an election. [`leadership`]: when a leader is announced. [`release`]: how it gives leadership up.
//! - [`agent`]: makes a node with all these layers. [`tenure`]: what a program may do, and ask.
//! - [`detector`]: the failure detectors. [`link`]: incarnations and frames of peers.
//! - [`kind`], [`message`], [`io`], [`opinion`], [`members`], [`trace`]: what messages have in common, what travels, what goes in and out,
//!   opinions, members of views, records.
//! - [`wire`]: bytes. [`canonical`]: the form in which states repeat.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod agent;
mod bounded;
pub mod canonical;
pub mod cause;
pub mod detector;
mod digest;
pub mod election;
pub mod exclusive;
pub mod group;
pub mod ident;
pub mod io;
pub mod kind;
pub mod leadership;
pub mod link;
pub mod members;
pub mod message;
pub mod node;
pub mod opinion;
pub mod promise;
pub mod release;
pub mod roster;
pub mod spec;
pub mod tenure;
pub mod time;
pub mod trace;
pub mod wire;
