//! Leader election for Rust programs.
//!
//! A program joins a cluster as a [`Member`], and does what only a leader may do while it leads:
//!
//! ```no_run
//! # async fn serve(epoch: u64) {}
//! # async fn example(config: bellwether::Config) -> Result<(), Box<dyn std::error::Error>> {
//! let member = bellwether::Member::join(config).await?;
//! member
//!     .run(|leadership| async move {
//!         loop {
//!             // This is stopped when the member leads no more, and begun again when it does.
//!             serve(leadership.epoch()).await;
//!         }
//!     })
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | work while leading, and stop when not | [`Member::run`] |
//! | be told when to stop, and finish first | [`Member::campaign`], [`Leadership::ended`], [`Leadership::cancellation`] |
//! | know who leads, now and from now on | [`Member::leader`], [`Member::observe`] |
//! | know who is there, and who led when | [`Member::participants`], [`Member::history`] |
//! | know a member's group, and the lineage of groups | [`Member::status`], [`Member::groups`] |
//! | say what a new group works on, and do this member's part | [`Member::join_as_manager`], [`Member::service`]; `examples/fault_manager.rs` |
//! | be the only one, and prove it to a store | [`Config::exclusive`], [`Leadership::token`], [`Leadership::check`] |
//! | hold names, any number of them | [`Member::election`], [`client::Leadership`]; [`Member::session`] for what an agent does |
//! | change who votes | [`Member::change_members`], [`members`] |
//! | hold names through an agent, from a process beside it | [`Client`], [`client`] |
//! | test your own code, with a cluster in memory and virtual time | [`testing`] |
//! | give leadership away | [`Leadership::resign`], [`Member::resign`], [`Member::transfer`], [`Member::leave`] |
//!
//! **What you may rely on**: every set of members that can reach each other has one announced leader, and every leadership
//! has an epoch above all that its members had seen. While a network is split, each side may have a leader. See
//! [`proto::leadership`] for the epoch, and [`Protocol::spec`] for what each algorithm promises.
//!
//! The pure state machines of `bellwether-proto` do the work, and are here as [`proto`]. A program with a transport of its
//! own drives [`proto::node::Node`] itself; `examples/udp_cluster.rs` is a complete driver over UDP.

#![forbid(unsafe_code)]

mod alarm;
pub mod arbiter;
mod backoff;
mod board;
pub mod client;
mod clock;
mod command;
mod config;
mod disk;
mod driver;
pub mod elections;
mod error;
mod history;
mod links;
pub mod member;
pub mod members;
mod pulse;
mod random;
mod recorder;
pub mod reorganization;
mod shared;
pub mod status;
mod store;
mod tenure;
pub mod testing;
mod tied;
pub mod tls;
mod transport;
mod uptime;
mod validity;
mod votes;

pub use bellwether_proto as proto;

pub use backoff::Backoff;
pub use client::Client;
pub use config::{BadConfig, Config, Drift, Exclusive, GrantKind, Mode, OnLost, Overrun, Peers, Percent};
pub use error::{Ended, Expired, JoinError, Refused, StateError};
pub use member::{Leadership, Member};
pub use proto::election::Protocol;
pub use proto::ident::NodeId;
pub use status::{Change, Leader, Status};
pub use tls::Identity;
