//! Leader election for Rust programs.
//!
//! This crate is what a program depends on. It gives the pure state machines of `bellwether-proto`, ready to be driven
//! over any transport: your program owns the sockets, the clock and the disk, and asks [`node::Node`] what to do.
//!
//! ```text
//! loop {
//!     wait for a frame, or for node.deadline()
//!     node.handle(now, input, &mut outbox)
//!     for output in outbox.drain() { persist it · send it · tell the application }   // in this order
//! }
//! ```
//!
//! A complete driver over UDP sockets is in `examples/udp_cluster.rs`: three nodes on loopback elect a leader, lose it,
//! and elect the next. The documentation of [`node::Node`] has the loop as running code.
//!
//! What you may rely on depends on the algorithm: see [`election::Protocol::spec`], or `bellwether protocols`.

#![forbid(unsafe_code)]

mod clock;
pub mod config;
mod driver;
pub mod history;
pub mod member;
mod recorder;
mod shared;
pub mod status;
mod store;
mod tenure;
pub mod tls;
mod transport;

pub use config::Config;
pub use member::Member;
pub use tenure::Leadership;

pub use bellwether_proto::{
    canonical, detector, election, ident, io, leadership, link, message, node, promise, roster, time,
};
pub use bellwether_proto::{trace, view, wire};
