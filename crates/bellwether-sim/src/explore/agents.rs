//! Nodes as agents run them: with leadership and its release, with connections that are told of, and with programs that work and
//! ask for things.
//!
//! Agents promise most where members are connected, what is said arrives in time, and all clocks agree: so time is the same for
//! all nodes, and messages take δ at most (`together.rs`). It passes for as long as it likes: whatever is periodic repeats, so
//! there are finitely many states.
//!
//! The times of an agent are seconds, and in a search each of its periods makes states. So its patience is shorter here, but
//! still longer than what it waits for takes.

use std::sync::Arc;

use bellwether_proto::election::{Election, Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Input;
use bellwether_proto::tenure::Ticket;
use bellwether_proto::time::{Span, Time};

use super::bounds::Bounds;
use super::calm;
use super::connections::News;
use super::program::{Ask, Program, Work};
use super::record::Record;
use super::state::{Host, State};
use super::system::{Occasion, Reaction, System, index_of};
use super::together::Pace;
use super::transition::Transition;
use super::turn::{Deed, Turn};
use crate::blueprint::Blueprint;
use crate::check;
use crate::run::facts;
use crate::scenario::Policy;

/// Where a search of agents begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// All have just started, and nobody has been told of any connection.
    Start,
    /// All announce one leader, and have for as long as anybody remembers. It has just asked who is there; and time does not
    /// pass before something befalls the group.
    Settled,
}

/// What a search knows of its agents.
#[derive(Clone, Debug)]
pub(super) struct Agents {
    origin: Origin,
    /// How long a node is up before it counts as one that could be asked which epochs it has seen.
    notice: Span,
    /// How long the work of a leader may take to end.
    release_timeout: Span,
}

/// Whether agents of that algorithm can be searched. Those that take a failure detector would need one that tells what a real
/// one does, in time.
pub fn can_search_agents(protocol: Protocol) -> bool {
    let spec = protocol.spec();
    spec.runs_in_agent() && spec.detector.is_none()
}

impl Agents {
    fn new<E: Election>(system: &System<E>, origin: Origin) -> Self {
        let facts = facts(&system.scenario);
        Self { origin, notice: check::notice(&facts), release_timeout: facts.leading.release_timeout }
    }

    pub(super) fn program(&self, now: Time) -> Program {
        Program::new(now + self.notice, self.release_timeout)
    }
}

impl<E: Election> System<E> {
    /// That algorithm as agents run it. All others give way to the `preferred` node, if the algorithm can hand over.
    ///
    /// # Panics
    /// If agents of that algorithm [cannot be searched](can_search_agents), or as [`System::new`] does.
    pub fn of_agents(
        protocol: Protocol,
        nodes: u32,
        bounds: Bounds,
        origin: Origin,
        preferred: Option<NodeId>,
    ) -> Self {
        assert!(can_search_agents(protocol), "agents of {} cannot be searched", protocol.name());
        let mut system = Self::new(protocol, Variant::Repaired, nodes, bounds);
        let tau = system.scenario.timing.tau;
        system.scenario.agent = true;
        system.scenario.policy = Policy {
            priority: preferred.iter().map(|id| (*id, 1)).collect(),
            preempt: system.scenario.ids().filter(|_| preferred.is_some()).map(|id| (id, tau)).collect(),
            min_peers: 0,
            release_timeout: tau * 3 / 2,
            resign_hold: tau * 5 / 2,
        };
        system.blueprint = Blueprint::of(&system.scenario);
        system.pace = Pace::Common;
        system.in_order = true;
        system.agents = Some(Agents::new(&system, origin));
        system
    }

    /// The same system, with nodes that do not wait for the work of their programs: a planted fault.
    #[must_use]
    pub fn with_hasty_nodes(mut self) -> Self {
        let mut scenario = self.scenario.clone();
        scenario.policy.release_timeout = Span::ZERO;
        self.blueprint = Blueprint::of(&scenario);
        self
    }

    /// The first state of agents that have these nodes, which were started by these turns.
    pub(super) fn first_of_agents(&self, mut state: State<E>, started: &[Arc<Turn<E>>]) -> State<E> {
        state.record = Some(Arc::new(Record::of_start()));
        for at in 0..state.hosts.len() {
            for other in at + 1..state.hosts.len() {
                self.connect_pair(&mut state, at, other);
            }
        }
        for turn in started {
            let breaches = self
                .carry_out(&mut state, turn.host.index(), &turn.deeds)
                .expect("a first message fits into its channel");
            debug_assert!(breaches.is_empty(), "nobody announces anything when it starts");
        }
        match self.agents.as_ref().map(|agents| agents.origin) {
            Some(Origin::Settled) => calm::at_rest(self, &state),
            Some(Origin::Start) | None => state,
        }
    }

    /// Everything that programs may do next.
    pub(super) fn for_each_deed_of_programs(
        &self,
        host: &Host<E>,
        left: &Bounds,
        mut take: impl FnMut(Transition),
    ) {
        let Some(program) = host.program else { return };
        let node = index_of(host.index());
        if program.may_finish() {
            take(Transition::Finish { node, cut: 0 });
        }
        if left.commands > 0 {
            let nodes = index_of(self.scenario.nodes as usize);
            Ask::of(node, nodes).for_each(|what| take(Transition::Ask { node, what, cut: 0 }));
        }
    }

    /// A program asks for something. If that is refused at once, nothing has changed, and it has not asked. To leave is never
    /// refused: what was asked before is.
    pub(super) fn ask(&self, base: State<E>, at: usize, what: Ask) -> Option<Reaction<E>> {
        let host = &base.hosts[at];
        let input = Input::Command { ticket: Ticket::default(), command: what.command() };
        let turn = self.play(host, 2 + u32::from(what.code()), input, |program| program.unanswered += 1)?;
        let refuses = |deed: &Deed<E::Msg>| matches!(deed, Deed::Answer(_, Err(_)));
        let refused = what != Ask::Leave && turn.deeds.iter().any(refuses);
        (!refused).then_some(Reaction { occasion: Occasion::Asked, ..Reaction::of(base, turn) })
    }

    /// The work of a leader has ended.
    pub(super) fn finish(&self, base: State<E>, at: usize) -> Option<Reaction<E>> {
        let host = &base.hosts[at];
        host.program.filter(Program::may_finish)?;
        let turn = self.play(host, 1, Input::Released, |program| program.work = Work::None)?;
        Some(Reaction::of(base, turn))
    }

    /// What a node makes of what its program does, of which that code tells.
    fn play(
        &self,
        host: &Host<E>,
        code: u32,
        input: Input<E::Msg>,
        note: impl FnOnce(&mut Program),
    ) -> Option<Arc<Turn<E>>> {
        let print = host.print.rotate_left(2).wrapping_add(u128::from(code) << 64 | 0x9e37_79b9);
        let turn = self.turns.get(print);
        turn.or_else(|| {
            let mut after = host.opened();
            note(after.program.as_mut()?);
            let outbox = after.input(input)?;
            Some(self.turns.share(print, self.turn(Some(host), after, outbox)))
        })
    }

    /// A node has left.
    pub(super) fn leave(&self, state: &mut State<E>, at: usize) {
        let host = &state.hosts[at];
        let down = Host { seen: host.seen, ..Host::down(host.id, host.disk.clone()) };
        state.hosts[at] = self.seal(down);
        self.disconnect(state, at, News::Disconnected);
    }

    /// Forgets what was announced and cannot be again.
    pub(super) fn forget_announced(&self, state: &mut State<E>) {
        let least = state.hosts.iter().map(|host| host.disk.epoch).min().unwrap_or(0);
        if let Some(record) = state.record.as_mut().filter(|record| record.begins_below(least)) {
            Arc::make_mut(record).forget_below(least);
        }
    }
}
