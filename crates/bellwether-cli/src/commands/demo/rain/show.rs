//! The course of the demo: from the first process to the picture.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Instant;

use bellwether_rain::collect::{Incomplete, collect};
use bellwether_rain::image::Canvas;
use bellwether_rain::report::Report;
use tokio::runtime::Builder;

use super::board;
use super::happening::Happening;
use super::model::Model;
use super::request::Request;
use super::script::Script;
use super::setup::{self, Setup};
use super::summary::Summary;
use super::tries::Tries;
use crate::Status;
use crate::fleet::Fleet;
use crate::fleet::befell::Befell;
use crate::fleet::control::{Order, Verb};
use crate::fleet::keys::{Keys, Pressed};
use crate::fleet::news::{self, Next, TICK};
use crate::fleet::place::Place;
use crate::fleet::telling::Telling;
use crate::output::Printer;
use crate::terminal::screen::room;
use crate::trouble::Trouble;
use crate::work::spawn;

/// Something that happened.
type News = news::News<Report>;

/// From the first process to the last. Whatever ends this, processes and files are gone after it.
pub(super) fn play(request: &Request, out: &Printer) -> Result<Status, Trouble> {
    // Signals first: whatever is made after this is taken away again.
    let (tell, news) = news::catch_signals().map_err(Trouble::failed)?;
    let place = Place::make(request.dir.as_deref()).map_err(Trouble::failed)?;
    let setup = setup::write(&place, request).map_err(Trouble::failed)?;
    let on_terminal = !request.json && io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut show = Show::open(&place, request, setup, on_terminal, &tell, out).map_err(Trouble::failed)?;
    let Some(canvas) = show.go_on(&news)? else {
        drop(show);
        out.error("it was ended before the picture was done");
        return Ok(Status::Interrupted);
    };
    write_file(&request.out, &canvas.png()).map_err(Trouble::failed)?;
    show.sum_up(&request.out);
    Ok(Status::Done)
}

struct Show<'a> {
    fleet: Fleet,
    model: Model,
    telling: Telling<'a>,
    script: Script,
    keys: Keys,
    setup: Setup,
}

impl<'a> Show<'a> {
    fn open(
        place: &Place,
        request: &Request,
        setup: Setup,
        on_terminal: bool,
        tell: &Sender<News>,
        out: &'a Printer,
    ) -> Result<Self, String> {
        news::listen(place, on_terminal, tell)?;
        let now = Instant::now();
        let script = Script::new(request.story, request.job.code.nodes(), request.seed);
        let telling = Telling::open(request.json, on_terminal, now, out);
        telling.introduce(board::introduction(&setup, script.spared()));
        let to = tell.clone();
        let listen = move |node, stdout| {
            let to = to.clone();
            spawn("worker", move || news::hear(node, stdout, &to, |report: Report| report))
        };
        let mut show = Self {
            fleet: Fleet::start(setup.launches.clone(), Some(Box::new(listen)))?,
            model: Model::new(request.job, request.pace, now),
            telling,
            script,
            keys: Keys::default(),
            setup,
        };
        for (node, process) in show.fleet.processes() {
            show.model.process(node, process, now);
        }
        Ok(show)
    }

    /// The picture; `None` if it was ended before.
    fn go_on(&mut self, news: &Receiver<News>) -> Result<Option<Canvas>, Trouble> {
        let mut tries = Tries::default();
        loop {
            self.look();
            let now = Instant::now();
            if self.telling.is_closed() {
                return Ok(None);
            }
            if tries.is_due(self.model.is_done(), now) {
                match self.collect() {
                    Ok(canvas) => return Ok(Some(canvas)),
                    Err(why) => tries.failed(why, now)?,
                }
            }
            match news.recv_timeout(TICK) {
                Ok(news) => {
                    if self.take(news) == Next::End {
                        return Ok(None);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// Looks after the processes and the story, and shows how things are.
    fn look(&mut self) {
        let now = Instant::now();
        for (node, state) in self.fleet.reap() {
            self.model.process(node, state, now);
        }
        self.model.weigh(now);
        self.tell_news(now);
        for order in self.script.next(&self.model.look(now)) {
            if let Err(Trouble { what, .. }) = self.obey(&order) {
                self.tell(&Happening::Process(Befell::Problem { what }), now);
            }
        }
        self.tell_news(now);
        let (model, selected) = (&self.model, self.keys.selected);
        self.telling.show(|notes| board::lines(model, notes, selected, room(), now), now);
    }

    fn tell_news(&mut self, now: Instant) {
        for happening in self.model.news() {
            self.tell(&happening, now);
        }
    }

    fn tell(&mut self, happening: &Happening, now: Instant) {
        // Where there is a bar, it tells how far it is.
        if !(self.telling.has_board() && matches!(happening, Happening::Progress { .. })) {
            self.telling.tell(happening, now);
        }
    }

    fn take(&mut self, news: News) -> Next {
        match news {
            News::End => return Next::End,
            News::Key(key) => return self.key(key),
            News::Order(order, reply) => {
                let result = self.obey(&order);
                // Whoever asked may have gone.
                let _ = reply.send(result);
            }
            News::Said(node, report) => self.model.report(node, report, Instant::now()),
        }
        Next::On
    }

    fn key(&mut self, key: char) -> Next {
        let problem = match self.keys.press(key, self.model.job.code.nodes(), self.model.manager()) {
            Pressed::End => return Next::End,
            Pressed::Nothing => None,
            Pressed::Do(order) => self.obey(&order).err().map(|trouble| trouble.what),
            Pressed::Problem(problem) => Some(problem.to_owned()),
        };
        if let Some(what) = problem {
            self.tell(&Happening::Process(Befell::Problem { what }), Instant::now());
        }
        Next::On
    }

    fn obey(&mut self, order: &Order) -> Result<String, Trouble> {
        let Some(node) = order.node else { return Ok(board::list(&self.model, &self.setup.apis)) };
        let (what, state) = order.carry_out(&mut self.fleet)?;
        let now = Instant::now();
        // That it was started is told with its number.
        if order.verb != Verb::Start {
            self.tell(&Happening::Process(Befell::Done { node, what }), now);
        }
        self.model.process(node, state, now);
        Ok(format!("node {node} {what}"))
    }

    /// Puts the picture together from the workers' shards.
    fn collect(&self) -> Result<Canvas, Incomplete> {
        let job = &self.setup.job;
        let runtime = Builder::new_current_thread().enable_all().build();
        let nobody = Incomplete { missing: 0, reached: 0, needed: job.job.code.data() };
        runtime.map_err(|_| nobody)?.block_on(collect(&job.job, job.secret, &job.workers))
    }

    fn sum_up(self, path: &Path) {
        let (model, now) = (&self.model, Instant::now());
        let summary = Summary::new(model, path);
        self.telling.sum_up(|notes| board::lines(model, notes, None, room(), now), &summary, summary.lines());
    }
}

/// Writes a file beside its place, and puts it there.
fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let written = fs::write(&new, bytes).and_then(|()| fs::rename(&new, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&new);
        format!("cannot write {}: {error}", path.display())
    })
}
