//! Every state, level by level: all that can be reached in one step, then in two, and so on. The first violation is a shortest.

use std::sync::Arc;

use super::meddle::Meddle;
use super::model::{Model, Scratch};
use super::promise::Breach;
use super::setting::Setting;
use super::sights::Sights;
use super::step::Step;
use crate::visited::{Log, Table};

/// How much was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every state within the budgets.
    All,
    /// Every state up to the first violation.
    UpToViolation,
    /// No more states than allowed.
    StatesMax,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Explored {
    /// Distinct states.
    pub states: u64,
    /// Steps taken.
    pub transitions: u64,
    /// The most steps that a state is away from the first.
    pub depth: u32,
    /// Whether that was all.
    pub extent: Extent,
    /// What happened in some step, counted once for each state from which it did.
    pub sights: Sights,
    /// The first violation, and the steps to it in words.
    pub violation: Option<(Breach, Vec<String>)>,
}

/// Looks at every state, and judges each. `watch` is told how far it has come: states, depth, states still to be looked at.
pub fn search(
    setting: &Setting,
    meddle: &dyn Meddle,
    states_max: u64,
    mut watch: impl FnMut(u64, u32, usize),
) -> Explored {
    let mut search = Search::new(Arc::new(setting.clone()), meddle, states_max);
    while !search.frontier.is_empty() && search.explored.extent == Extent::All {
        search.level();
        watch(search.explored.states, search.explored.depth, search.frontier.len());
    }
    search.explored.sights = search.scratch.sights;
    search.explored
}

struct Search<'a> {
    setting: Arc<Setting>,
    meddle: &'a dyn Meddle,
    states_max: u64,
    seen: Table<()>,
    log: Log,
    frontier: Vec<(Model, u32)>,
    scratch: Scratch,
    explored: Explored,
}

impl<'a> Search<'a> {
    fn new(setting: Arc<Setting>, meddle: &'a dyn Meddle, states_max: u64) -> Self {
        let (mut scratch, mut seen) = (Scratch::default(), Table::new());
        let mut first = Model::new(Arc::clone(&setting), meddle, &mut scratch);
        seen.insert(first.fingerprint(&mut scratch.bytes), ());
        let explored = Explored {
            states: 1,
            transitions: 0,
            depth: 0,
            extent: Extent::All,
            sights: Sights::default(),
            violation: None,
        };
        let (log, frontier) = (Log::with_first(), vec![(first, 0)]);
        Self { setting, meddle, states_max, seen, log, frontier, scratch, explored }
    }

    fn level(&mut self) {
        let (mut next, mut steps) = (Vec::new(), Vec::new());
        for (state, number) in std::mem::take(&mut self.frontier) {
            state.steps(&mut steps);
            for step in &steps {
                self.step(&state, number, *step, &mut next);
                if self.explored.extent != Extent::All {
                    return;
                }
            }
        }
        self.explored.depth += u32::from(!next.is_empty());
        self.frontier = next;
    }

    fn step(&mut self, from: &Model, number: u32, step: Step, next: &mut Vec<(Model, u32)>) {
        let mut state = from.clone();
        self.explored.transitions += 1;
        if let Err(breach) = state.take(step, self.meddle, &mut self.scratch) {
            self.explored.extent = Extent::UpToViolation;
            self.explored.violation = Some((breach, self.story(number, step)));
            return;
        }
        if self.seen.insert(state.fingerprint(&mut self.scratch.bytes), ()) {
            self.explored.states += 1;
            next.push((state, self.log.add(number, step.pack())));
        }
        if self.explored.states >= self.states_max {
            self.explored.extent = Extent::StatesMax;
        }
    }

    /// The steps to a violation, in words: they are taken again.
    fn story(&self, number: u32, last: Step) -> Vec<String> {
        let mut scratch = Scratch::default();
        let mut state = Model::new(Arc::clone(&self.setting), self.meddle, &mut scratch);
        let path = self.log.path(number).into_iter().map(Step::unpack).chain([last]);
        path.map(|step| {
            let words = state.describe(step);
            let _judged_before = state.take(step, self.meddle, &mut scratch);
            words
        })
        .collect()
    }
}
