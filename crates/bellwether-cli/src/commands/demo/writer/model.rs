//! The state of writers and file, and what is new about it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Instant;

use super::happening::Happening;
use super::pen::{COMPOSED_IN, Report};
use super::script::Writing;
use super::store::Told;
use super::wire::{Request, What};
use crate::fleet::Process;
use crate::fleet::befell::Befell;
use crate::fleet::files::Plan;

#[derive(Debug)]
pub(super) struct Model {
    pub(super) began: Instant,
    pub(super) nodes: BTreeMap<u32, Node>,
    /// Who wrote last.
    pub(super) writing: Option<Writing>,
    /// The last line that was taken, and when.
    pub(super) last: Option<(u64, Instant)>,
    /// How often a process was killed, and stopped.
    pub(super) killed: u64,
    pub(super) stopped: u64,
    news: Vec<Happening>,
}

/// What is known of a node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) api: SocketAddr,
    pub(super) process: Option<Process>,
    pub(super) taken: u64,
    pub(super) refused: u64,
}

impl Model {
    pub(super) fn new(plan: &Plan, now: Instant) -> Self {
        let node = |api| Node { api, process: None, taken: 0, refused: 0 };
        Self {
            began: now,
            nodes: plan.nodes.iter().map(|plan| (plan.id, node(plan.api))).collect(),
            writing: None,
            last: None,
            killed: 0,
            stopped: 0,
            news: Vec::new(),
        }
    }

    /// What is new since this was asked last.
    pub(super) fn news(&mut self) -> Vec<Happening> {
        std::mem::take(&mut self.news)
    }

    pub(super) fn refused(&self) -> u64 {
        self.nodes.values().map(|node| node.refused).sum()
    }

    /// Whether a line is being composed: its writer has checked that it leads, and has not written yet.
    pub(super) fn composes(&self) -> bool {
        self.last.is_some_and(|(_, at)| at.elapsed() >= COMPOSED_IN / 3)
    }

    /// A process has come, gone, stopped or gone on.
    pub(super) fn process(&mut self, id: u32, process: Process) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let before = node.process.replace(process.clone());
        let was_down = matches!(before, None | Some(Process::Down(_)));
        match process {
            Process::Up(pid) if was_down => {
                self.news.push(Happening::Process(Befell::Started { node: id, pid }));
            }
            // Those that were killed on purpose have been told of already.
            Process::Down(how) if how == "killed" => self.killed += 1,
            Process::Down(how) => self.news.push(Happening::Process(Befell::Ended { node: id, how })),
            Process::Stopped(_) => self.stopped += 1,
            Process::Up(_) => {}
        }
    }

    /// A writer says something.
    pub(super) fn report(&mut self, node: u32, Report::Stopped { token }: Report) {
        self.news.push(Happening::Stops { node, token });
    }

    /// The store has done something.
    pub(super) fn told(&mut self, told: &Told, now: Instant) {
        match *told {
            Told::Took { request: Request { node, token, what: What::Write(number) }, seen } => {
                self.took(node, token, number, seen, now);
            }
            Told::Refused { request: Request { node, token, what }, seen } => {
                let number = match what {
                    What::Open => None,
                    What::Write(number) => Some(number),
                };
                self.news.push(Happening::Refused { node, token, number, seen });
                if let Some(node) = self.nodes.get_mut(&node) {
                    node.refused += 1;
                }
            }
            // That it was opened is told with the first line.
            Told::Took { .. } | Told::Failed(_) => {}
        }
    }

    fn took(&mut self, node: u32, token: u64, number: u64, seen: u64, now: Instant) {
        if let Some(node) = self.nodes.get_mut(&node) {
            node.taken += 1;
        }
        if token < seen {
            self.news.push(Happening::Backwards { node, token, number, seen });
            return;
        }
        match &mut self.writing {
            Some(writing) if writing.token == token => writing.lines += 1,
            Some(_) | None => {
                self.writing = Some(Writing { node, token, lines: 1 });
                let gap = self.last.map(|(_, last)| now.saturating_duration_since(last).as_millis());
                let gap_ms = gap.map(|ms| u64::try_from(ms).unwrap_or(u64::MAX));
                self.news.push(Happening::Writes { node, token, number, gap_ms });
            }
        }
        self.last = Some((number, now));
    }
}
