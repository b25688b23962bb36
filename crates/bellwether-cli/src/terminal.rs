//! A person at a terminal, or a pipe in its place.
//!
//! | file | what |
//! |---|---|
//! | `notes.rs` | what there is to tell, in order |
//! | `line.rs` | lines, and how they stand out |
//! | `screen.rs` | how a board gets onto the terminal, or the news into the pipe |
//! | `typed.rs` | which keys are pressed |

pub(crate) mod line;
pub(crate) mod notes;
pub(crate) mod screen;
pub(crate) mod typed;
