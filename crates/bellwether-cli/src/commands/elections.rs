//! `bellwether elections`: the named elections, as one agent knows them.

use crate::Status;
use crate::args::elections::{DeleteArgs, ElectionsArgs, ElectionsCommand};
use crate::client::{Client, Failure, encoded, understand, words};
use crate::layout::{Column, table};
use crate::output::Printer;
use crate::schema::elections::{Election, Elections};

const COLUMNS: [Column; 7] = [
    Column::Whole("name"),
    Column::Whole("kind"),
    Column::Number("token"),
    Column::Whole("holder"),
    Column::Number("waiting"),
    Column::Whole("since (UTC)"),
    Column::Text("value"),
];

/// So many are asked for at once.
const PAGE: u64 = 1000;

pub(crate) fn run(args: &ElectionsArgs, out: &Printer) -> Status {
    let done = match &args.change {
        None => list(args, out),
        Some(ElectionsCommand::Delete(args)) => delete(args, out),
    };
    match done {
        Ok(()) => Status::Done,
        Err(failure) => failure.report(out),
    }
}

/// Page by page, as many as were asked for.
fn list(args: &ElectionsArgs, out: &Printer) -> Result<(), Failure> {
    let client = Client::new(&args.api);
    let (mut left, mut after, mut all) = (args.limit.unwrap_or(u64::MAX), args.after.clone(), Vec::new());
    loop {
        let after_it = after.map_or_else(String::new, |name| format!("&after={}", encoded(&name)));
        let answer = client.get(&format!("/v1/elections?limit={}{after_it}", left.min(PAGE)))?;
        if args.api.json {
            out.line(&answer);
        }
        let page: Elections = understand(answer)?;
        left -= left.min(page.elections.len() as u64);
        all.extend(page.elections);
        after = page.next.filter(|_| left > 0);
        if after.is_none() {
            break;
        }
    }
    if !args.api.json {
        out.line(table(&COLUMNS, all.iter().map(cells).collect()));
    }
    Ok(())
}

fn cells(election: &Election) -> Vec<String> {
    vec![
        election.name.clone(),
        election.kind.clone(),
        election.token.to_string(),
        holder(election),
        election.waiting.to_string(),
        words::date_and_time(&election.since),
        election.value.clone(),
    ]
}

/// `node 3, session 7`
pub(super) fn holder(election: &Election) -> String {
    match election.holder {
        None => "nobody".to_owned(),
        Some(holder) if holder.session == 0 => format!("node {}", holder.node),
        Some(holder) => format!("node {}, session {}", holder.node, holder.session),
    }
}

fn delete(args: &DeleteArgs, out: &Printer) -> Result<(), Failure> {
    let client = Client::new(&args.api).with_token(&args.token)?;
    let answer = client.delete(&format!("/v1/elections/{}", encoded(&args.name)))?;
    if args.api.json {
        out.line(&answer);
    } else {
        out.line(format_args!("\"{}\" is deleted", args.name));
    }
    Ok(())
}
