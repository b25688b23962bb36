//! `bellwether observe`: what becomes of a named election.

use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::elections::holder;
use crate::Status;
use crate::args::elections::ObserveArgs;
use crate::client::events::Events;
use crate::client::{Client, Failure, encoded, understand, words};
use crate::output::Printer;
use crate::schema::elections::Election;

/// How long to wait before an agent that was lost is asked again.
const PAUSE: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &ObserveArgs, out: &Printer) -> Status {
    let client = Client::new(&args.api);
    // An agent that never answered is an error; one that is lost is waited for.
    match open(args, &client).and_then(|events| follow(args, &client, events, out)) {
        Ok(()) => Status::Done,
        Err(failure) => failure.report(out),
    }
}

fn open(args: &ObserveArgs, client: &Client) -> Result<Events, Failure> {
    client.follow(&format!("/v1/elections/{}/watch", encoded(&args.name)))
}

fn follow(args: &ObserveArgs, client: &Client, mut events: Events, out: &Printer) -> Result<(), Failure> {
    let mut shown = Shown { args, out, changes: 0, last: None };
    loop {
        while let Ok(Some(event)) = events.next() {
            shown.show(&event.name, &event.data)?;
            if out.is_closed() || args.count.is_some_and(|count| shown.changes >= count) {
                return Ok(());
            }
        }
        out.progress("the agent is lost; asking again …");
        events = loop {
            thread::sleep(PAUSE);
            if let Ok(events) = open(args, client) {
                break events;
            }
        };
        out.progress_done();
    }
}

struct Shown<'a> {
    args: &'a ObserveArgs,
    out: &'a Printer,
    changes: u64,
    /// What was printed last. An agent that comes back tells how it stands.
    last: Option<String>,
}

impl Shown<'_> {
    fn show(&mut self, event: &str, data: &str) -> Result<(), Failure> {
        let said: Value = serde_json::from_str(data).unwrap_or_default();
        let line = match event {
            "election" => told(&understand(said.clone())?),
            "none" => format!("{:<23}  there is no such election", ""),
            // The stream says that it ends, or what only a newer agent says.
            _ => return Ok(()),
        };
        if self.last.as_ref() == Some(&line) {
            return Ok(());
        }
        self.changes += 1;
        if self.args.api.json {
            self.out.line(&said);
        } else {
            self.out.line(&line);
        }
        self.last = Some(line);
        Ok(())
    }
}

/// `2026-03-01 12:30:00.250  node 3, session 7 holds it, token 5; 2 wait; it says "10.0.0.3:80"`
fn told(election: &Election) -> String {
    let at = words::date_and_time(&election.since);
    let says =
        if election.value.is_empty() { String::new() } else { format!("; it says {:?}", election.value) };
    let waits = match election.waiting {
        0 => String::new(),
        1 => "; 1 waits".to_owned(),
        more => format!("; {more} wait"),
    };
    format!("{at}  {} holds it, token {}{waits}{says}", holder(election), election.token)
}
