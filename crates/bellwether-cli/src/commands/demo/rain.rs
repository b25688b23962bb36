//! `bellwether demo rain`: workers compute a picture. Some of them fail, and nothing of the picture is lost.
//!
//! | file | what |
//! |---|---|
//! | `request.rs` | checks that the request is possible |
//! | `setup.rs` | the workers' files, and their command lines |
//! | `worker.rs`, `views.rs` | a worker's process: an agent, the application beside it, and what one tells the other |
//! | `happening.rs` | events, for people and for programs |
//! | `model.rs`, `watch.rs`, `force.rs`, `effort.rs` | the state of workers and picture, whether work goes on, if not why, and the effort |
//! | `script.rs` | what happens to the workers, and when |
//! | `show.rs`, `board.rs` | the course of the demo, and its screen |
//! | `tries.rs`, `summary.rs` | when the picture is put together, and the summary |

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
