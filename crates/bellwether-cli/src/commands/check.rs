//! `bellwether check`: does an algorithm keep its promises? Searched at random (`search.rs`), or judged from what nodes
//! recorded (`trace.rs`).

mod search;
mod trace;

use crate::Status;
use crate::args::check::CheckArgs;
use crate::output::Printer;

pub(crate) fn run(args: &CheckArgs, out: &Printer) -> Status {
    if !args.trace.is_empty() {
        return trace::run(args, out);
    }
    if args.search.exhaustive {
        out.error("--exhaustive is not in this version, expected a search at random");
        return Status::BadInput;
    }
    search::run(args, out)
}
