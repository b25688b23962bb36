//! Clusters to which much happens, and then nothing more.

use super::*;

/// What may happen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// Processes die and come back, stand aside and stand again, and hand over.
    Orderly,
    /// And machines stop and go on, and connections break.
    All,
}

/// A cluster in trouble.
struct Troubled {
    cluster: Cluster,
    protocol: Protocol,
    ids: Vec<NodeId>,
}

impl Troubled {
    fn new(protocol: Protocol, nodes: u32, seed: u64) -> Self {
        let priorities: Vec<u32> = (0..nodes).map(|id| (seed >> id) as u32 & 1).collect();
        let mut cluster = Cluster::new(protocol, &priorities, Some(Span::secs(1)), seed);
        cluster.run(Span::millis(1)); // Nobody connects before its incarnation is on its disk.
        Self { cluster, protocol, ids: (1..=nodes).map(NodeId).collect() }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.cluster.delay(); // It draws the next number.
        (self.cluster.random >> 40) % bound
    }

    fn anybody(&mut self) -> NodeId {
        let at = self.below(self.ids.len() as u64);
        self.ids[at as usize]
    }

    fn happen(&mut self, trouble: Trouble) {
        let (one, other) = (self.anybody(), self.anybody());
        let up = self.cluster.nodes.contains_key(&one);
        match self.below(if trouble == Trouble::All { 9 } else { 6 }) {
            0 if up && self.cluster.nodes.len() > 1 => self.kill(one),
            0 | 1 => {
                self.restart(one);
                if trouble == Trouble::Orderly {
                    self.run(Span::secs(1)); // It has met the others, and knows what they have seen.
                }
            }
            2 => {
                let hold = Hold::For(Span::millis(self.below(5_000)));
                self.ask(one, Command::Resign { hold });
            }
            3 => self.ask(one, Command::Stand),
            4 | 5 => {
                self.ids.clone().into_iter().for_each(|id| self.ask(id, Command::Transfer { to: other }))
            }
            6 if up => drop(self.cluster.stopped.insert(one)),
            6 | 7 => self.cluster.resume(one),
            _ => self.reconnect(one, other),
        }
        let longest = [1_000, 30_000, 300_000, 2_000_000][self.below(4) as usize];
        let pause = Span::micros(self.below(longest));
        self.run(pause);
    }

    fn run(&mut self, span: Span) {
        self.cluster.run(span);
    }

    fn ask(&mut self, id: NodeId, command: Command) {
        if !self.cluster.stopped.contains(&id) {
            self.cluster.ask(id, command);
        }
    }

    /// What was on its way to the process is lost with it.
    fn kill(&mut self, id: NodeId) {
        self.cluster.kill(id);
        self.cluster.stopped.remove(&id);
        self.cluster.queue.retain(|_, (to, _)| *to != id);
        self.cluster.waiting.retain(|(to, _)| *to != id);
    }

    fn restart(&mut self, id: NodeId) {
        if self.cluster.nodes.contains_key(&id) {
            return;
        }
        let Durable { incarnation, count, epoch, .. } = self.cluster.disks[&id].clone();
        let incarnation = incarnation.next().expect("few incarnations");
        let config = LeadershipConfig { epoch, ..config(self.protocol, 0, Some(Span::secs(1))) };
        let node = node_in((incarnation, count), self.cluster.now, self.protocol, id, &self.ids, config);
        self.cluster.start(id, node);
        self.cluster.run(Span::micros(1));
        let others: Vec<NodeId> = self.cluster.nodes.keys().copied().filter(|other| *other != id).collect();
        others.into_iter().for_each(|other| self.cluster.connect(&[id, other]));
    }

    /// Both ends of a connection hear that it broke, and of the next.
    fn reconnect(&mut self, one: NodeId, other: NodeId) {
        let ends = [(one, other), (other, one)];
        if one == other || !ends.iter().all(|(id, _)| self.cluster.nodes.contains_key(id)) {
            return;
        }
        for (id, peer) in ends {
            let from_peer =
                |input: &Input<AnyMsg>| matches!(input, Input::Frame(frame) if frame.from == peer);
            self.cluster.queue.retain(|_, (to, input)| *to != id || !from_peer(input));
            self.cluster.waiting.retain(|(to, input)| *to != id || !from_peer(input));
            let incarnation = self.cluster.nodes[&peer].incarnation();
            self.cluster.give(id, Span::ZERO, Input::Gone { peer, incarnation });
        }
        self.cluster.connect(&[one, other]);
    }

    /// Nothing more happens, and everybody is there.
    fn calm(&mut self) {
        for id in self.ids.clone() {
            self.restart(id);
            self.cluster.resume(id);
            self.ask(id, Command::Stand);
        }
        self.run(Span::secs(60));
    }
}

/// Each node's own leaderships, and those that it follows, have ever larger epochs.
fn epochs_grow(cluster: &Cluster) -> Result<(), TestCaseError> {
    for id in cluster.disks.keys() {
        let mut seen = 0;
        for (at, _, Announcement { leader, epoch, .. }) in
            cluster.announced.iter().filter(|(_, by, _)| by == id)
        {
            let own = *leader == Some(*id);
            prop_assert!(
                leader.is_none() || *epoch > seen || *epoch == seen && !own,
                "{id} at {at}: {epoch}, {seen}"
            );
            seen = seen.max(*epoch);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_happened_in_the_end_all_announce_one_leader_and_stay_with_it(
        seed: u64, nodes in 2u32..6, events in 1usize..25, protocol in prop::sample::select(&IN_AGENT[..]),
    ) {
        let mut troubled = Troubled::new(protocol, nodes, seed);
        (0..events).for_each(|_| troubled.happen(Trouble::All));
        troubled.calm();
        let agreed = troubled.cluster.agreed();
        prop_assert!(agreed.is_some(), "{:?}", troubled.cluster.announced.iter().rev().take(9).collect::<Vec<_>>());
        troubled.run(Span::secs(60));
        prop_assert_eq!(troubled.cluster.agreed(), agreed);
        epochs_grow(&troubled.cluster)?;
    }

    /// While all that run are connected and in time, no two leaderships have the same number, whoever led.
    #[test]
    fn in_a_group_that_stays_connected_no_epoch_is_used_twice(
        seed: u64, nodes in 2u32..6, events in 1usize..25, protocol in prop::sample::select(&ONE_GROUP[..]),
    ) {
        let mut troubled = Troubled::new(protocol, nodes, seed);
        (0..events).for_each(|_| troubled.happen(Trouble::Orderly));
        troubled.calm();
        let began = troubled.cluster.began_since(Time::ZERO);
        let mut epochs: Vec<u64> = began.iter().map(|(_, epoch, _)| *epoch).collect();
        epochs.sort_unstable();
        prop_assert!(epochs.is_sorted_by(|one, next| one < next), "{:?}", began);
        epochs_grow(&troubled.cluster)?;
    }
}
