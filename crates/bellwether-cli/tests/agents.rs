//! Real agents in one binary, all on the harness in `cluster`.

mod agent;
mod browser;
mod clients;
#[path = "cluster/cluster.rs"]
mod cluster;
mod demo;
mod exclusive;
#[cfg(target_os = "linux")]
mod exec;
mod faults;
mod refused;
mod security;
#[cfg(target_os = "linux")]
#[path = "../../bellwether/tests/stand_in/stand_in.rs"]
mod stand_in;
