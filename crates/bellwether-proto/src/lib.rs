//! Leader election as pure state machines.
//!
//! ```text
//! bytes ─► wire ─► link ────────► election ──► group ──────► leadership
//!          codec   lives and      one file per reorganized:  settled with the
//!                  frames,        algorithm    what to       others, and
//!                  detectors                   work on       numbered
//!       ◄──────── Outbox: Persist · Send · Broadcast · Plan · Event, carried out in that order
//! ```
//!
//! A [`node::Node`] is a function of its state, the time and what arrives. This crate has no clock, no randomness, no
//! hash maps, no I/O and no `std`: a simulator and a driver on a real network run the very same code. The run loop is in the
//! documentation of [`node::Node`].
//!
//! - [`election`]: the algorithms. [`spec`]: what is to be known of one. [`promise`]: what it promises.
//! - [`group`]: what follows an election. [`leadership`]: when it is news.
//! - [`detector`]: the failure detectors. [`link`]: lives and frames of peers.
//! - [`kind`], [`message`], [`io`], [`view`], [`trace`]: what messages have in common, what travels, what goes in and out,
//!   what is shown, what is recorded.
//! - [`wire`]: bytes. [`canonical`]: the form in which states repeat.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bounded;
pub mod canonical;
pub mod detector;
mod digest;
pub mod election;
pub mod group;
pub mod ident;
pub mod io;
pub mod kind;
pub mod leadership;
pub mod link;
pub mod message;
pub mod node;
pub mod promise;
pub mod roster;
pub mod spec;
pub mod time;
pub mod trace;
pub mod view;
pub mod wire;
