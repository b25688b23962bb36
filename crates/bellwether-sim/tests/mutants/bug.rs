//! Algorithms that are broken, or changed, on purpose.

use std::cell::Cell;

use bellwether_proto::canonical::Form;
use bellwether_proto::election::{Actions, AnyElection, AnyMsg, Election, Input, Setup};
use bellwether_proto::ident::NodeId;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::roster::Roster;
use bellwether_proto::time::{Span, Time};
use bellwether_sim::journal::Journal;
use bellwether_sim::scenario::Scenario;
use bellwether_sim::world::World;

/// What a node does differently.
pub(crate) trait Bug: Sync {
    /// What its algorithm is told, changed or looked at before it starts.
    fn is_told(&self, _: &mut Setup) {}

    fn lets_in(&self, _: &Roster, _: &Input<AnyMsg>) -> bool {
        true
    }

    /// What it takes an input for.
    fn hears(&self, _: &Roster, input: Input<AnyMsg>) -> Input<AnyMsg> {
        input
    }

    /// In answer to what it does not let in.
    fn says_instead(&self, _: &Input<AnyMsg>) -> Option<(NodeId, AnyMsg)> {
        None
    }

    fn after_recovery(&self, _: &Roster) -> Vec<Input<AnyMsg>> {
        Vec::new()
    }

    /// What it does with an input: as the four before say, unless it says otherwise.
    fn handles(&self, node: &mut Mutant, now: Time, input: Input<AnyMsg>, out: &mut Actions<AnyMsg>) {
        let Mutant { election, setup: Setup { roster, .. }, .. } = node;
        if !self.lets_in(roster, &input) {
            self.says_instead(&input).into_iter().for_each(|(to, msg)| out.send(to, msg));
            return;
        }
        let recovery = matches!(input, Input::Recovery);
        election.handle(now, self.hears(roster, input), out);
        if recovery {
            self.after_recovery(roster).into_iter().for_each(|input| election.handle(now, input, out));
        }
    }

    fn shows(&self, _: NodeId, opinion: Opinion) -> Opinion {
        opinion
    }
}

pub(crate) struct NoBug;
impl Bug for NoBug {}

/// Any algorithm with any bug, in one type: worlds and searches are compiled for each type that they play, and that takes long.
#[derive(Clone)]
pub(crate) struct Mutant {
    pub(crate) election: AnyElection,
    pub(crate) setup: Setup,
    pub(crate) tau_fd: Span,
    /// How many inputs it has had.
    pub(crate) steps: u32,
    bug: &'static dyn Bug,
}

thread_local! {
    static PLANTED: Cell<Option<&'static dyn Bug>> = const { Cell::new(None) };
}

/// Mutants that start in this thread from now on have that bug: an election is made of a type and a setup, and neither has room
/// for it.
pub(crate) fn plant(bug: &'static dyn Bug) {
    PLANTED.set(Some(bug));
}

/// A world of such mutants. It must come to its end before the next begins.
pub(crate) fn world<'a>(
    bug: &'static dyn Bug,
    scenario: &Scenario,
    journal: Journal<'a>,
) -> World<'a, Mutant> {
    plant(bug);
    World::new(scenario, journal)
}

impl Election for Mutant {
    type Msg = AnyMsg;

    fn new(mut setup: Setup, tau_fd: Span) -> Self {
        let bug = PLANTED.get().expect("a bug was planted in this thread");
        bug.is_told(&mut setup);
        Self { election: AnyElection::new(setup.clone(), tau_fd), setup, tau_fd, steps: 0, bug }
    }

    fn handle(&mut self, now: Time, input: Input<AnyMsg>, out: &mut Actions<AnyMsg>) {
        self.steps += 1;
        self.bug.handles(self, now, input, out);
    }

    fn deadline(&self) -> Time {
        self.election.deadline()
    }

    fn opinion(&self) -> Opinion {
        let opinion = self.election.opinion();
        if opinion.status == Status::Normal {
            self.bug.shows(self.setup.roster.me(), opinion)
        } else {
            opinion
        }
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        self.election.canonical(now, form);
    }
}
