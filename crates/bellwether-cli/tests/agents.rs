//! Real agents in one binary, all on the harness in `cluster`.

mod agent;
mod clients;
#[path = "cluster/cluster.rs"]
mod cluster;
mod demo;
mod exclusive;
mod faults;
mod refused;
mod security;
