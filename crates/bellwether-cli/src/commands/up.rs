//! `bellwether up`: a cluster of real agents on this machine, to look at and to break.
//!
//! | file | what |
//! |---|---|
//! | `place.rs` | where the cluster keeps its files, and how others find it |
//! | `files.rs` | ports, certificates, configurations |
//! | `fleet.rs` | the agents' processes: start, stop, kill, and an end for all |
//! | `feed.rs` | what happens, from wherever it comes: agents, keys, signals, other terminals |
//! | `model.rs` | what is known of the nodes, and what of it is news |
//! | `board.rs`, `screen.rs` | how it looks, and how it gets onto a terminal |
//! | `control.rs` | `bellwether up kill 3`, on both ends |

mod board;
mod control;
mod feed;
mod files;
mod fleet;
mod model;
mod place;
mod screen;

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::Status;
use crate::args::up::{ClusterArgs, UpArgs, UpCommand};
use crate::output::Printer;
use crate::trouble::Trouble;
use control::{Order, Verb};
use feed::News;
use fleet::Fleet;
use model::Model;
use place::Place;
use screen::Screen;

/// How often processes are looked after, and clocks on the screen go on.
const TICK: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &UpArgs, out: &Printer) -> Status {
    let (verb, node, place) = match &args.command {
        None => return show(&args.cluster, out),
        Some(UpCommand::Kill(args)) => (Verb::Kill, Some(args.node), &args.place),
        Some(UpCommand::Stop(args)) => (Verb::Stop, Some(args.node), &args.place),
        Some(UpCommand::Cont(args)) => (Verb::Cont, Some(args.node), &args.place),
        Some(UpCommand::Start(args)) => (Verb::Start, Some(args.node), &args.place),
        Some(UpCommand::List(place)) => (Verb::List, None, place),
    };
    match control::ask(place.dir.as_deref(), &Order { verb, node }) {
        Ok(answer) => {
            out.line(answer);
            Status::Done
        }
        Err(trouble) => trouble.told(out),
    }
}

fn failed(out: &Printer, error: &str) -> Status {
    out.error(error);
    Status::Failed
}

fn show(args: &ClusterArgs, out: &Printer) -> Status {
    match play(args, out) {
        Ok(()) => Status::Done,
        Err(error) => failed(out, &error),
    }
}

/// From the first process to the last. Whatever ends this, processes and files are gone after it.
fn play(args: &ClusterArgs, out: &Printer) -> Result<(), String> {
    // Signals first: whatever is made after this is taken away again.
    let (tell, news) = feed::catch_signals()?;
    let place = Place::make(args.dir.as_deref())?;
    let plan = files::write(&place, args.nodes, args.protocol)?;
    let control = control::listen(&place)?;
    let on_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    feed::start(&plan, control, on_terminal, &tell)?;
    let mut show = Show {
        model: Model::new(&plan, Instant::now()),
        fleet: Fleet::start(plan.nodes.clone())?,
        screen: Screen::open(on_terminal, out),
        selected: None,
    };
    for (node, process) in show.fleet.processes() {
        show.model.process(node, process, Instant::now());
    }
    show.screen.introduce(&show.model, &plan);
    show.go_on(&news, args.length.map(|length| Instant::now() + length));
    Ok(())
}

struct Show<'a> {
    fleet: Fleet,
    model: Model,
    screen: Screen<'a>,
    selected: Option<u32>,
}

/// Whether the show goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    On,
    End,
}

impl Show<'_> {
    fn go_on(&mut self, news: &Receiver<News>, end: Option<Instant>) {
        loop {
            self.look();
            let now = Instant::now();
            if end.is_some_and(|end| now >= end) || self.screen.is_closed() {
                return;
            }
            let wait = end.map_or(TICK, |end| TICK.min(end - now));
            match news.recv_timeout(wait) {
                Ok(news) => {
                    if self.take(news) == Next::End {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Looks after the processes, and shows how things are.
    fn look(&mut self) {
        for (node, state) in self.fleet.reap() {
            self.model.process(node, state, Instant::now());
        }
        self.screen.show(&self.model, self.selected, Instant::now());
    }

    fn take(&mut self, news: News) -> Next {
        match news {
            News::End => return Next::End,
            News::Key(key) => return self.key(key),
            News::Order(order, answer) => {
                let result = self.obey(&order);
                // Whoever asked may have gone.
                let _ = answer.send(result);
            }
            News::Status(node, status) => self.model.status(node, &status, Instant::now()),
            News::Change(node, change) => self.model.change(node, &change, Instant::now()),
            News::Lost(node) => self.model.lost(node, Instant::now()),
        }
        Next::On
    }

    fn key(&mut self, key: char) -> Next {
        let act = |verb, node| Order { verb, node };
        let order = match key {
            'q' => return Next::End,
            '1'..='9' => {
                self.selected = key.to_digit(10).filter(|node| self.model.knows(*node)).or(self.selected);
                return Next::On;
            }
            'l' => act(Verb::Kill, self.model.leader()),
            'k' => act(Verb::Kill, self.selected),
            's' => act(Verb::Stop, self.selected),
            'c' => act(Verb::Cont, self.selected),
            'r' => act(Verb::Start, self.selected),
            _ => return Next::On,
        };
        let problem = match order.node {
            Some(_) => self.obey(&order).err().map(|trouble| trouble.what),
            None if key == 'l' => Some("nobody leads".to_owned()),
            None => Some("no node is selected: press its number first".to_owned()),
        };
        if let Some(problem) = problem {
            self.model.note(&problem, Instant::now());
        }
        Next::On
    }

    fn obey(&mut self, order: &Order) -> Result<String, Trouble> {
        let Some(node) = order.node else { return Ok(board::list(&self.model, Instant::now())) };
        let known = self.model.knows(node);
        self.act(order.verb, node)
            .map_err(|what| if known { Trouble::failed(what) } else { Trouble::wrong(what) })
    }

    fn act(&mut self, verb: Verb, node: u32) -> Result<String, String> {
        let (done, state) = match verb {
            Verb::Kill => ("killed", self.fleet.kill(node)?),
            Verb::Stop => ("stopped", self.fleet.stop(node)?),
            Verb::Cont => ("continued", self.fleet.cont(node)?),
            Verb::Start if self.fleet.runs(node) => ("told to restart", self.fleet.restart(node)?),
            Verb::Start => ("started", self.fleet.restart(node)?),
            Verb::List => return Err("found a node, expected none".to_owned()),
        };
        self.model.note(&format!("node {node} {done}"), Instant::now());
        self.model.process(node, state, Instant::now());
        Ok(format!("node {node} {done}"))
    }
}
