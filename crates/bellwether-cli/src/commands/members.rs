//! `bellwether members`: the members of a cluster, as one of them sees them, and changes of who votes.

mod change;

use std::time::Duration;

use crate::Status;
use crate::args::members::MembersArgs;
use crate::client::{Client, Failure, understand};
use crate::duration::rough;
use crate::layout::{Column, table};
use crate::output::Printer;
use crate::schema::{Configuration, Member, Members};

const COLUMNS: [Column; 7] = [
    Column::Number("id"),
    Column::Whole("address"),
    Column::Text("link"),
    Column::Whole("vote"),
    Column::Number("incarnation"),
    Column::Number("heard"),
    Column::Whole(""),
];

pub(crate) fn run(args: &MembersArgs, out: &Printer) -> Status {
    let done = match &args.change {
        None => list(args, out),
        Some(change) => change::run(change, out),
    };
    match done {
        Ok(()) => Status::Done,
        Err(failure) => failure.report(out),
    }
}

fn list(args: &MembersArgs, out: &Printer) -> Result<(), Failure> {
    let answer = Client::new(&args.api).get("/v1/members")?;
    if args.api.json {
        out.line(&answer);
    } else {
        let all: Members = understand(answer)?;
        out.line(table(&COLUMNS, all.members.iter().map(cells).collect()));
        if let Some(configuration) = &all.configuration {
            tell(configuration, out);
        }
    }
    Ok(())
}

/// Who votes, and what is unwise about that.
fn tell(configuration: &Configuration, out: &Printer) {
    out.line(configuration.in_words());
    let cautions = [configuration.caution(), configuration.warning.clone()];
    cautions.into_iter().flatten().for_each(|caution| out.line(format_args!("warning: {caution}")));
}

fn cells(member: &Member) -> Vec<String> {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let link = match &member.reason {
        Some(reason) => format!("{}: {reason}", member.link),
        None => member.link.clone(),
    };
    let mark = match (member.is_self, member.is_leader) {
        (true, true) => "you, leader",
        (true, false) => "you",
        (false, true) => "leader",
        (false, false) => "",
    };
    vec![
        or_dash(member.id.map(|id| id.to_string())),
        member.address.clone(),
        link,
        vote(member).to_owned(),
        or_dash(member.incarnation.map(|incarnation| incarnation.to_string())),
        or_dash(member.heard_us.map(|us| format!("{} ago", rough(Duration::from_micros(us))))),
        mark.to_owned(),
    ]
}

fn vote(member: &Member) -> &'static str {
    match (member.voter, member.witness) {
        (None, _) => "-",
        (Some(false), _) => "no",
        (Some(true), Some(true)) => "witness",
        (Some(true), _) => "yes",
    }
}
