//! Algorithms side by side: cost, failover, and stability in between.
//!
//! - [`Campaign`]: on a user's own figures, in clusters of several sizes (`campaign.rs`).
//! - [`Staged`]: in one scenario (`staged.rs`).
//!
//! Either gives a [`Row`] for each algorithm and size, the same whatever the number of threads.

mod campaign;
mod row;
mod staged;
#[cfg(test)]
mod tests;

pub use campaign::{Campaign, Times};
pub use row::{Judged, Row};
pub use staged::{Misfit, Staged};
