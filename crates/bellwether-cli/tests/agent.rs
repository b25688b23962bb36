//! Real agents: processes, sockets, certificates, disks.

mod commands;
mod hooks;
mod http;
mod process;
mod reload;
mod up;
mod watch;
