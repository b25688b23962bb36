//! One file for each command.

pub(crate) mod protocols;
pub(crate) mod sim;
pub(crate) mod up;
