//! `bellwether watch`: changes of leader, as they happen.

use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::Status;
use crate::args::agent::WatchArgs;
use crate::client::events::{Event, Events};
use crate::client::{Client, Failure, understand, words};
use crate::output::Printer;
use crate::schema::{Change, Leader};

/// How long to wait before an agent that was lost is asked again.
const PAUSE: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &WatchArgs, out: &Printer) -> Status {
    let client = Client::new(&args.api);
    // An agent that never answered is an error; one that is lost is waited for.
    match client.watch(args.after) {
        Ok(events) => follow(args, &client, events, out),
        Err(failure) => failure.report(out),
    }
}

fn follow(args: &WatchArgs, client: &Client, mut events: Events, out: &Printer) -> Status {
    let mut watch = Watch { args, out, seen: args.after, changes: 0, greeted: args.after.is_some() };
    loop {
        match watch.take(&mut events) {
            Ok(true) => return Status::Done,
            Ok(false) => {}
            Err(failure) => return failure.report(out),
        }
        out.progress("the agent is lost; asking again …");
        events = again(client, watch.seen);
        out.progress_done();
    }
}

fn again(client: &Client, seen: Option<u64>) -> Events {
    loop {
        thread::sleep(PAUSE);
        if let Ok(events) = client.watch(seen) {
            return events;
        }
    }
}

struct Watch<'a> {
    args: &'a WatchArgs,
    out: &'a Printer,
    /// The last change that was seen.
    seen: Option<u64>,
    /// How many were.
    changes: u64,
    greeted: bool,
}

impl Watch<'_> {
    /// Prints events until enough were seen (true) or the agent is lost (false).
    fn take(&mut self, events: &mut Events) -> Result<bool, Failure> {
        while let Ok(Some(event)) = events.next() {
            self.seen = event.id.or(self.seen);
            self.print(&event)?;
            if self.out.is_closed() || self.args.count.is_some_and(|count| self.changes >= count) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn print(&mut self, event: &Event) -> Result<(), Failure> {
        self.changes += u64::from(event.name == "change");
        if self.args.api.json {
            self.out.line(&event.data);
            return Ok(());
        }
        let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        if event.name == "change" {
            let change: Change = understand(data)?;
            self.out.line(format_args!("{}  {}", words::date_and_time(&change.at), words::change(&change)));
        } else if !self.greeted {
            self.greeted = true;
            let leader: Leader = understand(data)?;
            let since = leader.since.as_deref().map(words::date_and_time);
            self.out.line(format_args!("{:<23}  {}", since.unwrap_or_default(), words::leads(&leader)));
        }
        Ok(())
    }
}
