//! `bellwether resign`: the leader goes aside.

use serde_json::{Value, json};

use crate::Status;
use crate::args::agent::ResignArgs;
use crate::client::answer::Leader;
use crate::client::{Client, Failure, understand, words};
use crate::output::Printer;

pub(crate) fn run(args: &ResignArgs, out: &Printer) -> Status {
    match ask(args, out) {
        Ok(()) => Status::Done,
        Err(failure) => failure.report(out),
    }
}

fn ask(args: &ResignArgs, out: &Printer) -> Result<(), Failure> {
    let answer = Client::new(&args.api).with_token(&args.token)?.post("/v1/resign", &body(args))?;
    if args.api.json {
        out.line(&answer);
    } else {
        let leader: Leader = understand(answer)?;
        out.line(words::leads(&leader));
    }
    Ok(())
}

fn body(args: &ResignArgs) -> Value {
    match args.hold {
        Some(hold) => json!({"hold": format!("{}us", hold.as_micros())}),
        None if args.until_told => json!({"hold": "until-told"}),
        None if args.end => json!({"end": true}),
        None => json!({}),
    }
}
