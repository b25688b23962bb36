//! Every state, level by level: all that can be reached in one step, then in two, and so on.
//!
//! What comes out is the same whatever the number of threads. A level is cut into batches, a batch into as many parts as
//! there are threads; each part is worked on with what was known before the batch, and what the parts found is put together
//! in order. The first path to a state that is found is therefore always the same, and a shortest.

use std::num::NonZeroUsize;
use std::thread;

use bellwether_proto::election::Election;
use bellwether_proto::promise::Property;
use bellwether_proto::time::Span;

use super::bounds::Reached;
use super::broken::{Breach, Broken};
use super::calm::{self, Goals, INSTANTS_MAX, Known};
use super::state::{Scratch, State};
use super::system::{Successor, System};
use super::transition::Transition;
use crate::check;
use crate::visited::{Log, Table};

/// States of a batch: enough that threads have something to do, few enough that what is kept between is small.
const BATCH: usize = 1 << 13;

/// When to stop short of the end.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// No more states than this. All of them are judged.
    pub states_max: u64,
    /// A future that has not come round after so many instants is left undecided: [`INSTANTS_MAX`], or less.
    pub instants_max: usize,
    /// How many threads.
    pub threads: NonZeroUsize,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Distinct states found.
    pub states: u64,
    /// Steps taken.
    pub transitions: u64,
    /// How many steps the states of the present level are away from the first.
    pub depth: u32,
    /// How many states of this level and the next still have to be looked at.
    pub frontier: u64,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Yes.
    GoOn,
    /// No: end the search with what it has found.
    Stop,
}

/// How much was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every state within the bounds.
    All,
    /// Every state that is no further away than the first violation.
    UpToViolation,
    /// No more, because that was the limit.
    StatesMax,
    /// No more, because it was told to stop.
    Stopped,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Distinct states.
    pub states: u64,
    /// Steps taken.
    pub transitions: u64,
    /// The most steps that a state is away from the first.
    pub depth: u32,
    /// Whether that was all.
    pub extent: Extent,
    /// How often a bound kept a step from being taken.
    pub reached: Reached,
    /// The longest that a state took to settle when left alone.
    pub slowest: Span,
    /// Of how many states nobody knows whether they settle when left alone: it was not seen in so many instants.
    pub undecided: u64,
    /// One counterexample for each thing that was broken, shortest first.
    pub violations: Vec<Counterexample>,
    /// The memory for what must be remembered of every state, and of every moment of a future.
    pub bytes: u64,
}

/// How to get to where something is broken.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// What.
    pub broken: Broken,
    /// For people: in which way.
    pub what: String,
    /// From the first state on.
    pub steps: Vec<Transition>,
}

/// Looks at every state of a system, and judges these properties.
pub fn explore<E>(
    system: &System<E>,
    judged: &[Property],
    limits: Limits,
    mut watch: impl FnMut(Progress) -> Flow,
) -> Outcome
where
    E: Election<Msg: Send + Sync> + Send + Sync,
{
    let mut search = Search::new(system, judged, limits);
    while !search.frontier.is_empty() && matches!(search.extent, Extent::All | Extent::StatesMax) {
        search.level(&mut watch);
    }
    search.finish()
}

/// What is wrong with one state by itself: which of these properties it breaks, or cannot but break if left alone. Slow;
/// for those who have a state and no search.
pub fn flaws<E: Election>(system: &System<E>, judged: &[Property], state: &State<E>) -> Vec<Breach> {
    let breaches = judged.iter().filter_map(|property| {
        Some(Breach { broken: Broken::Property(*property), what: check::breach(*property, state)? })
    });
    let goals = Goals::new(system, judged, INSTANTS_MAX);
    breaches.chain(calm::missed(system, state, &goals).found).collect()
}

struct Search<'a, E: Election> {
    system: &'a System<E>,
    judged: Vec<Property>,
    goals: Goals,
    limits: Limits,
    seen: Table<()>,
    log: Log,
    known: Known,
    /// The states of this level, each with its number.
    frontier: Vec<(State<E>, u32)>,
    next: Vec<(State<E>, u32)>,
    outcome: Outcome,
    extent: Extent,
    findings: Vec<Found>,
}

/// What one thread made of its part of a batch.
struct Part<E: Election> {
    fresh: Vec<Fresh<E>>,
    found: Vec<Found>,
    learnt: Known,
    transitions: u64,
    reached: Reached,
    slowest: Span,
    undecided: u64,
}

struct Fresh<E: Election> {
    print: u64,
    parent: u32,
    step: Transition,
    state: State<E>,
}

/// Something broken, in that state or by that step from it.
struct Found {
    state: u32,
    step: Option<Transition>,
    broken: Broken,
    what: String,
}

impl<'a, E> Search<'a, E>
where
    E: Election<Msg: Send + Sync> + Send + Sync,
{
    fn new(system: &'a System<E>, judged: &[Property], limits: Limits) -> Self {
        let initial = system.initial();
        let mut seen = Table::new();
        seen.insert(initial.fingerprint(&mut Scratch::default()), ());
        Self {
            system,
            judged: judged.to_vec(),
            goals: Goals::new(system, judged, limits.instants_max),
            limits,
            seen,
            log: Log::with_first(),
            known: Known::new(),
            frontier: vec![(initial, 0)],
            next: Vec::new(),
            outcome: Outcome {
                states: 1,
                transitions: 0,
                depth: 0,
                extent: Extent::All,
                reached: Reached::default(),
                slowest: Span::ZERO,
                undecided: 0,
                violations: Vec::new(),
                bytes: 0,
            },
            extent: Extent::All,
            findings: Vec::new(),
        }
    }

    fn level(&mut self, watch: &mut impl FnMut(Progress) -> Flow) {
        let frontier = std::mem::take(&mut self.frontier);
        let mut left = frontier.len();
        for batch in frontier.chunks(BATCH) {
            for part in self.work(batch) {
                self.take_in(part);
            }
            left -= batch.len();
            let flow = watch(Progress {
                states: self.outcome.states,
                transitions: self.outcome.transitions,
                depth: self.outcome.depth,
                frontier: (left + self.next.len()) as u64,
            });
            if flow == Flow::Stop {
                self.extent = Extent::Stopped;
                return;
            }
        }
        drop(frontier);
        self.system.forget_unused();
        self.frontier = std::mem::take(&mut self.next);
        if !self.findings.is_empty() && self.extent == Extent::All {
            self.extent = Extent::UpToViolation;
        } else if !self.frontier.is_empty() {
            self.outcome.depth += 1;
        }
    }

    /// Has the threads work on a batch.
    fn work(&self, batch: &[(State<E>, u32)]) -> Vec<Part<E>> {
        let threads = self.limits.threads.get();
        if threads == 1 {
            return vec![self.work_on(batch)];
        }
        let share = batch.len().div_ceil(threads);
        thread::scope(|scope| {
            let working: Vec<_> =
                batch.chunks(share).map(|part| scope.spawn(|| self.work_on(part))).collect();
            let done = working.into_iter().map(|thread| thread.join());
            done.map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        })
    }

    fn work_on(&self, states: &[(State<E>, u32)]) -> Part<E> {
        let mut part = Part {
            fresh: Vec::new(),
            found: Vec::new(),
            learnt: Known::new(),
            transitions: 0,
            reached: Reached::default(),
            slowest: Span::ZERO,
            undecided: 0,
        };
        // When there may be no more states, those that are there are still judged.
        let expands = self.extent == Extent::All;
        let mut scratch = Scratch::default();
        for (state, number) in states {
            if self.judge(state, *number, &mut part, &mut scratch) && expands {
                self.expand(state, *number, &mut part, &mut scratch);
            }
        }
        part
    }

    /// Whether all is well in a state. One in which it is not is not looked beyond.
    fn judge(&self, state: &State<E>, number: u32, part: &mut Part<E>, scratch: &mut Scratch) -> bool {
        let found_before = part.found.len();
        let mut find = |broken, what| part.found.push(Found { state: number, step: None, broken, what });
        for property in &self.judged {
            if let Some(what) = check::breach(*property, state) {
                find(Broken::Property(*property), what);
            }
        }
        if !self.goals.is_empty() {
            let settles =
                calm::settles(self.system, state, &self.goals, &self.known, &mut part.learnt, scratch);
            match calm::in_time(settles, &self.goals) {
                calm::InTime::Yes(took) => part.slowest = part.slowest.max(took),
                calm::InTime::No => {
                    let missed = calm::missed(self.system, state, &self.goals);
                    missed.found.into_iter().for_each(|Breach { broken, what }| find(broken, what));
                    part.undecided += u64::from(missed.undecided);
                }
                calm::InTime::Unknown => part.undecided += 1,
            }
        }
        part.found.len() == found_before
    }

    fn expand(&self, state: &State<E>, number: u32, part: &mut Part<E>, scratch: &mut Scratch) {
        let Part { fresh, found, transitions, reached, .. } = part;
        let cut = self.system.successors(state, |Successor { step, state, breaches }| {
            *transitions += 1;
            let judged = breaches.into_iter().filter(|breach| self.judges(breach.broken));
            found.extend(judged.map(|Breach { broken, what }| Found {
                state: number,
                step: Some(step),
                broken,
                what,
            }));
            let print = state.fingerprint(scratch);
            if !self.seen.contains(print) {
                fresh.push(Fresh { print, parent: number, step, state });
            }
        });
        reached.add(cut);
    }

    /// Whether that is to be judged: invariants are in any case.
    fn judges(&self, broken: Broken) -> bool {
        match broken {
            Broken::Property(property) => self.judged.contains(&property),
            Broken::Invariant(_) => true,
        }
    }

    fn take_in(&mut self, part: Part<E>) {
        let Part { fresh, found, learnt, transitions, reached, slowest, undecided } = part;
        self.outcome.transitions += transitions;
        self.outcome.reached.add(reached);
        self.outcome.slowest = self.outcome.slowest.max(slowest);
        self.outcome.undecided += undecided;
        self.known.absorb(learnt);
        for Fresh { print, parent, step, state } in fresh {
            if self.outcome.states == self.limits.states_max {
                if !self.seen.contains(print) {
                    self.extent = Extent::StatesMax;
                    break;
                }
            } else if self.seen.insert(print, ()) {
                self.outcome.states += 1;
                let number = self.log.add(parent, step.pack());
                self.next.push((state, number));
            }
        }
        for found in found {
            if !self.findings.iter().any(|earlier| earlier.broken == found.broken) {
                self.findings.push(found);
            }
        }
    }

    fn path(&self, state: u32) -> impl Iterator<Item = Transition> {
        self.log.path(state).into_iter().map(Transition::unpack)
    }

    fn finish(self) -> Outcome {
        let counterexample = |Found { state, step, broken, what }: &Found| Counterexample {
            broken: *broken,
            what: what.clone(),
            steps: self.path(*state).chain(*step).collect(),
        };
        let violations = self.findings.iter().map(counterexample).collect();
        let bytes = (self.seen.bytes() + self.log.bytes() + self.known.bytes()) as u64;
        let mut outcome = Outcome { extent: self.extent, bytes, violations, ..self.outcome };
        outcome.violations.sort_by_key(|counterexample| counterexample.steps.len());
        outcome
    }
}
