//! Real agents: processes, sockets, certificates, disks.

#[path = "../cluster/cluster.rs"]
mod cluster;

mod commands;
mod http;
mod process;
mod up;
mod watch;
