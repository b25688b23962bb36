//! `bellwether transfer`: the leader hands over to another.

use crate::Status;
use crate::args::agent::TransferArgs;
use crate::client::{Client, Failure, understand, words};
use crate::output::Printer;
use crate::schema::{Leader, Transfer};

pub(crate) fn run(args: &TransferArgs, out: &Printer) -> Status {
    match ask(args, out) {
        Ok(()) => Status::Done,
        Err(failure) => failure.report(out),
    }
}

fn ask(args: &TransferArgs, out: &Printer) -> Result<(), Failure> {
    let client = Client::new(&args.api).with_token(&args.token)?;
    let answer = client.post("/v1/transfer", &Transfer { to: args.to })?;
    if args.api.json {
        out.line(&answer);
    } else {
        let leader: Leader = understand(answer)?;
        out.line(words::leads(&leader));
    }
    Ok(())
}
