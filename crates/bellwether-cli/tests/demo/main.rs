//! `bellwether demo rain`: real agents that compute a picture, and are killed while they do.

#[path = "../cluster/cluster.rs"]
mod cluster;

mod disks;
mod rain;
mod run;
