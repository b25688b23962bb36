//! `bellwether transfer`: the leader hands over to another.

use super::resign::show;
use crate::Status;
use crate::args::agent::TransferArgs;
use crate::client::{Client, Failure, encoded, understand, words};
use crate::output::Printer;
use crate::schema::elections::TransferElection;
use crate::schema::{Leader, Transfer};

pub(crate) fn run(args: &TransferArgs, out: &Printer) -> Status {
    match ask(args, out) {
        Ok(()) => Status::Done,
        Err(failure) => failure.report(out),
    }
}

fn ask(args: &TransferArgs, out: &Printer) -> Result<(), Failure> {
    let client = Client::new(&args.api).with_token(&args.token)?;
    let to =
        args.node.or(args.to).ok_or_else(|| Failure::BadInput("found no member, expected one".to_owned()))?;
    if let Some(name) = &args.name {
        let asked = TransferElection { to, token: None };
        let answer = client.post(&format!("/v1/elections/{}/transfer", encoded(name)), &asked)?;
        return show(answer, args.api.json, out);
    }
    let answer = client.post("/v1/transfer", &Transfer { to })?;
    if args.api.json {
        out.line(&answer);
    } else {
        let leader: Leader = understand(answer)?;
        out.line(words::leads(&leader));
    }
    Ok(())
}
