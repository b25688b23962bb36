//! `bellwether check`: does an algorithm keep its promises? It searches at random (`search.rs`) or state by state
//! (`exhaustive.rs`), or judges recorded traces (`trace.rs`).

mod exhaustive;
mod picture;
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
        return exhaustive::run(args, out);
    }
    if let Some(option) = args.bounds.typed() {
        out.error(format_args!("{option} is a bound of --exhaustive, which is missing"));
        return Status::BadInput;
    }
    search::run(args, out)
}
