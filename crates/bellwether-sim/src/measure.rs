//! What the algorithms cost and deliver, measured in runs.
//!
//! - [`compare`]: algorithms side by side, in a scenario or on a user's own figures of latency and loss.
//! - [`omega`]: every eventual leader protocol in every model: does it converge, when, and what does it then send.
//! - [`families`]: the messages that a leader's crash costs, by when the survivors notice.
//! - [`churn`]: an hour in which nodes restart at random: how often leaders change, and how often without need.
//! - [`failover`]: how long a cluster is without its leader after a crash.
//!
//! All but `omega` and `families` look at a run in the same way (`observer.rs`, `leadership.rs`).

pub mod churn;
pub mod compare;
pub mod failover;
pub mod families;
pub mod faults;
pub mod figures;
mod leadership;
pub mod observer;
pub mod omega;
mod parallel;
