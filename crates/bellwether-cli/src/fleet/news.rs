//! Events of a fleet from all sources, in one stream.

use std::io::{BufRead, BufReader};
use std::process::ChildStdout;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::control::{self, Order, Reply};
use super::place::Place;
use crate::signals::when_asked_to_end;
use crate::terminal::typed;

/// How often processes are looked after, and clocks on the screen go on.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// An event. `T` is what members report.
#[derive(Debug)]
pub(crate) enum News<T> {
    /// A member says something.
    Said(u32, T),
    /// A key was pressed.
    Key(char),
    /// Another terminal wants something, and an answer.
    Order(Order, Reply),
    /// It is to end.
    End,
}

/// Whether the show goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    On,
    End,
}

/// The sending and the receiving end.
type Ends<T> = (Sender<News<T>>, Receiver<News<T>>);

/// Both ends. Signals are events, too. They are caught before this returns, so that none ends the process half-way.
pub(crate) fn catch_signals<T: Send + 'static>() -> Result<Ends<T>, String> {
    let (tell, news) = mpsc::channel();
    let to = tell.clone();
    when_asked_to_end(move || {
        let _ = to.send(News::End);
    })?;
    Ok((tell, news))
}

/// Begins to listen to other terminals, and to the keys of this one. The threads end with the process: there is nothing that
/// they would have to finish.
pub(crate) fn listen<T: Send + 'static>(
    place: &Place,
    on_terminal: bool,
    tell: &Sender<News<T>>,
) -> Result<(), String> {
    let to = tell.clone();
    control::take_orders(control::listen(place)?, move |order, answer| {
        to.send(News::Order(order, answer)).is_ok()
    })?;
    if on_terminal {
        let to = tell.clone();
        typed::take(move |key| to.send(key.map_or(News::End, News::Key)).is_ok())?;
    }
    Ok(())
}

/// Reads what a process reports, one JSON object per line, until it ends.
pub(crate) fn hear<R: DeserializeOwned, T>(
    node: u32,
    stdout: ChildStdout,
    to: &Sender<News<T>>,
    said: impl Fn(R) -> T,
) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        // What is cut off by a kill is none of its words.
        let Ok(report) = serde_json::from_str(&line) else { continue };
        if to.send(News::Said(node, said(report))).is_err() {
            return;
        }
    }
}
