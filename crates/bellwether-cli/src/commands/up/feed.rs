//! The agents' events.

use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use bellwether::Mode;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::fleet::files::Plan;
use crate::fleet::news::News;
use crate::schema::{Change, Right, Status};
use crate::work::spawn;

/// How long to wait before an agent that does not answer is asked again.
const PAUSE: Duration = Duration::from_millis(50);

/// How often an agent is asked for how long it is certain to lead.
const ASK_EVERY: Duration = Duration::from_millis(250);

/// What an agent says.
#[derive(Debug)]
pub(super) enum Said {
    /// How things are, as it sees them.
    Status(Box<Status>),
    /// What changed, as it saw it.
    Change(Box<Change>),
    /// What its exclusive leadership rests on, now.
    Right(Box<Right>),
    /// Nothing any more: it does not answer.
    Nothing,
}

/// Begins to follow every agent.
pub(super) fn follow(plan: &Plan, tell: &Sender<News<Said>>) -> Result<(), String> {
    for node in &plan.nodes {
        let (id, client, to) = (node.id, Client::at(node.api.to_string()), tell.clone());
        if let Mode::Exclusive(_) = plan.mode {
            let (client, to) = (Client::at(node.api.to_string()), tell.clone());
            spawn("ask", move || ask(id, &client, &to))?;
        }
        spawn("watch", move || watch(id, &client, &to))?;
    }
    Ok(())
}

/// Follows one agent, across restarts.
fn watch(id: u32, client: &Client, to: &Sender<News<Said>>) {
    loop {
        if let Ok(mut events) = client.watch(None) {
            while let Ok(Some(event)) = events.next() {
                let said = match event.name.as_str() {
                    "status" => parse(&event.data).map(Said::Status),
                    "change" => parse(&event.data).map(Said::Change),
                    _ => None,
                };
                if said.is_some_and(|said| to.send(News::Said(id, said)).is_err()) {
                    return;
                }
            }
            if to.send(News::Said(id, Said::Nothing)).is_err() {
                return;
            }
        }
        thread::sleep(PAUSE);
    }
}

/// Asks one agent again and again: validity is put off all the time, and that is no event.
fn ask(id: u32, client: &Client, to: &Sender<News<Said>>) {
    loop {
        let status =
            client.get("/v1/status").ok().and_then(|answer| serde_json::from_value::<Status>(answer).ok());
        let right = status.map(|status| status.right).unwrap_or_default();
        if to.send(News::Said(id, Said::Right(Box::new(right)))).is_err() {
            return;
        }
        thread::sleep(ASK_EVERY);
    }
}

fn parse<T: DeserializeOwned>(data: &str) -> Option<Box<T>> {
    serde_json::from_str(data).ok().map(Box::new)
}
