//! One file for each command.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod protocols;
pub(crate) mod sim;
pub(crate) mod tls;
pub(crate) mod up;
