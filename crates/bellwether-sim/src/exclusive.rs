//! Search of the machines of exclusive leadership: voters, coordinators and agents, with every order of messages, and with faults.
//!
//! A [`Model`] is the very machines that ship ([`bellwether_proto::exclusive`]), put together as a node puts them together, with
//! what is between them: messages under way, disks that write behind, clocks.
//!
//! - **Messages** arrive in any order, or never. One arrives twice within a budget. What is sent again while it is under way is
//!   under way once.
//! - **Time** passes for all alike, in ticks. A machine whose deadline has passed is woken at any time from then on: late wake-ups
//!   are pauses. In walks, each process may have a clock of its own ([`Clocks`]).
//! - **Crashes** lose memory and what is not on disk yet. A process is back at once, as another life: to be down is to hear nothing,
//!   and that is in the order of messages already. An amnesiac is back with an empty store; a forgetful node, with an incarnation
//!   that it had before.
//! - **Judges** ([`Promise`]) look at what is on disks and at what agents believe, in every state. They know nothing of machines:
//!   `ledger.rs` and `holders.rs` could judge a trace as well.
//!
//! [`search`] looks at every state within the budgets; [`walk`] takes steps at random, and [`follow`] a few between the parts of a
//! course that leads to where something could go wrong. All tell a violation as a list of steps.
//! [`studies`] has the models that are searched, with their bounds. [`Meddle`] is how a test plants a bug between the machines.

mod agents;
mod clocks;
mod coordinators;
pub mod courses;
mod holders;
mod ledger;
mod lull;
mod meddle;
mod model;
mod net;
mod pace;
mod post;
mod promise;
mod search;
mod setting;
mod settle;
mod shared;
mod sights;
mod step;
pub mod studies;
mod voters;
mod walk;
mod words;

pub use clocks::{Clock, Clocks};
pub use lull::{Hears, Lull};
pub use meddle::{Honest, Meddle};
pub use model::Model;
pub use net::Envelope;
pub use promise::{Breach, Promise};
pub use search::{Explored, Extent, search};
pub use setting::{Budget, Disk, Setting};
pub use sights::Sights;
pub use step::Step;
pub use walk::{Trod, Violation, Walker, follow, replay, retrace, walk};
