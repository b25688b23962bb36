//! The state of the workers and of the picture, and what is new about it.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use bellwether_rain::job::{Job, Place};
use bellwether_rain::report::Report;
use bellwether_rain::rows::{Inventory, Rows};

use super::effort::{AfterKill, Clock, Crew, Effort};
use super::force::{FailedRecovery, Force};
use super::happening::{Happening, Outcome, Recovery};
use super::request::needed;
use super::script::Look;
use super::watch::{Change, Signs, Watch};
use crate::fleet::Process;
use crate::fleet::befell::Befell;

/// How many recoveries are remembered.
const RECOVERIES_MAX: usize = 256;
/// Progress is reported in steps of this size.
const PERCENT_STEP: u32 = 10;

/// The demonstration, as far as it is known.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) job: Job,
    pace: f64,
    pub(super) began: Instant,
    pub(super) nodes: BTreeMap<u32, Node>,
    /// The rows that enough workers keep.
    pub(super) safe: Inventory,
    /// Those of them that became safe in the latest view in which any did.
    safe_since: (u64, Inventory),
    /// The rows that somebody has computed.
    computed: Inventory,
    pub(super) counts: Counts,
    /// The latest of them.
    pub(super) recoveries: VecDeque<Recovery>,
    /// The latest view in service.
    pub(super) view: Option<ViewNow>,
    watch: Watch,
    /// The latest recovery that failed, if no view has been in service since.
    recovery_failed: Option<FailedRecovery>,
    effort: Option<Effort>,
    /// For how long nobody could work, because too few were there.
    stalled: Clock,
    finished: Option<Instant>,
    told_percent: u32,
    news: Vec<Happening>,
}

/// What is known of a worker.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) process: Option<Process>,
    pub(super) activity: Activity,
    /// How many rows it has made safe, and how many shards it keeps.
    pub(super) rows: u32,
    pub(super) held: u32,
    starts: u32,
    /// Whether its disk takes shards, as far as it has said.
    disk: Disk,
    /// Whether it has worked since it was started. A worker that has not need not stop.
    has_worked: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Activity {
    /// It has not said.
    #[default]
    Unknown,
    /// In a view that is not in service yet.
    Out,
    /// At work, in that view.
    Works(u64),
    /// In a view of too few.
    Waits(u64),
    /// It knows that it is dead.
    Dead,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Disk {
    #[default]
    Good,
    /// It takes no shards.
    Failing,
    /// It takes them again. The next failure is not reported.
    Mended,
}

/// The latest view in service.
#[derive(Clone, Debug)]
pub(super) struct ViewNow {
    pub(super) number: u64,
    pub(super) leader: u32,
    pub(super) members: Vec<u32>,
    /// Who works on which tile; 0 for nobody.
    pub(super) owners: Vec<u32>,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) computed: u32,
    pub(super) recomputed: u32,
    pub(super) recovered: u32,
    pub(super) damaged: u32,
    pub(super) old: u32,
}

impl Model {
    pub(super) fn new(job: Job, pace: f64, now: Instant) -> Self {
        Self {
            job,
            pace,
            began: now,
            nodes: job.nodes().map(|node| (node, Node::default())).collect(),
            safe: Inventory::none(&job.picture),
            safe_since: (0, Inventory::none(&job.picture)),
            computed: Inventory::none(&job.picture),
            counts: Counts::default(),
            recoveries: VecDeque::new(),
            view: None,
            watch: Watch::new(pace, now),
            recovery_failed: None,
            effort: None,
            stalled: Clock::default(),
            finished: None,
            told_percent: 0,
            news: Vec::new(),
        }
    }

    /// The news since the last call.
    pub(super) fn news(&mut self) -> Vec<Happening> {
        std::mem::take(&mut self.news)
    }

    /// A process has come, gone, stopped or gone on.
    pub(super) fn process(&mut self, id: u32, process: Process, now: Instant) {
        let (rows, is_done) = (self.rows(), self.is_done());
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let before = node.process.replace(process.clone());
        match &process {
            Process::Up(pid) if !matches!(before, Some(Process::Up(_) | Process::Stopped(_))) => {
                self.news.push(Happening::Process(Befell::Started { node: id, pid: *pid }));
            }
            Process::Down(how) => {
                node.activity = Activity::Unknown;
                // What was done to it on purpose has been told already.
                if how != "killed" && !matches!(before, Some(Process::Down(_))) {
                    self.news.push(Happening::Process(Befell::Ended { node: id, how: how.clone() }));
                }
            }
            Process::Up(_) | Process::Stopped(_) => {}
        }
        let killed = matches!(process, Process::Down(_)) && before.is_some();
        if self.effort.is_none() && killed && !is_done {
            let left = self.job.picture.row_count() - rows;
            self.effort = Some(Effort::begin(now, rows, left, self.crew(&self.force())));
        }
        self.count_labour(&self.force(), now);
    }

    /// A worker tells something.
    pub(super) fn report(&mut self, id: u32, report: Report, now: Instant) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        match report {
            Report::Up { held } => {
                (node.held, node.activity, node.has_worked) = (held, Activity::Unknown, false);
                node.disk = Disk::Good;
                node.starts += 1;
                if node.starts > 1 {
                    self.news.push(Happening::Up { node: id, held });
                }
            }
            Report::InService { view, leader, members, owners, waits_for } => {
                node.has_worked = true;
                node.activity =
                    if waits_for.is_some() { Activity::Waits(view) } else { Activity::Works(view) };
                self.in_service(ViewNow { number: view, leader, members, owners });
            }
            Report::OutOfService => node.activity = Activity::Out,
            Report::Dead => {
                if node.has_worked && node.activity != Activity::Dead {
                    self.news.push(Happening::Dead { node: id });
                }
                node.activity = Activity::Dead;
            }
            Report::Computed { place } => self.computed(place),
            Report::Safe { place, held } => {
                node.rows += 1;
                node.held = held;
                if let Activity::Works(view) = node.activity {
                    self.watch.moved(now);
                    self.safe(view, place);
                }
            }
            Report::Recovered {
                view,
                members,
                waits_for,
                failed,
                readmitted,
                known,
                rows,
                lost,
                replaced,
                ms,
            } => {
                let nothing_yet = lost == 0 && known.iter().all(|rows| rows.is_empty());
                let outcome = match waits_for {
                    Some(needed) => Outcome::Waits { needed },
                    None if nothing_yet => Outcome::Begun { dealt: self.job.picture.row_count() },
                    None => Outcome::Recovered,
                };
                let manager = id;
                let recovery = Recovery {
                    view,
                    manager,
                    members,
                    outcome,
                    failed,
                    readmitted,
                    rows,
                    lost,
                    replaced,
                    ms,
                };
                self.recovered(recovery, known);
            }
            Report::RecoveryFailed { view, why } => {
                self.recovery_failed = Some(FailedRecovery { node: id, view, why: why.clone() });
                self.news.push(Happening::RecoveryFailed { node: id, view, why });
            }
            Report::Rejected { damaged, old } => {
                self.counts.damaged += damaged;
                self.counts.old += old;
                // What was on its way while the view changed is old, and no news.
                if damaged > 0 {
                    self.news.push(Happening::Rejected { node: id, damaged });
                }
            }
            Report::Disk { trouble: Some(why) } => {
                if std::mem::replace(&mut node.disk, Disk::Failing) == Disk::Good {
                    let what = format!("its disk takes no shards ({why}); the others go on without them");
                    self.news.push(Happening::Trouble { node: id, what });
                }
            }
            Report::Disk { trouble: None } => node.disk = Disk::Mended,
            Report::Trouble { what } => self.news.push(Happening::Trouble { node: id, what }),
        }
        self.weigh(now);
    }

    fn in_service(&mut self, view: ViewNow) {
        if self.view.as_ref().is_some_and(|now| now.number >= view.number) {
            return;
        }
        let ViewNow { number, leader, ref members, .. } = view;
        self.news.push(Happening::View { view: number, leader, members: members.clone() });
        self.view = Some(view);
        self.recovery_failed = None;
    }

    fn computed(&mut self, place: Place) {
        if !self.job.has(place) {
            return;
        }
        self.counts.computed += 1;
        self.counts.recomputed += u32::from(self.computed.rows(place.tile).has(place.row));
        self.computed.rows_mut(place.tile).add(place.row);
    }

    /// A row became safe in that view. If the fault manager of a later view has said what is safe, that counts more: some
    /// of the workers that kept the row may be gone.
    fn safe(&mut self, view: u64, place: Place) {
        if !self.job.has(place) || self.recovered_view() > view {
            return;
        }
        self.safe.rows_mut(place.tile).add(place.row);
        if self.safe_since.0 < view {
            self.safe_since = (view, Inventory::none(&self.job.picture));
        }
        if self.safe_since.0 == view {
            self.safe_since.1.rows_mut(place.tile).add(place.row);
        }
    }

    /// The latest view of which a fault manager has said what is safe.
    fn recovered_view(&self) -> u64 {
        self.recoveries.back().map_or(0, |recovery| recovery.view)
    }

    /// The fault manager's knowledge counts: a worker may have been killed before it could report. Reports of several
    /// workers may arrive late: those of an older view are ignored, and rows that have become safe in the recovered view
    /// stay.
    fn recovered(&mut self, recovery: Recovery, known: Vec<Rows>) {
        let in_service = self.view.as_ref().map_or(0, |view| view.number);
        if recovery.view < in_service.max(self.recovered_view()) {
            return;
        }
        if let Some(known) = Inventory::of(&self.job.picture, known) {
            self.safe = known;
        }
        let (view, since) = &self.safe_since;
        if *view == recovery.view {
            since.iter().for_each(|(tile, rows)| {
                let all = self.safe.rows(tile).and(rows);
                *self.safe.rows_mut(tile) = all;
            });
        }
        self.news.push(Happening::Recovered(recovery.clone()));
        self.counts.recovered += recovery.rows;
        if self.recoveries.len() == RECOVERIES_MAX {
            self.recoveries.pop_front();
        }
        self.recoveries.push_back(recovery);
    }

    /// Finds out whether it goes on, and how far it is.
    pub(super) fn weigh(&mut self, now: Instant) {
        let force = self.force();
        self.count_labour(&force, now);
        if self.is_done() && self.finished.is_none() {
            self.finished = Some(now);
        }
        let percent = self.percent();
        if percent >= self.told_percent + PERCENT_STEP {
            self.told_percent = percent / PERCENT_STEP * PERCENT_STEP;
            self.news.push(Happening::Progress { percent: self.told_percent, rows: self.rows() });
        }
        let signs = Signs {
            is_idle: force.working == 0 && self.view.is_some(),
            is_whole: self.is_whole(),
            is_hopeless: force.waiting > 0 && force.is_short(),
            has_work: !self.is_done(),
        };
        match self.watch.weigh(signs, now) {
            Some(Change::Stalled) => {
                let why = force.why(self.recovery_failed.as_ref(), self.watch.quiet(now));
                let Force { left, needed, .. } = force;
                self.news.push(Happening::Stalled { left, needed, why });
            }
            Some(Change::GoesOn) => {
                let workers = count(self.in_view().count());
                self.news.push(Happening::GoesOn { workers });
            }
            None => {}
        }
    }

    /// Notes whether those that are left could work, until all is done.
    fn count_labour(&mut self, force: &Force, now: Instant) {
        if self.finished.is_some() {
            return;
        }
        let crew = self.crew(force);
        self.stalled.set(now, crew.is_too_few());
        if let Some(effort) = &mut self.effort {
            effort.crew(now, crew);
        }
    }

    /// Until there has been a view, nobody waits for others.
    fn crew(&self, force: &Force) -> Crew {
        let is_stalled = force.is_stalled() && self.view.is_some();
        if is_stalled { Crew::TooFew(force.left) } else { Crew::Able(force.left) }
    }

    /// How many there are at this moment.
    fn force(&self) -> Force {
        let activity = |wanted: fn(Activity) -> bool| {
            count(self.running().filter(|(_, node)| wanted(node.activity)).count())
        };
        let failing = self.running().filter(|(_, node)| node.disk == Disk::Failing);
        Force {
            left: count(self.running().count()),
            needed: needed(&self.job.code),
            data: self.job.code.data(),
            working: activity(|activity| matches!(activity, Activity::Works(_))),
            waiting: activity(|activity| matches!(activity, Activity::Waits(_))),
            failing: failing.map(|(id, _)| id).collect(),
        }
    }

    /// How things are, for the script.
    pub(super) fn look(&self, now: Instant) -> Look {
        let in_state = |wanted: fn(&Process) -> bool| {
            let nodes = self.nodes.iter().filter(|(_, node)| node.process.as_ref().is_some_and(wanted));
            nodes.map(|(id, _)| *id).collect()
        };
        Look {
            percent: self.percent(),
            stalled: self.watch.stalled(now),
            manager: self.manager().filter(|_| self.is_together()),
            running: in_state(|process| matches!(process, Process::Up(_))),
            paused: in_state(|process| matches!(process, Process::Stopped(_))),
            down: in_state(|process| matches!(process, Process::Down(_))),
        }
    }

    /// Whether all that run are at work in the same view.
    fn is_together(&self) -> bool {
        let view = self.view.as_ref().map(|view| view.number);
        self.running().all(|(_, node)| view.is_some_and(|view| node.activity == Activity::Works(view)))
    }

    /// The fault manager, if it runs.
    pub(super) fn manager(&self) -> Option<u32> {
        let leader = self.view.as_ref()?.leader;
        self.running().any(|(id, _)| id == leader).then_some(leader)
    }

    fn running(&self) -> impl Iterator<Item = (u32, &Node)> {
        let nodes = self.nodes.iter().map(|(id, node)| (*id, node));
        nodes.filter(|(_, node)| matches!(node.process, Some(Process::Up(_))))
    }

    /// Who is in the latest view, and runs.
    fn in_view(&self) -> impl Iterator<Item = &Node> {
        let members = self.view.as_ref().map_or(&[][..], |view| &view.members);
        self.running().filter(|(id, _)| members.contains(id)).map(|(_, node)| node)
    }

    /// Whether all of those are at work in it.
    fn is_whole(&self) -> bool {
        let view = self.view.as_ref().map(|view| Activity::Works(view.number));
        self.in_view().count() > 0 && self.in_view().all(|node| view == Some(node.activity))
    }

    /// How many rows are safe.
    pub(super) fn rows(&self) -> u32 {
        self.safe.count()
    }

    pub(super) fn percent(&self) -> u32 {
        self.rows() * 100 / self.job.picture.row_count()
    }

    pub(super) fn is_stalled(&self) -> bool {
        self.watch.is_told()
    }

    pub(super) fn is_done(&self) -> bool {
        self.rows() == self.job.picture.row_count()
    }

    /// What it took after the first kill, if there was one.
    pub(super) fn after_kill(&self) -> Option<AfterKill> {
        Some(self.effort?.end(self.finished?, self.pace))
    }

    /// For how much of that nobody could work, because too few were there.
    pub(super) fn stalled(&self) -> Duration {
        self.finished.map_or(Duration::ZERO, |finished| self.stalled.passed(finished))
    }

    /// From the start to the last safe row.
    pub(super) fn took(&self) -> Duration {
        self.finished.map_or(Duration::ZERO, |finished| finished - self.began)
    }
}

fn count(some: usize) -> u32 {
    u32::try_from(some).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
