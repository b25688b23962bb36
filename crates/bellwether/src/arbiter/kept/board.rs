//! What is known of lines.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::watch;

use crate::arbiter::{Doing, Holder, Line, Observe, Seen};
use crate::elections::{GrantKind, Name};
use crate::uptime;

/// The lines, as they were told last.
#[derive(Debug, Default)]
pub(super) struct Board {
    lines: Mutex<BTreeMap<Name, watch::Sender<Known>>>,
    /// All that is known was so when the machine had been up for so long.
    current: Arc<Mutex<Duration>>,
    /// Whether changes are told.
    is_current: AtomicBool,
}

/// What is known of a line.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) line: Line,
    since: SystemTime,
    heard: Duration,
}

impl Known {
    fn of(line: Line) -> Self {
        Self { line, since: SystemTime::now(), heard: uptime::now() }
    }

    /// Lines may be told late, and more than once.
    fn learn(&mut self, mut line: Line) -> bool {
        if line.at < self.line.at {
            return false;
        }
        line.token = line.token.max(self.line.token);
        if line.tickets.is_empty() {
            line.value = Arc::default();
        }
        let is_news = line != self.line;
        *self = if is_news { Self::of(line) } else { Self { heard: uptime::now(), ..self.clone() } };
        is_news
    }
}

impl Board {
    fn lines(&self) -> MutexGuard<'_, BTreeMap<Name, watch::Sender<Known>>> {
        // What is in it is whole between any two lines that change it.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, name: Name, line: Line) {
        let mut lines = self.lines();
        if line.tickets.is_empty() && !lines.contains_key(&name) && line.token == 0 {
            return;
        }
        lines.entry(name).or_insert_with(nothing).send_if_modified(|known| known.learn(line));
    }

    /// Whatever is not among them was empty at that time.
    pub(super) fn set_all(&self, told: Vec<(Name, Line)>, at: u64) {
        let mut empty: Vec<Name> = self.lines().keys().cloned().collect();
        empty.retain(|name| !told.iter().any(|(there, _)| there == name));
        told.into_iter().for_each(|(name, line)| self.set(name, line));
        empty.into_iter().for_each(|name| self.set(name, Line { at, ..Line::default() }));
    }

    /// All that is known was so then, if changes are told.
    pub(super) fn current(&self, at: Duration) {
        if self.is_current.load(Ordering::Relaxed) {
            let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            *current = at.max(*current);
        }
    }

    pub(super) fn is_current(&self, is: bool) {
        self.is_current.store(is, Ordering::Relaxed);
    }

    pub(super) fn get(&self, name: &Name) -> Option<Seen> {
        let known = self.lines().get(name)?.borrow().clone();
        seen(name, &known, &self.current)
    }

    /// The line of that name, as it changes.
    pub(super) fn watch(&self, name: &Name) -> watch::Receiver<Known> {
        self.lines().entry(name.clone()).or_insert_with(nothing).subscribe()
    }

    pub(super) fn observe(&self, name: &Name) -> Observing {
        let (line, current) = (self.watch(name), Arc::clone(&self.current));
        Observing { name: name.clone(), line, current, is_told: false }
    }
}

fn nothing() -> watch::Sender<Known> {
    watch::Sender::new(Known::of(Line::default()))
}

fn seen(name: &Name, known: &Known, current: &Mutex<Duration>) -> Option<Seen> {
    let Line { tickets, token, value, .. } = &known.line;
    if tickets.is_empty() && *token == 0 {
        return None;
    }
    let current = *current.lock().unwrap_or_else(PoisonError::into_inner);
    Some(Seen {
        name: name.clone(),
        kind: GrantKind::Lease,
        token: *token,
        holder: tickets.first().map(|first| Holder { node: None, session: first.session.clone() }),
        value: Arc::clone(value),
        waiting: u32::try_from(tickets.len().saturating_sub(1)).unwrap_or(u32::MAX),
        since: known.since,
        age: uptime::now().saturating_sub(known.heard.max(current)),
    })
}

/// What becomes known of one line.
#[derive(Debug)]
pub(super) struct Observing {
    name: Name,
    line: watch::Receiver<Known>,
    current: Arc<Mutex<Duration>>,
    is_told: bool,
}

impl Observe for Observing {
    fn next(&mut self) -> Doing<'_, Option<Option<Seen>>> {
        Box::pin(async {
            if self.is_told {
                self.line.changed().await.ok()?;
            }
            self.is_told = true;
            let known = self.line.borrow_and_update().clone();
            Some(seen(&self.name, &known, &self.current))
        })
    }
}
