//! A coordinator, and which life of its node it is.

use bellwether_proto::exclusive::coordinator::{Coordinator, CoordinatorAction};
use bellwether_proto::exclusive::ident::{Life, LifeId};
use bellwether_proto::exclusive::message::{Answer, Said, Wish};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::time::Time;

use super::post::{Post, Seen};
use super::setting::Setting;
use super::voters::listed;

/// A coordinator that believes to be nominated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CoordinatorProcess {
    life: Life,
    machine: Coordinator,
    starts: u64,
    index: usize,
}

impl CoordinatorProcess {
    pub(super) fn new(setting: &Setting, index: usize, now: Time, post: &mut Post) -> Self {
        let life = life_of(Setting::coordinator(index), 1, Incarnation(1));
        let machine = Coordinator::new(life, listed(setting), setting.terms);
        let mut process = Self { life, machine, starts: 1, index };
        process.begins(setting, now, post);
        process
    }

    pub(super) fn deadline(&self) -> Time {
        self.machine.deadline()
    }

    pub(super) fn wakes(&mut self, setting: &Setting, now: Time, post: &mut Post) {
        self.machine.wake(now);
        self.drain(setting, post);
    }

    pub(super) fn hears(&mut self, setting: &Setting, now: Time, from: NodeId, said: &Said, post: &mut Post) {
        match said.answer {
            Answer::Outlived { life, known } if life == self.life => {
                post.seen.push(Seen::Outlived);
                self.life.incarnation = known.next().unwrap_or(known);
                self.machine.reborn(now, self.life);
            }
            _ => self.machine.heard(now, from, said),
        }
        self.drain(setting, post);
    }

    pub(super) fn is_wished(
        &mut self,
        setting: &Setting,
        now: Time,
        from: NodeId,
        wish: Wish,
        post: &mut Post,
    ) {
        self.machine.wish(now, from, wish);
        self.drain(setting, post);
    }

    /// An agent can be spoken with, or not any more.
    pub(super) fn reaches(
        &mut self,
        setting: &Setting,
        now: Time,
        node: NodeId,
        reached: bool,
        post: &mut Post,
    ) {
        self.machine.reaches(now, node, reached);
        self.drain(setting, post);
    }

    /// The election names it, or does not any more.
    pub(super) fn is_nominated(&mut self, setting: &Setting, now: Time, nominated: bool, post: &mut Post) {
        self.machine.nominate(now, nominated);
        self.drain(setting, post);
    }

    /// In the next incarnation, or in the first, if it forgot which it had.
    pub(super) fn restarts(&mut self, setting: &Setting, now: Time, forgets: bool, post: &mut Post) {
        self.starts += 1;
        let next = self.life.incarnation.next().unwrap_or(self.life.incarnation);
        self.life = life_of(self.life.node, self.starts, if forgets { Incarnation(1) } else { next });
        self.machine = Coordinator::new(self.life, listed(setting), setting.terms);
        self.begins(setting, now, post);
    }

    /// Whether an answer would change nothing, and nothing would be said. Of what is answered once per ballot and name, that is so for
    /// good then.
    pub(super) fn is_deaf_to(&self, now: Time, from: NodeId, said: &Said) -> bool {
        match &said.answer {
            Answer::Promised { .. }
            | Answer::Holds { .. }
            | Answer::Wrote { .. }
            | Answer::Names { .. }
            | Answer::TheBuried { .. }
            | Answer::Store { .. } => {
                let mut machine = self.machine.clone();
                machine.heard(now, from, said);
                // Whatever it says then is in it, too.
                machine == self.machine
            }
            _ => false,
        }
    }

    fn begins(&mut self, setting: &Setting, now: Time, post: &mut Post) {
        let heard = setting.heard.iter().filter(|(coordinator, ..)| *coordinator == self.index);
        heard.for_each(|(_, from, wish)| self.machine.wish(now, *from, wish.clone()));
        self.machine.nominate(now, true);
        self.drain(setting, post);
    }

    fn drain(&mut self, setting: &Setting, post: &mut Post) {
        for action in self.machine.drain() {
            match action {
                CoordinatorAction::Ask(to, asked) => post.ask(asked.by, to, asked.ask),
                CoordinatorAction::Answer(to, telling) => post.tell(self.life.node, to, telling),
                CoordinatorAction::Tell(telling) => (0..setting.agents)
                    .for_each(|agent| post.tell(self.life.node, Setting::agent(agent), telling.clone())),
            }
        }
    }
}

/// A life of that node. Which it is decides its id: equal histories have equal states.
pub(super) fn life_of(node: NodeId, starts: u64, incarnation: Incarnation) -> Life {
    Life { node, incarnation, id: LifeId(u128::from(node.0) << 64 | u128::from(starts)) }
}
