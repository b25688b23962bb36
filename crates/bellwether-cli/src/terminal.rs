//! A terminal, or a pipe instead.
//!
//! | file | what |
//! |---|---|
//! | `notes.rs` | news, in order |
//! | `line.rs` | lines, and how they are styled |
//! | `screen.rs` | draws a board on the terminal, or prints news to a pipe |
//! | `typed.rs` | which keys are pressed |

pub(crate) mod line;
pub(crate) mod notes;
pub(crate) mod screen;
pub(crate) mod typed;
