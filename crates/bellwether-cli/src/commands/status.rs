//! `bellwether status`: how things are, as one agent sees them.

use crate::Status;
use crate::args::agent::StatusArgs;
use crate::client::answer::Status as Answer;
use crate::client::{Client, Failure, understand, words};
use crate::duration::rough;
use crate::layout::hanging;
use crate::output::Printer;

pub(crate) fn run(args: &StatusArgs, out: &Printer) -> Status {
    match ask(args, out) {
        Ok(()) => Status::Done,
        Err(failure) => failure.report(out),
    }
}

fn ask(args: &StatusArgs, out: &Printer) -> Result<(), Failure> {
    let answer = Client::new(&args.api).get("/v1/status")?;
    if args.api.json {
        out.line(&answer);
    } else {
        print(&understand(answer)?, out);
    }
    Ok(())
}

fn print(status: &Answer, out: &Printer) {
    let entry = |label: &str, text: &str| out.line(hanging(&format!("{label:<10}"), text));
    let up = rough(words::since(status.up_since_us));
    let who = |leader: Option<u32>| leader.map_or_else(|| "nobody".to_owned(), |id| format!("node {id}"));
    entry("node", &format!("{}, up {up}", status.node));
    entry("life", &status.incarnation.to_string());
    entry("cluster", &status.cluster);
    entry("protocol", &status.protocol);
    entry("mode", &status.mode);
    entry("", &status.guarantee);
    entry("standing", &status.standing);
    if let Some(group) = &status.group {
        entry("group", &words::group(group));
    }
    entry("leader", &who(status.leader.leader));
    entry("epoch", &status.leader.epoch.map_or_else(|| "-".to_owned(), |epoch| epoch.to_string()));
    let since = status.leader.since.as_deref().zip(status.leader.since_us);
    entry(
        "since",
        &since.map_or_else(
            || "-".to_owned(),
            |(at, us)| format!("{} UTC, {}", words::date_and_time(at), words::ago(us)),
        ),
    );
}
