//! Exclusive leadership: at most one holder of a name at a time, and a token that grows for ever.
//!
//! ```text
//!   agents ── Campaign, Release ──► coordinator (whom the election nominates) ── Prepare, Read, Write, Bury ──► voters
//!     ▲ │                                    │                                                                 ▲
//!     │ └──────────────── Renew, Dead? ──────┼─────────────────────────────────────────────────────────────────┘
//!     └──────────────── Held ◄───────────────┘
//! ```
//!
//! - [`voter`]: promises, registers and leases, on disk before they are told.
//! - [`register`]: the proposer's side of one name. [`contest`]: who would hold it. [`burial`]: how a lease comes to be dead.
//!   [`coordinator`]: all names.
//! - [`tenant`]: an agent's lease. [`campaigns`]: what it would hold.
//! - [`configuration`]: who votes. [`membership`]: how that may change. [`electorate`]: who counts in a ballot. [`sweep`]: how a change is settled.
//!   `petition`: a change that a program asked for.
//! - [`order`]: what programs ask for, and are told.
//! - [`grant`], [`ident`], [`terms`], [`message`]: what is spoken of.
//!
//! **A name changes hands only if its holder released it, or if the holder's lease is dead. A lease is dead when a majority of the
//! voters has said so, each after its own timer, and then it is dead for ever.**
//!

pub mod burial;
pub mod campaigns;
pub mod configuration;
pub mod contest;
pub mod coordinator;
pub mod electorate;
pub mod grant;
pub mod ident;
mod layer;
pub mod membership;
pub mod message;
pub mod order;
mod petition;
pub mod register;
pub mod sweep;
pub mod tenant;
pub mod terms;
pub mod voter;

pub(crate) use layer::{Action, Exclusive};
pub use layer::{ExclusiveConfig, Vote};
