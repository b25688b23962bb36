//! `bellwether lab [FILE…]`: the laboratory in a browser. The page is served from here, and whatever it shows is computed here, by
//! the simulator.
//!
//! | file | what |
//! |---|---|
//! | `http.rs` | the paths, and who is answered |
//! | `examples.rs` | the scenarios to begin with |
//! | `runs.rs` | runs: playing, keeping and describing them |
//! | `reel.rs` | a run as bytes that a page draws from |
//! | `branch.rs` | a scenario in which one thing more happens |
//! | `searches.rs` | searches for a broken promise, in the background |
//! | `tour.rs` | the lessons |
//! | `refusal.rs` | why a request is not met |

mod branch;
mod examples;
mod http;
mod reel;
mod refusal;
mod runs;
mod searches;
mod tour;

use std::path::Path;
use std::sync::Arc;

use bellwether_sim::scenario::Overrides;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::Notify;

use super::sim::read;
use crate::Status;
use crate::args::lab::LabArgs;
use crate::output::Printer;
use crate::signals::when_asked_to_end;
use crate::trouble::Trouble;
use examples::Example;

pub(crate) fn run(args: &LabArgs, out: &Printer) -> Status {
    serve(args, out).unwrap_or_else(|trouble| trouble.told(out))
}

fn serve(args: &LabArgs, out: &Printer) -> Result<Status, Trouble> {
    let files = args.files.iter().map(|path| example(path)).collect::<Result<Vec<_>, _>>()?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Trouble::failed(format!("cannot start: {error}")))?;
    let end = Arc::new(Notify::new());
    let asked = Arc::clone(&end);
    when_asked_to_end(move || asked.notify_one()).map_err(Trouble::failed)?;
    let served = runtime.block_on(async {
        let bound = TcpListener::bind(args.listen).await;
        let listener =
            bound.map_err(|error| Trouble::failed(format!("cannot listen at {}: {error}", args.listen)))?;
        let at = listener.local_addr().map_err(|error| Trouble::failed(error.to_string()))?;
        out.line(format_args!("The laboratory is at http://{at}/   (Ctrl-C ends it)"));
        let app = http::app(examples::all(files));
        tokio::select! {
            served = axum::serve(listener, app) => served.map_err(|error| Trouble::failed(error.to_string())),
            () = end.notified() => Ok(()),
        }
    });
    // A search that goes on is not waited for.
    runtime.shutdown_background();
    served.map(|()| Status::Done)
}

/// A file that was named must be a scenario.
fn example(path: &Path) -> Result<Example, String> {
    read::one(path, &Overrides::default())?;
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: cannot be read: {error}"))?;
    Ok(Example { name: shown.to_string(), text: text.into() })
}
