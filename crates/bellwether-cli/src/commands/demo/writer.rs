//! `bellwether demo writer`: whoever leads writes numbered lines through a store that checks tokens. Leaders are killed and
//! stopped, and the file never goes backwards.
//!
//! | file | what |
//! |---|---|
//! | `wire.rs`, `entry.rs` | what is asked of the store and answered; a line of its file |
//! | `store.rs` | the store: it refuses a token smaller than the largest that it has seen |
//! | `pen.rs` | a writer's process: an agent, and what writes while it leads |
//! | `script.rs` | what happens to the writers, and when |
//! | `happening.rs`, `model.rs` | events, for people and for programs; the state of writers and file |
//! | `show.rs`, `board.rs` | the course of the demo, and its screen |
//! | `judge.rs`, `summary.rs` | what the file proves, and the summary |

mod board;
mod entry;
mod happening;
mod judge;
mod model;
pub(super) mod pen;
mod script;
mod show;
mod store;
mod summary;
mod wire;

use crate::Status;
use crate::args::demo::WriterArgs;
use crate::output::Printer;

pub(super) fn run(args: &WriterArgs, out: &Printer) -> Status {
    match show::play(args, out) {
        Ok(status) => status,
        Err(trouble) => trouble.told(out),
    }
}
