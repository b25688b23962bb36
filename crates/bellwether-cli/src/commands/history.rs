//! `bellwether history`: the changes of leader, with their causes.

use std::time::Duration;

use crate::Status;
use crate::args::agent::HistoryArgs;
use crate::client::{Client, Failure, understand, words};
use crate::duration::rough;
use crate::layout::{Column, table};
use crate::output::Printer;
use crate::schema::{Change, Group, History};

const COLUMNS: [Column; 6] = [
    Column::Number("no"),
    Column::Whole("time (UTC)"),
    Column::Number("leader"),
    Column::Number("epoch"),
    Column::Number("lasted"),
    Column::Text("why"),
];

/// Groups have no time. Their parents say which came from which.
const GROUP_COLUMNS: [Column; 4] = [
    Column::Whole("group"),
    Column::Number("coordinator"),
    Column::Text("members"),
    Column::Text("came from"),
];

pub(crate) fn run(args: &HistoryArgs, out: &Printer) -> Status {
    match ask(args, out) {
        Ok(()) => Status::Done,
        Err(failure) => failure.report(out),
    }
}

fn ask(args: &HistoryArgs, out: &Printer) -> Result<(), Failure> {
    let answer = Client::new(&args.api).get("/v1/history")?;
    if args.api.json {
        out.line(&answer);
        return Ok(());
    }
    let all: History = understand(answer)?;
    if all.changes.is_empty() {
        out.line("nothing has happened yet");
    } else {
        out.line(table(&COLUMNS, rows(&all.changes)));
    }
    if !all.groups.is_empty() {
        out.line("");
        out.line(table(&GROUP_COLUMNS, all.groups.iter().map(group_cells).collect()));
    }
    Ok(())
}

fn group_cells(group: &Group) -> Vec<String> {
    vec![
        group.group.clone(),
        group.coordinator.to_string(),
        words::ids(&group.members),
        words::parents(group),
    ]
}

fn rows(changes: &[Change]) -> Vec<Vec<String>> {
    let ends = changes.iter().skip(1).map(|next| Some(next.at_us)).chain([None]);
    changes.iter().zip(ends).map(|(change, end)| cells(change, end)).collect()
}

fn cells(change: &Change, end: Option<u64>) -> Vec<String> {
    let lasted = match end {
        Some(end) => Duration::from_micros(end.saturating_sub(change.at_us)),
        None => words::since(change.at_us),
    };
    vec![
        change.no.to_string(),
        words::date_and_time(&change.at),
        change.leader.map_or_else(|| "-".to_owned(), |id| id.to_string()),
        change.epoch.to_string(),
        rough(lasted),
        change.cause.text.clone(),
    ]
}
