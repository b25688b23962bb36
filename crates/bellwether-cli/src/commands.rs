//! One file for each command.

pub(crate) mod agent;
pub(crate) mod arbiter;
pub(crate) mod campaign;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod elections;
#[cfg(target_os = "linux")]
pub(crate) mod exec;
pub(crate) mod flaws;
pub(crate) mod history;
pub(crate) mod lab;
pub(crate) mod leader;
pub(crate) mod members;
pub(crate) mod observe;
pub(crate) mod protocols;
pub(crate) mod resign;
pub(crate) mod sim;
pub(crate) mod status;
pub(crate) mod tls;
pub(crate) mod transfer;
pub(crate) mod up;
pub(crate) mod watch;
