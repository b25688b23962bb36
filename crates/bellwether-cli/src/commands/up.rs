//! `bellwether up`: a cluster of real agents on this machine, to look at and to break.
//!
//! | file | what |
//! |---|---|
//! | `feed.rs` | the agents' events |
//! | `model.rs` | the state of the nodes, and what is new about it |
//! | `board.rs` | the screen |

mod board;
mod feed;
mod model;

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use bellwether::Mode;
use bellwether_proto::election::NOMINATES;

use crate::Status;
use crate::args::up::{ClusterArgs, UpArgs, UpCommand};
use crate::fleet::Fleet;
use crate::fleet::control::{self, Order, Verb};
use crate::fleet::files::{self, NodePlan};
use crate::fleet::keys::{Keys, Pressed};
use crate::fleet::news::{self, Next, TICK};
use crate::fleet::place::Place;
use crate::output::Printer;
use crate::terminal::screen::Screen;
use crate::trouble::Trouble;
use feed::Said;
use model::Model;

/// Something that happened.
type News = news::News<Said>;

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
    match mode(args) {
        Err(problem) => {
            out.error(problem);
            Status::BadInput
        }
        Ok(mode) => match play(args, mode, out) {
            Ok(()) => Status::Done,
            Err(error) => failed(out, &error),
        },
    }
}

/// What is asked for, if the algorithm gives it.
fn mode(args: &ClusterArgs) -> Result<Mode, String> {
    let (has, name) = (args.protocol.spec().mode, args.protocol.name());
    match args.mode.as_deref() {
        Some(Mode::EXCLUSIVE) if args.protocol == NOMINATES => {
            Ok(Mode::Exclusive(args.kind.unwrap_or_default()))
        }
        Some(Mode::EXCLUSIVE) => {
            Err(format!("--mode exclusive needs --protocol {}, and this one is {name}", NOMINATES.name()))
        }
        Some(asked) if asked != has.name() => {
            Err(format!("--mode {asked} does not fit --protocol {name}, whose mode is {}", has.name()))
        }
        Some(_) | None if args.kind.is_some() => Err("--kind is for --mode exclusive".to_owned()),
        Some(_) | None => Ok(Mode::OfAlgorithm(has)),
    }
}

/// From the first process to the last. Whatever ends this, processes and files are gone after it.
fn play(args: &ClusterArgs, mode: Mode, out: &Printer) -> Result<(), String> {
    // Signals first: whatever is made after this is taken away again.
    let (tell, news) = news::catch_signals()?;
    let place = Place::make(args.dir.as_deref())?;
    let plan = files::write(&place, "up", args.nodes, args.protocol, mode)?;
    let on_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    news::listen(&place, on_terminal, &tell)?;
    feed::follow(&plan, &tell)?;
    let mut show = Show {
        model: Model::new(&plan, Instant::now()),
        fleet: Fleet::start(plan.nodes.iter().map(NodePlan::agent).collect(), None)?,
        screen: Screen::open(on_terminal, out),
        keys: Keys::default(),
    };
    for (node, process) in show.fleet.processes() {
        show.model.process(node, process, Instant::now());
    }
    show.screen.introduce(board::introduction(&plan));
    show.go_on(&news, args.length.map(|length| Instant::now() + length));
    Ok(())
}

struct Show<'a> {
    fleet: Fleet,
    model: Model,
    screen: Screen<'a>,
    keys: Keys,
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
        let (now, model, selected) = (Instant::now(), &self.model, self.keys.selected);
        self.screen.show(&model.notes, || board::lines(model, selected, now), now);
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
            News::Said(node, Said::Status(status)) => self.model.status(node, &status, Instant::now()),
            News::Said(node, Said::Change(change)) => self.model.change(node, &change, Instant::now()),
            News::Said(node, Said::Right(right)) => self.model.right(node, *right),
            News::Said(node, Said::Nothing) => self.model.lost(node, Instant::now()),
        }
        Next::On
    }

    fn key(&mut self, key: char) -> Next {
        let nodes = u32::try_from(self.model.nodes.len()).unwrap_or(u32::MAX);
        let problem = match self.keys.press(key, nodes, self.model.leader()) {
            Pressed::End => return Next::End,
            Pressed::Nothing => return Next::On,
            Pressed::Do(order) => self.obey(&order).err().map(|trouble| trouble.what),
            Pressed::Problem(problem) => Some(problem.to_owned()),
        };
        if let Some(problem) = problem {
            self.model.note(&problem, Instant::now());
        }
        Next::On
    }

    fn obey(&mut self, order: &Order) -> Result<String, Trouble> {
        let Some(node) = order.node else { return Ok(board::list(&self.model, Instant::now())) };
        let (done, state) = order.carry_out(&mut self.fleet)?;
        self.model.note(&format!("node {node} {done}"), Instant::now());
        self.model.process(node, state, Instant::now());
        Ok(format!("node {node} {done}"))
    }
}
