//! Real agents: processes, sockets, certificates, disks.

mod commands;
mod http;
mod process;
mod up;
mod watch;
