//! Leader election as pure state machines.
//!
//! ```text
//! bytes ─► wire ─► link ────────► election ───► view
//!          codec   peers and      one file per  what the application
//!                  detectors      algorithm     may rely on
//!       ◄──────── Outbox: Persist · Send · Event, carried out in that order
//! ```
//!
//! A [`node::Node`] is a function of its state, the time and what arrives. This crate has no clock, no randomness, no
//! hash maps, no I/O and no `std`: a simulator and a driver on a real network run the very same code. The run loop is in the
//! documentation of [`node::Node`].
//!
//! - [`election`]: the algorithms. [`promise`]: what each promises.
//! - [`group`]: what follows an election. [`leadership`]: when it is news.
//! - [`detector`]: the failure detectors. [`link`]: lives and frames of peers.
//! - [`message`], [`io`], [`view`], [`trace`]: what travels, what goes in and out, what is shown, what is recorded.
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
pub mod leadership;
pub mod link;
pub mod message;
pub mod node;
pub mod promise;
pub mod roster;
pub mod time;
pub mod trace;
pub mod view;
pub mod wire;
