//! Steps at random, from a seed. What no search can complete is walked through.

use std::sync::Arc;

use bellwether_proto::exclusive::grant::{GrantKind, Name};
use bellwether_proto::exclusive::terms::{Drift, Terms};
use bellwether_proto::time::Span;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::clocks::{Clock, Clocks};
use super::courses::Course;
use super::lull::Lull;
use super::meddle::Meddle;
use super::model::{Model, Scratch};
use super::promise::Breach;
use super::setting::{Budget, Copies, Disk, Setting};
use super::sights::Sights;
use super::step::Step;
use crate::chance::below;

/// How walks are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Walker {
    /// How many steps each takes.
    pub length: u32,
    /// How far clocks may differ from each other.
    pub trod: Trod,
    /// How often the voters change, at most. Above [`Walker::FEW`] they do in every walk.
    pub changes: u32,
    /// How many lulls there are in each, in which what was begun comes to its end. If there are any, names are deleted, too.
    pub lulls: u32,
    /// Whether what becomes of each walk is judged when nothing goes wrong any more.
    pub settles: bool,
}

impl Walker {
    /// If the voters change no more often than this, they do in half of the walks.
    pub const FEW: u32 = 3;
}

/// Which clocks walks have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trod {
    /// Half of them have clocks that drift, within what the terms allow.
    WithinDrift,
    /// All have clocks that drift further than the terms allow. Whether a lease is valid that a majority has buried is not judged
    /// then: what rests on it is.
    BeyondDrift,
}

/// A walk that broke a promise.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The seed of the walk.
    pub seed: u64,
    /// After how many steps.
    pub steps: u32,
    /// What is broken.
    pub breach: Breach,
}

/// One walk.
///
/// # Errors
/// What it broke.
pub fn walk(walker: Walker, seed: u64, meddle: &dyn Meddle) -> Result<Sights, Violation> {
    tread(walker, seed, meddle, |_, _| {})
}

/// A walk along a course: a few steps at random between its parts, which begin nothing else. Seed 0 does not go astray.
///
/// # Errors
/// What it broke.
pub fn follow(course: &Course, seed: u64, meddle: &dyn Meddle) -> Result<Sights, Violation> {
    pursue(course, seed, meddle, |_, _| {})
}

/// The steps of a walk along a course in words.
pub fn retrace(course: &Course, seed: u64, meddle: &dyn Meddle) -> Vec<String> {
    let mut words = Vec::new();
    let _told_before = pursue(course, seed, meddle, |model, step| words.push(model.describe(step)));
    words
}

/// No more steps are taken at random between two parts of a course.
const ASTRAY: u64 = 6;

fn pursue(
    course: &Course,
    seed: u64,
    meddle: &dyn Meddle,
    mut watch: impl FnMut(&Model, Step),
) -> Result<Sights, Violation> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let habits = Habits::draw(0, &mut rng);
    let mut scratch = Scratch::default();
    let mut model = Model::new(Arc::new(course.setting.clone()), meddle, &mut scratch);
    let mut steps = 0;
    for part in &course.parts {
        let mut take = |model: &mut Model, step: Step| {
            steps += 1;
            watch(model, step);
            model.take(step, meddle, &mut scratch)
        };
        let mut taken = Ok(());
        let astray = if seed == 0 { 0 } else { below(ASTRAY, &mut rng) };
        for _ in 0..astray {
            let step = habits.choose(&model, &mut rng);
            if taken.is_ok() && !step.begins() {
                taken = take(&mut model, step);
            }
        }
        let taken = taken.and_then(|()| model.rests(part, &mut take));
        taken.map_err(|breach| Violation { seed, steps, breach })?;
    }
    Ok(scratch.sights)
}

/// The steps of a walk in words.
pub fn replay(walker: Walker, seed: u64, meddle: &dyn Meddle) -> Vec<String> {
    let mut words = Vec::new();
    let _told_before = tread(walker, seed, meddle, |model, step| words.push(model.describe(step)));
    words
}

fn tread(
    walker: Walker,
    seed: u64,
    meddle: &dyn Meddle,
    mut watch: impl FnMut(&Model, Step),
) -> Result<Sights, Violation> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let setting = Arc::new(draw(walker, &mut rng));
    let habits = Habits::draw(walker.changes, &mut rng);
    let mut scratch = Scratch::default();
    let mut model = Model::new(setting, meddle, &mut scratch);
    let rests_after = walker.length / (walker.lulls + 1) + 1;
    let mut steps = 0;
    for at in 1..=walker.length {
        let mut take = |model: &mut Model, step: Step| {
            steps += 1;
            watch(model, step);
            model.take(step, meddle, &mut scratch)
        };
        let step = habits.choose(&model, &mut rng);
        let mut taken = take(&mut model, step);
        if taken.is_ok() && at % rests_after == 0 {
            let lull = Lull::draw(&model, &mut rng);
            taken = model.rests(&lull, &mut take);
        }
        taken.map_err(|breach| Violation { seed, steps, breach })?;
    }
    if walker.settles && model.may_hold() {
        let settled = model.settles(meddle, &mut scratch, &mut watch);
        settled.map_err(|breach| Violation { seed, steps, breach })?;
        scratch.sights.settled += 1;
    }
    Ok(scratch.sights)
}

/// A tick of a walk.
const TICK: Span = Span::millis(2);

fn draw(Walker { trod, changes, lulls, .. }: Walker, rng: &mut ChaCha8Rng) -> Setting {
    let (voters, coordinators, agents) = (if one_in(4, rng) { 5 } else { 3 }, 2, 2 + below(2, rng) as usize);
    let often = changes > Walker::FEW;
    let changes = if often || one_in(2, rng) { 1 + below(u64::from(changes), rng) as u32 } else { 0 };
    let (voters, spares) = if changes > 0 {
        (voters.min(3 - below(2, rng) as usize), 1 + below(2, rng) as usize)
    } else {
        (voters, 0)
    };
    let (drift, clocks) = drift(trod, voters + spares + coordinators + agents, rng);
    let ttl = TICK * (1 + below(6, rng));
    let longest = if one_in(2, rng) { ttl } else { ttl * 2 };
    let mut names = vec![(Name::leader(), if one_in(6, rng) { GrantKind::Token } else { GrantKind::Lease })];
    if one_in(3, rng) || lulls > 0 {
        names.push((Name::new("backup").expect("a name"), GrantKind::Lease));
    }
    let amnesias = if changes == 0 && one_in(4, rng) { (voters as u32 - 1) / 2 } else { 0 };
    let session = if one_in(2, rng) { 7 } else { 0 };
    let deletions = if lulls > 0 { u32::MAX } else { 0 };
    Setting {
        session,
        voters,
        spares,
        coordinators,
        agents,
        names,
        founded: !one_in(8, rng),
        disk: if one_in(2, rng) { Disk::AtOnce } else { Disk::Behind },
        terms: Terms { ttl, longest, drift, retry: TICK * (1 + below(2, rng)) },
        tick: TICK,
        clocks,
        eager: one_in(2, rng),
        heard: Vec::new(),
        asked: Vec::new(),
        copies: Copies::Few,
        before: Vec::new(),
        judges_leases: trod == Trod::WithinDrift,
        budget: Budget { amnesias, changes, deletions, lists: deletions, ..Budget::UNBOUNDED },
    }
}

/// How far clocks are trusted, and what they are like.
fn drift(trod: Trod, processes: usize, rng: &mut ChaCha8Rng) -> (Drift, Clocks) {
    const FAR: u32 = 250_000;
    if trod == Trod::WithinDrift && one_in(2, rng) {
        return (Drift(0), Clocks::Alike);
    }
    let clock = |_| Clock { begins: 1_000_000 + below(1_000_000, rng), rate: rate(FAR, rng) };
    let clocks = Clocks::Each((0..processes).map(clock).collect());
    (if trod == Trod::WithinDrift { Drift(FAR) } else { Drift(0) }, clocks)
}

/// As slow as allowed, as fast, or between.
fn rate(far: u32, rng: &mut ChaCha8Rng) -> u64 {
    let far = u64::from(far);
    match below(4, rng) {
        0 => 1_000_000 - far,
        1 => 1_000_000 + far,
        _ => 1_000_000 - far + below(2 * far + 1, rng),
    }
}

pub(super) fn one_in(chances: u64, rng: &mut ChaCha8Rng) -> bool {
    below(chances, rng) == 0
}

/// How often each kind of step is taken in one walk.
struct Habits {
    weights: [u32; KINDS],
    total: u32,
    /// No more messages are under way.
    crowd: usize,
    /// One in so many messages that arrive is just any; the others are late ones.
    any: u64,
    /// The second coordinator wakes up once in so many times: two that are equally eager keep each other from everything.
    rival: u64,
}

const KINDS: usize = 12;

impl Habits {
    fn draw(changes: u32, rng: &mut ChaCha8Rng) -> Self {
        let mut some = |least: u64, most: u64| (least + below(most - least + 1, rng)) as u32;
        let rare = |weight: u32| if weight < 5 { 0 } else { weight };
        let weights = [
            some(4_000, 8_000),                                              // deliver
            rare(some(0, 100)),                                              // duplicate
            rare(some(0, 400)),                                              // lose
            some(30, 600),                                                   // tick
            some(600, 2_000),                                                // wake
            some(600, 3_000),                                                // write
            rare(some(0, 30)),                                               // restart a voter
            rare(some(0, 20)),                                               // restart a coordinator
            rare(some(0, 20)),                                               // restart an agent
            some(10, 120),                                                   // command
            rare(some(0, 20)),                                               // part or meet
            if changes > Walker::FEW { some(40, 200) } else { some(5, 40) }, // change who votes
        ];
        let (crowd, any) = (16 + below(80, rng) as usize, 1 + below(8, rng));
        Self { weights, total: weights.iter().sum(), crowd, any, rival: 1 + below(40, rng) }
    }

    fn choose(&self, model: &Model, rng: &mut ChaCha8Rng) -> Step {
        if model.net.len() > self.crowd {
            return Step::Lose(below(model.net.len() as u64, rng) as usize);
        }
        loop {
            if let Some(step) = self.try_kind(self.kind(rng), model, rng) {
                return step;
            }
        }
    }

    fn kind(&self, rng: &mut ChaCha8Rng) -> usize {
        let mut at = below(u64::from(self.total), rng) as u32;
        let chosen = self.weights.iter().position(|weight| {
            let is_it = at < *weight;
            at = at.saturating_sub(*weight);
            is_it
        });
        chosen.unwrap_or(0)
    }

    fn try_kind(&self, kind: usize, model: &Model, rng: &mut ChaCha8Rng) -> Option<Step> {
        let agents = model.agents.len();
        match kind {
            0 => self.message(model, rng).map(Step::Deliver),
            1 => self.message(model, rng).map(Step::Duplicate),
            2 => some_of(model.net.len(), rng).map(Step::Lose),
            3 => Some(Step::Tick),
            4 => self.wake(model, rng),
            5 => write(model, rng),
            6 => restart_voter(model, rng),
            7 => some_of(model.coordinators.len(), rng).map(|index| match one_in(8, rng) {
                true => Step::ForgetCoordinator(index),
                false => Step::RestartCoordinator(index),
            }),
            // Only whoever asks voters is told that it forgot something.
            8 => some_of(agents, rng).map(|index| match all_leases(model) && one_in(8, rng) {
                true => Step::ForgetAgent(index),
                false => Step::RestartAgent(index),
            }),
            9 => command(model, rng),
            10 => {
                let (coordinator, agent) = (some_of(model.coordinators.len(), rng)?, some_of(agents, rng)?);
                let parts = one_in(2, rng);
                Some(if parts { Step::Part(coordinator, agent) } else { Step::Meet(coordinator, agent) })
            }
            _ => change(model, rng),
        }
    }

    fn wake(&self, model: &Model, rng: &mut ChaCha8Rng) -> Option<Step> {
        let mut wakes = Vec::new();
        model.wakes(&mut wakes);
        let wake = some_of(wakes.len(), rng).map(|at| wakes[at])?;
        (wake != Step::WakeCoordinator(1) || one_in(self.rival, rng)).then_some(wake)
    }

    /// One that was sent lately, more often than not: a walk that only hears old messages comes to nothing.
    fn message(&self, model: &Model, rng: &mut ChaCha8Rng) -> Option<usize> {
        const LATE: usize = 8;
        let len = model.net.len();
        if one_in(self.any, rng) {
            return some_of(len, rng);
        }
        some_of(len.min(LATE), rng).map(|back| len - 1 - back)
    }
}

fn all_leases(model: &Model) -> bool {
    model.setting.names.iter().all(|(_, kind)| *kind == GrantKind::Lease)
}

pub(super) fn some_of(len: usize, rng: &mut ChaCha8Rng) -> Option<usize> {
    (len > 0).then(|| below(len as u64, rng) as usize)
}

fn write(model: &Model, rng: &mut ChaCha8Rng) -> Option<Step> {
    let voter = some_of(model.voters.len(), rng)?;
    let step = if one_in(2, rng) { Step::Write(voter) } else { Step::WriteAll(voter) };
    (model.voters[voter].unwritten() > 0).then_some(step)
}

fn restart_voter(model: &Model, rng: &mut ChaCha8Rng) -> Option<Step> {
    let voter = some_of(model.voters.len(), rng)?;
    // Whoever does not vote any more may vote again with another store.
    // But if all whom the file lists lost their stores, they would be another cluster.
    let may_forget = voter > 0 && !model.votes(voter) && one_in(2, rng);
    let forgets = may_forget || model.votes(voter) && model.left.amnesias > 0 && one_in(8, rng);
    Some(if forgets { Step::Amnesia(voter) } else { Step::RestartVoter(voter) })
}

fn change(model: &Model, rng: &mut ChaCha8Rng) -> Option<Step> {
    let (coordinator, voter) = (some_of(model.coordinators.len(), rng)?, some_of(model.voters.len(), rng)?);
    (model.left.changes > 0).then_some(Step::Change(coordinator, voter))
}

fn command(model: &Model, rng: &mut ChaCha8Rng) -> Option<Step> {
    let (agent, name) = (some_of(model.agents.len(), rng)?, some_of(model.setting.names.len(), rng)?);
    if !model.agents[agent].wants(&model.setting.names[name].0) {
        // What is forgotten is campaigned for again.
        let deletes = model.left.deletions > 0 && one_in(4, rng);
        return Some(if deletes { Step::Delete(agent, name) } else { Step::Campaign(agent, name) });
    }
    // Whoever campaigns does so for a while.
    match below(12, rng) {
        0 => Some(Step::Transfer(agent, name)),
        1 | 2 => Some(Step::Release(agent, name)),
        _ => None,
    }
}
