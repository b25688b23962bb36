//! The course of the demo: from the first process to what the file proves.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use bellwether::Mode;
use bellwether_proto::election::NOMINATES;

use super::board;
use super::happening::Happening;
use super::judge;
use super::model::Model;
use super::pen::Report;
use super::script::Script;
use super::store::{self, Fence, Store, Told};
use super::summary::Summary;
use crate::Status;
use crate::args::demo::WriterArgs;
use crate::duration::rough;
use crate::fleet::befell::Befell;
use crate::fleet::control::{Order, Verb};
use crate::fleet::files::{self, NodePlan, Plan};
use crate::fleet::keys::{Keys, Pressed};
use crate::fleet::news::{self, Next};
use crate::fleet::place::Place;
use crate::fleet::telling::Telling;
use crate::fleet::{Fleet, Launch};
use crate::output::Printer;
use crate::trouble::Trouble;
use crate::work::spawn;

/// An odd number: all of them vote.
const NODES: u32 = 5;
const FILE: &str = "lines.jsonl";
/// How often processes are looked after: so often that a writer can be met in the middle of a line.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What is said to the show.
#[derive(Debug)]
enum Said {
    Store(Told),
    Writer(Report),
}

/// Something that happened.
type News = news::News<Said>;

/// From the first process to the last. Whatever ends this, processes and files are gone after it.
pub(super) fn play(args: &WriterArgs, out: &Printer) -> Result<Status, Trouble> {
    // Signals first: whatever is made after this is taken away again.
    let (tell, news) = news::catch_signals().map_err(Trouble::failed)?;
    let place = Place::make(args.dir.as_deref()).map_err(Trouble::failed)?;
    let mut show = Show::open(&place, args, &tell, out).map_err(Trouble::failed)?;
    let next = show.go_on(&news, Instant::now() + args.length)?;
    show.end(args, &place.dir.join(FILE), next, &news, out)
}

struct Show<'a> {
    fleet: Fleet,
    model: Model,
    telling: Telling<'a>,
    script: Script,
    keys: Keys,
}

impl<'a> Show<'a> {
    fn open(place: &Place, args: &WriterArgs, tell: &Sender<News>, out: &'a Printer) -> Result<Self, String> {
        let on_terminal = !args.json && io::stdin().is_terminal() && io::stdout().is_terminal();
        let plan = files::write(place, "writer", NODES, NOMINATES, Mode::Exclusive(args.kind))?;
        open_store(place, fence(args), tell)?;
        news::listen(place, on_terminal, tell)?;
        let now = Instant::now();
        let telling = Telling::open(args.json, on_terminal, now, out);
        telling.introduce(board::introduction(&plan, fence(args)));
        let mut show = Self {
            fleet: start(&plan, &place.store(), tell)?,
            model: Model::new(&plan, now),
            telling,
            script: if args.by_hand { Script::by_hand() } else { Script::by_turns() },
            keys: Keys::default(),
        };
        for (node, process) in show.fleet.processes() {
            show.model.process(node, process);
        }
        Ok(show)
    }

    /// Whether its time is over (`On`), or it was ended before.
    fn go_on(&mut self, news: &Receiver<News>, end: Instant) -> Result<Next, Trouble> {
        loop {
            self.look();
            let now = Instant::now();
            if now >= end {
                return Ok(Next::On);
            }
            if self.telling.is_closed() {
                return Ok(Next::End);
            }
            match news.recv_timeout(LOOK_EVERY.min(end - now)) {
                Ok(news) => {
                    if self.take(news)? == Next::End {
                        return Ok(Next::End);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(Next::End),
            }
        }
    }

    /// Looks after the processes and the story, and shows how things are.
    fn look(&mut self) {
        for (node, state) in self.fleet.reap() {
            self.model.process(node, state);
        }
        self.tell_news();
        if let Some(order) = self.script.next(self.model.writing.filter(|_| self.model.composes()))
            && let Err(Trouble { what, .. }) = self.obey(&order)
        {
            self.tell(Befell::Problem { what });
        }
        self.tell_news();
        let (now, model, selected) = (Instant::now(), &self.model, self.keys.selected);
        self.telling.show(|notes| board::lines(model, notes, selected, now), now);
    }

    fn tell_news(&mut self) {
        for happening in self.model.news() {
            self.telling.tell(&happening, Instant::now());
        }
    }

    fn tell(&mut self, befell: Befell) {
        self.telling.tell(&Happening::Process(befell), Instant::now());
    }

    fn take(&mut self, news: News) -> Result<Next, Trouble> {
        match news {
            News::End => return Ok(Next::End),
            News::Key(key) => return Ok(self.key(key)),
            News::Order(order, reply) => {
                let result = self.obey(&order);
                // Whoever asked may have gone.
                let _ = reply.send(result);
            }
            News::Said(_, Said::Store(Told::Failed(what))) => return Err(Trouble::failed(what)),
            News::Said(_, Said::Store(told)) => self.model.told(&told, Instant::now()),
            News::Said(node, Said::Writer(report)) => self.model.report(node, report),
        }
        Ok(Next::On)
    }

    fn key(&mut self, key: char) -> Next {
        let problem = match self.keys.press(key, NODES, self.model.writing.map(|writing| writing.node)) {
            Pressed::End => return Next::End,
            Pressed::Nothing => None,
            Pressed::Do(order) => self.obey(&order).err().map(|trouble| trouble.what),
            Pressed::Problem(problem) => Some(problem.to_owned()),
        };
        if let Some(what) = problem {
            self.tell(Befell::Problem { what });
        }
        Next::On
    }

    fn obey(&mut self, order: &Order) -> Result<String, Trouble> {
        let Some(node) = order.node else { return Ok(board::list(&self.model)) };
        let (what, state) = order.carry_out(&mut self.fleet)?;
        // That it was started is told with its number.
        if order.verb != Verb::Start {
            self.tell(Befell::Done { node, what });
        }
        self.model.process(node, state);
        Ok(format!("node {node} {what}"))
    }

    /// Ends all writers, and judges what they left behind.
    fn end(
        mut self,
        args: &WriterArgs,
        file: &Path,
        next: Next,
        news: &Receiver<News>,
        out: &Printer,
    ) -> Result<Status, Trouble> {
        drop(self.fleet);
        // What the store did until the last of them was gone.
        for said in news.try_iter() {
            if let News::Said(_, Said::Store(told)) = said {
                self.model.told(&told, Instant::now());
            }
        }
        for happening in self.model.news() {
            self.telling.tell(&happening, Instant::now());
        }
        let account = judge::read(file).map_err(Trouble::failed)?;
        let summary = Summary::new(&self.model, &account, args.kind, fence(args));
        let (model, now) = (&self.model, Instant::now());
        self.telling.sum_up(|notes| board::lines(model, notes, None, now), &summary, summary.in_words());
        Ok(match (summary.wrong, account.lines, next) {
            (Some(_), _, _) => Status::No,
            (None, 1.., _) => Status::Done,
            // Where nothing is, nothing is proved.
            (None, 0, Next::End) => Status::Interrupted,
            (None, 0, Next::On) => {
                out.error(format!("nobody wrote anything within {}", rough(args.length)));
                Status::Failed
            }
        })
    }
}

fn fence(args: &WriterArgs) -> Fence {
    if args.no_fence { Fence::Open } else { Fence::Closed }
}

fn open_store(place: &Place, fence: Fence, tell: &Sender<News>) -> Result<(), String> {
    let (store, to) = (Store::create(&place.dir.join(FILE), fence)?, tell.clone());
    // It is no node's word.
    store::serve(store, &place.store(), move |told| to.send(News::Said(0, Said::Store(told))).is_ok())
}

fn start(plan: &Plan, store: &Path, tell: &Sender<News>) -> Result<Fleet, String> {
    let to = tell.clone();
    let listen = move |node, stdout| {
        let to = to.clone();
        spawn("writer", move || news::hear(node, stdout, &to, Said::Writer))
    };
    let launches = plan.nodes.iter().map(|node| launch(node, store)).collect();
    Fleet::start(launches, Some(Box::new(listen)))
}

fn launch(node: &NodePlan, store: &Path) -> Launch {
    let mut arguments: Vec<OsString> = ["demo", "agent-that-writes", "--config"].map(Into::into).into();
    arguments.extend([node.config.clone().into(), "--store".into(), store.into()]);
    Launch { id: node.id, arguments, log: node.log.clone() }
}
