//! Real agents: processes, sockets, certificates, disks.

mod commands;
mod hooks;
mod http;
mod metrics;
mod process;
mod reload;
mod supervisor;
mod up;
mod watch;
