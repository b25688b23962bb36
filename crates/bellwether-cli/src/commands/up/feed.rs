//! What happens, from wherever it comes, in one stream.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::control::{self, Control, Order, Reply};
use super::files::Plan;
use super::keys;
use crate::client::Client;
use crate::client::answer::{Change, Status};
use crate::signals::when_asked_to_end;

/// How long to wait before an agent that does not answer is asked again.
const PAUSE: Duration = Duration::from_millis(50);

/// Something that happened.
#[derive(Debug)]
pub(super) enum News {
    /// How things are, as that node sees them.
    Status(u32, Box<Status>),
    /// What changed, as that node saw it.
    Change(u32, Box<Change>),
    /// That node does not answer any more.
    Lost(u32),
    /// A key was pressed.
    Key(char),
    /// Another terminal wants something, and an answer.
    Order(Order, Reply),
    /// It is to end.
    End,
}

/// Begins to listen everywhere. The threads end with the process: there is nothing that they would have to finish.
pub(super) fn start(plan: &Plan, control: Control, keys: bool, sender: &Sender<News>) -> Result<(), String> {
    for node in &plan.nodes {
        let (id, client, to) = (node.id, Client::at(node.api.to_string()), sender.clone());
        spawn("watch", move || watch(id, &client, &to))?;
    }
    let to = sender.clone();
    control::take_orders(control, move |order, answer| to.send(News::Order(order, answer)).is_ok())?;
    if keys {
        let to = sender.clone();
        keys::take(move |key| to.send(key.map_or(News::End, News::Key)).is_ok())?;
    }
    Ok(())
}

pub(in crate::commands) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(|error| format!("cannot start a thread: {error}"))
}

/// Follows one agent, through all of its lives.
fn watch(id: u32, client: &Client, to: &Sender<News>) {
    loop {
        if let Ok(mut events) = client.watch(None) {
            while let Ok(Some(event)) = events.next() {
                let news = match event.name.as_str() {
                    "status" => parse(&event.data).map(|status| News::Status(id, status)),
                    "change" => parse(&event.data).map(|change| News::Change(id, change)),
                    _ => None,
                };
                if news.is_some_and(|news| to.send(news).is_err()) {
                    return;
                }
            }
            if to.send(News::Lost(id)).is_err() {
                return;
            }
        }
        thread::sleep(PAUSE);
    }
}

fn parse<T: DeserializeOwned>(data: &str) -> Option<Box<T>> {
    serde_json::from_str(data).ok().map(Box::new)
}

/// Where news is told and heard. Signals are news, too: they are caught before this returns, so that none ends the process
/// half-way.
pub(super) fn catch_signals() -> Result<(Sender<News>, Receiver<News>), String> {
    let (tell, news) = mpsc::channel();
    let to = tell.clone();
    when_asked_to_end(move || {
        let _ = to.send(News::End);
    })?;
    Ok((tell, news))
}
