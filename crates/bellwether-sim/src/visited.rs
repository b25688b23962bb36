//! Which states a search has seen, and how it came to each: a few bytes per state.

mod log;
mod table;

pub(crate) use log::Log;
pub(crate) use table::Table;
