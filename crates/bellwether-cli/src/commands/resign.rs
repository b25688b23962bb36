//! `bellwether resign`: the leader goes aside.

use serde_json::Value;

use super::elections::holder;
use crate::Status;
use crate::args::agent::ResignArgs;
use crate::client::{Client, Failure, encoded, understand, words};
use crate::output::Printer;
use crate::schema::elections::{Election, ResignElection};
use crate::schema::{Leader, Resign, UNTIL_TOLD};

pub(crate) fn run(args: &ResignArgs, out: &Printer) -> Status {
    match ask(args, out) {
        Ok(()) => Status::Done,
        Err(failure) => failure.report(out),
    }
}

fn ask(args: &ResignArgs, out: &Printer) -> Result<(), Failure> {
    if let Some(name) = &args.name {
        let client = Client::new(&args.api).with_token(&args.token)?;
        let answer =
            client.post(&format!("/v1/elections/{}/resign", encoded(name)), &ResignElection::default())?;
        return show(answer, args.api.json, out);
    }
    let answer = Client::new(&args.api).with_token(&args.token)?.post("/v1/resign", &body(args))?;
    if args.api.json {
        out.line(&answer);
    } else {
        let leader: Leader = understand(answer)?;
        out.line(words::leads(&leader));
    }
    Ok(())
}

/// Who holds an election after it was given back.
pub(super) fn show(answer: Value, json: bool, out: &Printer) -> Result<(), Failure> {
    if json {
        out.line(&answer);
    } else {
        let election: Election = understand(answer)?;
        out.line(format_args!("{} holds \"{}\", token {}", holder(&election), election.name, election.token));
    }
    Ok(())
}

fn body(args: &ResignArgs) -> Resign {
    let until_told = args.until_told.then(|| UNTIL_TOLD.to_owned());
    let hold = args.hold.map(|hold| format!("{}us", hold.as_micros()));
    Resign { hold: hold.or(until_told), end: args.end }
}
