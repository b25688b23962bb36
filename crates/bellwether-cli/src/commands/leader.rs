//! `bellwether leader`: who leads. The exit code is the answer for scripts.

use serde_json::Value;

use crate::Status;
use crate::args::agent::LeaderArgs;
use crate::client::{Client, Failure, understand};
use crate::output::Printer;
use crate::schema::{Leader, Standing, Status as Answer};

pub(crate) fn run(args: &LeaderArgs, out: &Printer) -> Status {
    match ask(args, out) {
        Ok(true) => Status::Done,
        Ok(false) => Status::No,
        Err(failure) => failure.report(out),
    }
}

/// Whether there is a leader; with `--is-me`, whether it is the agent that was asked.
fn ask(args: &LeaderArgs, out: &Printer) -> Result<bool, Failure> {
    let client = Client::new(&args.api);
    let (answer, leader, yes): (Value, Leader, bool) = if args.is_me {
        let answer = client.get("/v1/status")?;
        let status: Answer = understand(answer.clone())?;
        (answer, status.leader, status.standing == Standing::Leading)
    } else {
        let answer = client.get("/v1/leader")?;
        let leader: Leader = understand(answer.clone())?;
        let known = leader.leader.is_some();
        (answer, leader, known)
    };
    match (args.api.json, leader.leader, leader.epoch) {
        (true, ..) => out.line(answer),
        (false, Some(id), Some(epoch)) => out.line(format_args!("{id} (epoch {epoch})")),
        (false, ..) => out.line("none"),
    }
    Ok(yes)
}
