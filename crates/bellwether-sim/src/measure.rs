//! What the algorithms cost and deliver, measured in runs: never quoted.
//!
//! - [`compare`]: algorithms side by side, in a scenario or on a user's own figures of latency and loss.
//! - [`omega`]: every eventual leader protocol in every model: does it converge, when, and what does it then send.
//! - [`churn`]: an hour in which nodes restart at random: how often leaders change, and how often without need.
//! - [`failover`]: how long a cluster is without its leader after a crash.
//!
//! All but `omega` look at a run in the same way (`observer.rs`, `leadership.rs`).

pub mod churn;
pub mod compare;
pub mod failover;
pub mod faults;
pub mod figures;
mod leadership;
pub mod observer;
pub mod omega;
mod parallel;
