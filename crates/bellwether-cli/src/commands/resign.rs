//! `bellwether resign`: the leader goes aside.

use crate::Status;
use crate::args::agent::ResignArgs;
use crate::client::{Client, Failure, understand, words};
use crate::output::Printer;
use crate::schema::{Leader, Resign, UNTIL_TOLD};

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

fn body(args: &ResignArgs) -> Resign {
    let until_told = args.until_told.then(|| UNTIL_TOLD.to_owned());
    let hold = args.hold.map(|hold| format!("{}us", hold.as_micros()));
    Resign { hold: hold.or(until_told), end: args.end }
}
