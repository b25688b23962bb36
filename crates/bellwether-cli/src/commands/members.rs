//! `bellwether members`: the members of a cluster, as one of them sees them.

use std::time::Duration;

use crate::Status;
use crate::args::agent::MembersArgs;
use crate::client::{Client, Failure, understand};
use crate::duration::rough;
use crate::layout::{Column, table};
use crate::output::Printer;
use crate::schema::{Member, Members};

const COLUMNS: [Column; 6] = [
    Column::Number("id"),
    Column::Whole("address"),
    Column::Text("link"),
    Column::Number("incarnation"),
    Column::Number("heard"),
    Column::Whole(""),
];

pub(crate) fn run(args: &MembersArgs, out: &Printer) -> Status {
    match ask(args, out) {
        Ok(()) => Status::Done,
        Err(failure) => failure.report(out),
    }
}

fn ask(args: &MembersArgs, out: &Printer) -> Result<(), Failure> {
    let answer = Client::new(&args.api).get("/v1/members")?;
    if args.api.json {
        out.line(&answer);
    } else {
        let all: Members = understand(answer)?;
        out.line(table(&COLUMNS, all.members.iter().map(cells).collect()));
    }
    Ok(())
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
        or_dash(member.incarnation.map(|incarnation| incarnation.to_string())),
        or_dash(member.heard_us.map(|us| format!("{} ago", rough(Duration::from_micros(us))))),
        mark.to_owned(),
    ]
}
