//! `bellwether demo rain`: workers compute a picture and lose some of their number, and nothing of the picture.
//!
//! | file | what |
//! |---|---|
//! | `request.rs` | what was asked, found possible |
//! | `setup.rs` | the workers' files, and their command lines |
//! | `worker.rs`, `views.rs` | a worker's process: an agent, the application beside it, and what one tells the other |
//! | `happening.rs` | what happens, for people and for machines |
//! | `model.rs`, `watch.rs`, `force.rs`, `effort.rs` | what is known of it, whether it goes on, if not why, and what it took |
//! | `script.rs` | what befalls the workers, and when |
//! | `show.rs`, `board.rs` | how it goes, and how it looks |
//! | `tries.rs`, `summary.rs` | when the picture is put together, and what it came to |

mod board;
mod effort;
mod force;
mod happening;
mod model;
mod request;
mod script;
mod setup;
mod show;
mod summary;
mod tries;
mod views;
mod watch;
pub(super) mod worker;

use crate::Status;
use crate::args::demo::RainArgs;
use crate::output::Printer;
use request::Request;

pub(super) fn run(args: &RainArgs, out: &Printer) -> Status {
    let request = match Request::check(args) {
        Ok(request) => request,
        Err(trouble) => return trouble.told(out),
    };
    match show::play(&request, out) {
        Ok(status) => status,
        Err(trouble) => trouble.told(out),
    }
}
