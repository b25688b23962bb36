//! What the algorithms cost and deliver, measured in runs: never quoted.
//!
//! - [`omega`]: every eventual leader protocol in every model: does it converge, when, and what does it then send.
//! - [`churn`]: an hour in which nodes restart at random: how often leaders change, and how often without need.
//! - [`failover`]: how long a cluster is without its leader after a crash.

pub mod churn;
pub mod failover;
mod leadership;
pub mod omega;
