//! `bellwether demo`: a cluster that does something.

mod rain;
mod writer;

use crate::Status;
use crate::args::demo::{DemoArgs, DemoCommand};
use crate::output::Printer;

pub(crate) fn run(args: &DemoArgs, out: &Printer) -> Status {
    match &args.command {
        DemoCommand::Rain(args) => rain::run(args, out),
        DemoCommand::RainWorker(args) => rain::worker::run(args, out),
        DemoCommand::Writer(args) => writer::run(args, out),
        DemoCommand::Pen(args) => writer::pen::run(args, out),
    }
}
