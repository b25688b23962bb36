//! FJR: one stable leader among processes that need not know each other (Raynal 2007, Fig. 4, after Fernández, Jiménez and
//! Raynal). The default.
//!
//! A process knows only its own id. It learns of others by what they broadcast. A process that takes itself for the
//! leader says so every η; the others are silent. If the leader is silent for too long, the others tell it that they
//! suspect it, and it counts how often that happened. Of those that contend, the least suspected leads.
//!
//! ```text
//!   leader       heartbeat(count, np_sn) ──► everybody, every η; finally nothing else is ever sent
//!   timer of l   suspicion(l)            ──► everybody: l counts it; the suspecting contends itself
//!   no longer    stop_leader(np_sn)      ──► everybody: l no longer contends, nor does a heartbeat that comes late
//! ```
//!
//! Assumes channels that lose, but not everything, and, from some time on, one live process that reaches all others in
//! time (KCS). Messages may be reordered and repeated. Under that: all name the same live process for ever, it alone
//! sends, and no message carries numbers that grow without bound.
//!
//! As printed a process that comes back is ignored, or leads beside the others for ever (E-RA6). Repaired: it keeps its
//! own count on stable storage; when it comes up it does not contend until it has heard a heartbeat or a timeout has
//! passed, and then takes a count above its own earlier count and above that leader's. So a process that crashes again
//! and again sinks, and a leader that never failed is not ousted. Every frame carries its sender's incarnation. A new
//! incarnation of a peer voids what the old one said; only the patience learned with that peer stays. A mistake teaches
//! how long the silence really was, up to a lesson at a time: half of the first timeout. So on a lossy network a lost
//! heartbeat deposes a leader once, and not once for each step that makes up a lesson. And what one peer taught counts for
//! all, up to three times the first timeout, also at those who see another's mistake: a suspicion of one that is heard right
//! after it. Otherwise every pair would have to make the mistake.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::raynal::{self, Patience, Stage, first_timeout, rejoin};
use super::{
    Action, Actions, Channels, Election, GivesWay, InAgent, Input, Mode, Peers, Setup, Spec, Variant,
};
use crate::canonical::Form;
use crate::cause::Cause;
use crate::ident::NodeId;
use crate::kind::{Kind, Message};
use crate::link::ACQUAINTANCES_MAX;
use crate::opinion::Opinion;
use crate::promise::Assumption::{NoRecoveries, OneReachesAll, QuietEnd};
use crate::promise::{Promise, Property};
use crate::roster::Priority;
use crate::time::{Span, Time};

/// The facts about `fjr`.
pub const SPEC: Spec = Spec {
    name: "fjr",
    document: "Raynal 2007, Fig. 4, in a crash-recovery form",
    assumes: "from some time on, what some live node sends reaches all in time; nobody need know anybody beforehand",
    guarantees: "in the end all name one live node, for ever; a node that restarts does not oust a leader that works",
    messages: "finally the leader alone sends: one broadcast per tau",
    in_agent: InAgent::Yes,
    mode: Mode::AnySurvivor,
    priority: Priority::LowestId,
    gives_way: GivesWay::Never,
    detector: None,
    peers: Peers::Met,
    channels: Channels::AnyOrder,
    views: false,
    reorganizes: false,
    hands_over: true,
    kinds: &[HEARTBEAT, STOP_LEADER, SUSPICION],
    repaired: &[
        Promise { property: Property::Omega, under: &[OneReachesAll, QuietEnd] },
        Promise { property: Property::SingleSender, under: &[OneReachesAll, QuietEnd] },
    ],
    printed: &[
        Promise { property: Property::Omega, under: &[OneReachesAll, QuietEnd, NoRecoveries] },
        Promise { property: Property::SingleSender, under: &[OneReachesAll, QuietEnd, NoRecoveries] },
    ],
};

/// The paper's (tag, k, sl, silent, np_sn): who sends it, the frame says; fields that are ⊥ or 0 under a tag are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// (heartbeat, k, sl, ⊥, np_sn): "I lead."
    Heartbeat {
        /// `sl`: how often the sender has been suspected.
        count: u64,
        /// Which of the sender's periods of leadership.
        np_sn: u64,
    },
    /// (stop_leader, k, sl, ⊥, np_sn): "I lead no more."
    StopLeader {
        /// `sl`
        count: u64,
        /// The period that is over.
        np_sn: u64,
    },
    /// (suspicion, k, sl, silent, 0): "`silent` is."
    Suspicion {
        /// `sl`
        count: u64,
        /// The process that has been silent for too long.
        silent: NodeId,
    },
}

const HEARTBEAT: Kind = Kind::protocol("heartbeat");
const STOP_LEADER: Kind = Kind::protocol("stop_leader");
const SUSPICION: Kind = Kind::protocol("suspicion");

impl Msg {
    fn count(&self) -> u64 {
        match self {
            Self::Heartbeat { count, .. }
            | Self::StopLeader { count, .. }
            | Self::Suspicion { count, .. } => *count,
        }
    }
}

impl Message for Msg {
    fn kind(&self) -> Kind {
        match self {
            Self::Heartbeat { .. } => HEARTBEAT,
            Self::StopLeader { .. } => STOP_LEADER,
            Self::Suspicion { .. } => SUSPICION,
        }
    }

    fn canonical(&self, form: &mut Form) {
        form.number(u64::from(self.kind().id()));
        form.suspicions(self.count());
        match self {
            Self::Heartbeat { np_sn, .. } | Self::StopLeader { np_sn, .. } => form.period(*np_sn),
            Self::Suspicion { silent, .. } => form.node(*silent),
        }
    }

    fn largest_counter(&self) -> u64 {
        match self {
            Self::Heartbeat { count, np_sn } | Self::StopLeader { count, np_sn } => (*count).max(*np_sn),
            Self::Suspicion { count, .. } => *count,
        }
    }
}

/// The algorithm's state at one node.
#[derive(Clone, Debug)]
pub struct Fjr {
    setup: Setup,
    stage: Stage,
    /// `count_i[i]`
    count: u64,
    /// `np_sn_i`
    np_sn: u64,
    /// `next_period_i`: whether this node leads, and has said so in this period.
    next_period: bool,
    /// When its last period began.
    led_from: Time,
    /// When the next heartbeat is due.
    beat_due: Time,
    /// `members_i`, less i.
    members: BTreeMap<NodeId, Member>,
    /// `contenders_i`, less i, which contends whenever it takes part.
    contenders: BTreeSet<NodeId>,
    /// Nobody is given less time than this.
    least: Span,
    /// Others' mistakes teach nothing before this: one incident is one lesson, however many make the mistake.
    taught: Time,
}

/// What is known of another process.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// `count_i[k]`
    count: u64,
    /// `last_stop_leader_i[k]`
    last_stop: u64,
    /// `timeout_i[k]`
    timeout: Patience,
    /// `timer_i[k]`; armed while it contends.
    timer: Time,
    /// Until when a message of it shows that another, who said that it is silent, is mistaken.
    doubted: Time,
    /// When its last heartbeat came.
    last_beat: Time,
    /// It contends because another said that it leads next: its count is what it was long ago, until a heartbeat comes.
    expected: bool,
    /// When it was heard last.
    heard: Time,
}

impl Election for Fjr {
    type Msg = Msg;

    fn new(setup: Setup, _tau_fd: Span) -> Self {
        Self {
            stage: Stage::TakingPart,
            count: 0,
            np_sn: 0,
            next_period: false,
            led_from: Time::ZERO,
            beat_due: Time::NEVER,
            members: BTreeMap::new(),
            contenders: BTreeSet::new(),
            least: Span::ZERO,
            taught: Time::ZERO,
            setup,
        }
    }

    fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        if self.has_overslept(now) {
            return out.push(Action::BeginIncarnation(Cause::Silent(self.me())));
        }
        match input {
            Input::Recovery => self.stage = Stage::at_start(&self.setup, now),
            Input::Message { from, msg } => self.on_message(now, from, msg, out),
            Input::NewIncarnation(k) => self.on_new_incarnation(k),
            Input::Gone(j) => {
                if self.contenders.contains(&j) {
                    self.suspect_aloud(j, out);
                }
            }
            Input::Resigned { who, next } => self.on_resigned(now, who, next),
            Input::HandOver(to) => self.on_hand_over(now, to, out),
            Input::Deadline => self.on_deadline(now, out),
            Input::DownSig(_) => {} // It has timers of its own.
            Input::Reorganized | Input::ReorganizationFailed(_) => {} // Nothing is reorganized here.
            Input::Link { .. } => {} // Its links are not consistent.
        }
        self.lead(now, out);
    }

    fn deadline(&self) -> Time {
        let timers = self.contenders.iter().filter_map(|k| self.members.get(k)).map(|member| member.timer);
        timers.min().unwrap_or(Time::NEVER).min(self.beat_due).min(self.stage.deadline())
    }

    fn opinion(&self) -> Opinion {
        raynal::opinion(self.leader())
    }

    fn canonical(&self, now: Time, form: &mut Form) {
        form.deadline(now, self.stage.deadline());
        form.suspicions(self.count);
        form.period(self.np_sn);
        form.number(u64::from(self.next_period));
        form.number(now.since(self.led_from).min(first_timeout(&self.setup)).as_micros());
        form.number(self.least.as_micros());
        form.deadline(now, self.taught);
        form.deadline(now, self.beat_due);
        form.number(self.members.len() as u64);
        for (k, member) in &self.members {
            form.node(*k);
            form.number(u64::from(self.contenders.contains(k)) << 1 | u64::from(member.expected));
            form.deadline(now, member.doubted);
            form.suspicions(member.count);
            form.period(member.last_stop);
            member.timeout.canonical(form);
            form.deadline(now, member.timer);
            // How long ago matters only as far as a mistake can teach.
            form.number(
                now.since(member.last_beat).min(member.timeout.timeout() + lesson(&self.setup)).as_micros(),
            );
        }
    }

    fn breach(&self, before: &Self) -> Option<&'static str> {
        if !self.contenders.iter().all(|k| self.members.contains_key(k)) {
            return Some("contenders_i is a subset of members_i");
        }
        if self.members.iter().any(|(k, member)| (member.timer != Time::NEVER) != self.contenders.contains(k))
        {
            return Some("timer_i[k] is set if and only if k contends");
        }
        if self.members.contains_key(&self.setup.roster.me()) {
            return Some("i keeps no account of itself as of another");
        }
        if self.members.len() > ACQUAINTANCES_MAX {
            return Some("memory for members is bounded");
        }
        if self.next_period != (self.leader() == Some(self.me())) {
            return Some("i is in a period if and only if it leads");
        }
        let shrunk = self.count < before.count || self.np_sn < before.np_sn;
        shrunk.then_some("count_i[i] and np_sn_i do not shrink")
    }
}

/// What one peer taught makes nobody wait for another longer than so many first timeouts. A connection that loses a packet, and then
/// the same packet again, is silent for two retransmission timeouts.
const SHARED_MAX: u64 = 3;

/// The most that one mistake teaches. A period at a time, a lossy network would depose many leaders before all have learnt.
fn lesson(setup: &Setup) -> Span {
    (first_timeout(setup) / 2).max(setup.timing.tau)
}

impl Fjr {
    /// Task T1. The paper's loops wait for leader() to change; here that is looked at after every step.
    fn lead(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.leader() != Some(self.me()) {
            self.beat_due = Time::NEVER;
            if self.next_period {
                self.next_period = false;
                out.push(Action::Broadcast(Msg::StopLeader { count: self.count, np_sn: self.np_sn })); // (404)
            }
        } else if !self.next_period || self.beat_due <= now {
            if !self.next_period {
                (self.next_period, self.led_from) = (true, now);
                self.np_sn = self.np_sn.saturating_add(1); // (402)
            }
            out.push(Action::Broadcast(Msg::Heartbeat { count: self.count, np_sn: self.np_sn })); // (403)
            self.beat_due = now + self.setup.timing.tau;
        }
    }

    /// Task T2, leader(): the smallest (count_i[j], j) of those that contend.
    fn leader(&self) -> Option<NodeId> {
        let others = self.contenders.iter().filter_map(|k| Some((self.members.get(k)?.count, *k)));
        let me = (!self.stage.is_listening()).then_some((self.count, self.me()));
        let least = others.chain(me).reduce(|one, other| if self.precedes(other, one) { other } else { one });
        least.map(|(_, l)| l)
    }

    fn precedes(&self, one: (u64, NodeId), other: (u64, NodeId)) -> bool {
        one.0 < other.0 || one.0 == other.0 && self.setup.roster.stronger(one.1, other.1)
    }

    /// Whether this node leads, and has been silent for so long that everybody has given it up: its machine stopped it. It
    /// comes back as from a crash. Otherwise it would take the lead from the present leader, and teach the others to wait
    /// longer.
    fn has_overslept(&self, now: Time) -> bool {
        self.setup.variant == Variant::Repaired
            && self.next_period
            && now.since(self.beat_due) + self.setup.timing.tau > first_timeout(&self.setup)
    }

    /// Only the successor contends. The others listen for it, as if they had just come up. Its first heartbeat may have
    /// arrived before this message.
    fn on_hand_over(&mut self, now: Time, to: NodeId, out: &mut Actions<Msg>) {
        let others: Vec<NodeId> = self.contenders.iter().copied().filter(|k| *k != to).collect();
        others.into_iter().for_each(|k| self.contends_no_more(k));
        let heard =
            self.contenders.first().and_then(|k| self.members.get(k)).filter(|member| !member.expected);
        let heard = heard.map(|member| member.count);
        if to != self.me() && heard.is_none() {
            self.stage = Stage::at_start(&self.setup, now);
        } else if to != self.me() || self.stage.is_listening() {
            self.take_part(heard, out);
        }
    }

    /// All are told of the resignation, so no suspicion is sent. The next leader is expected, as if its first heartbeat had
    /// come: it may lead at once, and the others need not name themselves before they hear of it. If it does not speak, its
    /// timer expires.
    fn on_resigned(&mut self, now: Time, who: NodeId, next: Option<NodeId>) {
        self.contends_no_more(who);
        let Some(next) = next else { return };
        let is_heard = self.contenders.contains(&next);
        let Some(member) = self.member(now, next) else { return };
        (member.last_beat, member.expected) = (now, !is_heard);
        self.contenders.insert(next);
        self.expect(now, next);
    }

    fn on_deadline(&mut self, now: Time, out: &mut Actions<Msg>) {
        if self.stage.deadline() <= now {
            self.take_part(None, out);
        }
        let due = |k: &&NodeId| self.members.get(k).is_some_and(|member| member.timer <= now);
        let silent: Vec<NodeId> = self.contenders.iter().filter(due).copied().collect();
        for j in silent {
            if self.expire(now, j) {
                self.suspect_aloud(j, out);
            }
        }
    }

    /// Whether the timer of j says something about j. Repaired: if this node itself comes late to see it, by a period, it was
    /// stopped meanwhile, and what j sent may be waiting to be read.
    fn expire(&mut self, now: Time, j: NodeId) -> bool {
        let timing = self.setup.timing;
        let late = self.members.get(&j).is_some_and(|member| now.since(member.timer) > timing.tau);
        if self.setup.variant == Variant::Repaired && late {
            self.expect(now, j);
            return false;
        }
        let Some(member) = self.members.get_mut(&j) else { return false };
        match self.setup.variant {
            Variant::Printed => member.timeout.grow(timing.step), // (405)
            Variant::Repaired => member.timeout.expired(),
        }
        true
    }

    /// When timer_i[j] expires. It is not set again before the next heartbeat.
    fn suspect_aloud(&mut self, j: NodeId, out: &mut Actions<Msg>) {
        out.push(Action::Broadcast(Msg::Suspicion { count: self.count, silent: j })); // (405)
        self.contends_no_more(j); // (406)
    }

    /// When (tag, k, sl, silent, np_sn) is received with k ≠ i.
    fn on_message(&mut self, now: Time, k: NodeId, msg: Msg, out: &mut Actions<Msg>) {
        let contends = self.contenders.contains(&k);
        let Some(member) = self.member(now, k) else { return };
        member.heard = now;
        let was_doubted = core::mem::take(&mut member.doubted) > now;
        let was_suspected = contends && member.count < msg.count();
        if was_suspected && self.leader() == Some(k) {
            out.because(Cause::Silent(k)); // To others: they have told it so.
        }
        if was_doubted {
            self.another_was_mistaken(now); // If k led, it leads no more, and says only that.
        }
        let Some(member) = self.member(now, k) else { return };
        member.count = member.count.max(msg.count()); // (411)
        match msg {
            Msg::Heartbeat { np_sn, .. } if member.last_stop < np_sn => {
                // (412) (413)
                member.expected = false;
                let count = member.count;
                self.learn(now, k);
                self.contenders.insert(k);
                self.expect(now, k);
                if self.stage.is_listening() {
                    self.take_part(Some(count), out);
                }
            }
            Msg::StopLeader { np_sn, .. } if member.last_stop < np_sn => {
                member.last_stop = np_sn; // (415)
                self.contends_no_more(k); // (416)
            }
            Msg::Suspicion { silent, .. } if silent == self.me() => {
                if self.next_period && self.led_from + first_timeout(&self.setup) <= now {
                    self.another_was_mistaken(now); // A period that has just begun cannot have seemed silent: one before it was.
                }
                self.count = self.count.saturating_add(1); // (417)
                self.keep_count(out);
                out.because(Cause::Silent(self.me()));
            }
            Msg::Suspicion { silent, .. } => {
                let until = now + first_timeout(&self.setup);
                if let Some(silent) = self.members.get_mut(&silent) {
                    silent.doubted = until;
                }
            }
            // C55: a heartbeat or a stop that is older than a stop that came before it.
            Msg::Heartbeat { .. } | Msg::StopLeader { .. } => {}
        }
    }

    /// A heartbeat of k has come. If k was given up, that was a mistake.
    fn learn(&mut self, now: Time, k: NodeId) {
        let timing = self.setup.timing;
        let Some(member) = self.members.get_mut(&k) else { return };
        let silence = now.since(core::mem::replace(&mut member.last_beat, now));
        if member.timeout.heard(timing.step) {
            // A lesson that is only just long enough would have to be learnt again.
            let margin = timing.step.max(timing.tau / 2);
            member.timeout.learn(silence + margin, lesson(&self.setup));
            let learned = member.timeout.timeout();
            self.have_learned(learned);
        }
    }

    /// It has given up one that was there all the time. This node would have as well, most likely, a little later.
    fn another_was_mistaken(&mut self, now: Time) {
        let first = first_timeout(&self.setup);
        if self.taught <= now {
            self.taught = now + first;
            self.have_learned(self.least.max(first) + lesson(&self.setup));
        }
    }

    /// So much patience it takes on this network. What one link teaches does not make others wait for ever.
    fn have_learned(&mut self, patience: Span) {
        if self.setup.variant == Variant::Repaired {
            self.least = self.least.max(patience.min(first_timeout(&self.setup) * SHARED_MAX));
        }
    }

    /// The next heartbeat of k is waited for from now on.
    fn expect(&mut self, now: Time, k: NodeId) {
        if let Some(member) = self.members.get_mut(&k) {
            member.timer = now + member.timeout.timeout().max(self.least);
        }
    }

    /// (407)–(410). `None` for oneself, and if there is no room: then all known processes contend, and one more can wait.
    fn member(&mut self, now: Time, k: NodeId) -> Option<&mut Member> {
        if k == self.me() {
            return None;
        }
        if !self.members.contains_key(&k) && self.members.len() >= ACQUAINTANCES_MAX {
            self.forget_one()?;
        }
        let timeout = match self.setup.variant {
            Variant::Printed => Patience::new(self.setup.timing.tau),
            Variant::Repaired => Patience::new(first_timeout(&self.setup)),
        };
        let new = Member {
            count: 0,
            last_stop: 0,
            timeout,
            timer: Time::NEVER,
            doubted: Time::ZERO,
            last_beat: now,
            expected: false,
            heard: now,
        };
        Some(self.members.entry(k).or_insert(new))
    }

    /// Makes room by forgetting the process that has been silent for longest, of those that do not contend. Followers
    /// are silent by design: one that speaks again is met anew.
    fn forget_one(&mut self) -> Option<()> {
        let silent = self.members.iter().filter(|(k, _)| !self.contenders.contains(k));
        let longest = silent.min_by_key(|(_, member)| member.heard).map(|(k, _)| *k)?;
        self.members.remove(&longest).map(|_| ())
    }

    /// What the old incarnation of k said is void. The patience learned with k stays.
    fn on_new_incarnation(&mut self, k: NodeId) {
        self.contends_no_more(k);
        if let Some(member) = self.members.get_mut(&k) {
            member.timeout.new_incarnation();
            (member.count, member.last_stop, member.doubted) = (0, 0, Time::ZERO);
        }
    }

    /// Contends from now on, with a count above its own earlier count and above the leader's.
    fn take_part(&mut self, leader: Option<u64>, out: &mut Actions<Msg>) {
        self.stage = Stage::TakingPart;
        self.count = rejoin(self.setup.count, leader).max(self.count);
        self.keep_count(out);
    }

    fn keep_count(&mut self, out: &mut Actions<Msg>) {
        if !self.stage.is_listening() {
            raynal::keep_count(&mut self.setup, self.count, out);
        }
    }

    fn contends_no_more(&mut self, k: NodeId) {
        self.contenders.remove(&k);
        if let Some(member) = self.members.get_mut(&k) {
            member.timer = Time::NEVER;
            member.expected = false;
        }
    }

    fn me(&self) -> NodeId {
        self.setup.roster.me()
    }
}

#[cfg(test)]
mod tests;
