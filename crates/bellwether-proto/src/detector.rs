//! Failure detectors behind Stoller's interface (sections 2 and 6).
//!
//! | detector | file | how it finds out | declared latency τ_FD |
//! |---|---|---|---|
//! | `ping` | `ping.rs` | asks each watched peer every P | max(P, 2δ) + 2δ |
//! | `heartbeat` | `heartbeat.rs` | asks once, then is told every η | η + 2δ |
//! | `adaptive` | `adaptive.rs` | as `heartbeat`, patience learned from arrivals | δ + 8(η + δ) |
//! | `cooperative` | `cooperative.rs` | as `heartbeat`, then k reporters must agree | max(η, 3δ) + 6δ |
//! | `ring` | `ring.rs` | a token goes round every R; pings localise what stops it | 2R + (3n + 8)δ |
//! | `perfect` | `perfect.rs` | the simulator tells | the period |
//!
//! The client starts and stops watches and receives DownSig; the asynchronous algorithm also plays dead and alive to
//! sets of peers. `start` on a watched peer resets the watch: whatever the old watch was about to report is void.
//! Nobody reports recoveries. A detector of the repaired variant also raises DownSig when it notices that a peer it
//! watches has begun a new incarnation: the peer *was* down since the watch began, and accuracy asks no more than
//! that.

pub mod adaptive;
mod cooperative;
mod deadlines;
mod heartbeat;
mod message;
mod perfect;
mod ping;
mod ring;
mod watch;

use alloc::vec;
use alloc::vec::Vec;

use crate::canonical::Form;
use crate::ident::Incarnation;
use crate::roster::Roster;
use crate::time::{Span, Time, Timing};
use watch::Watches;

pub use crate::ident::WatchNo;
pub use message::{DetectorMsg, KINDS, Stamp, Token};
pub use ring::STAMPS_MAX;

/// Which detector to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectorKind {
    /// "Are you alive?" every period.
    Ping,
    /// "Tell me every period that you are alive."
    Heartbeat,
    /// A token that circulates; attendance is taken.
    Ring,
    /// Heartbeats, and k reporters must agree before a peer is reported.
    Cooperative,
    /// Heartbeats with a timeout learned from arrivals, which grows at each mistake.
    Adaptive,
    /// The simulator's oracle.
    Perfect,
}

impl DetectorKind {
    /// Every detector.
    pub const ALL: [Self; 6] =
        [Self::Ping, Self::Heartbeat, Self::Ring, Self::Cooperative, Self::Adaptive, Self::Perfect];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ping => "ping",
            Self::Heartbeat => "heartbeat",
            Self::Ring => "ring",
            Self::Cooperative => "cooperative",
            Self::Adaptive => "adaptive",
            Self::Perfect => "perfect",
        }
    }

    /// The detector of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// How a detector is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectorConfig {
    /// Which one.
    pub kind: DetectorKind,
    /// The period of its messages: P, η or R; for `perfect`, its latency.
    pub period: Span,
    /// The assumed bound on one-way delay, δ.
    pub delta: Span,
    /// By how much an adaptive timeout grows at each mistake.
    pub step: Span,
    /// How many must find a peer unreachable before it is reported, the watcher included; for `cooperative`.
    pub reporters: usize,
    /// Whether a new incarnation of a watched peer is reported. The papers' detectors keep silent (E-ST5).
    pub reports_new_incarnations: bool,
}

impl DetectorConfig {
    /// The repaired detector of that kind, with the leader's period; `cooperative` asks for two who agree.
    pub fn new(kind: DetectorKind, timing: Timing) -> Self {
        Self {
            kind,
            period: timing.tau,
            delta: timing.delta,
            step: timing.step,
            reporters: if kind == DetectorKind::Cooperative { 2 } else { 1 },
            reports_new_incarnations: true,
        }
    }

    /// The declared latency τ_FD among `nodes` nodes: the longest time from when a peer is down and watched until
    /// it is reported, if it stays down that long.
    pub fn latency(&self, nodes: usize) -> Span {
        match self.kind {
            DetectorKind::Ping => ping::latency(self),
            DetectorKind::Heartbeat => heartbeat::latency(self),
            DetectorKind::Ring => ring::latency(self, nodes),
            DetectorKind::Cooperative => cooperative::latency(self),
            DetectorKind::Adaptive => adaptive::latency(self),
            DetectorKind::Perfect => self.period,
        }
    }
}

/// The failure detector of one node.
#[derive(Clone, Debug)]
pub(crate) struct Detector {
    config: DetectorConfig,
    roster: Roster,
    watches: Watches,
    /// By rank: whether this node plays dead to that peer.
    dead_to: Vec<bool>,
    mechanism: Mechanism,
}

/// How the detector finds out. Each mechanism sets the deadlines of the watches; the detector does the rest.
#[derive(Clone, Debug)]
enum Mechanism {
    Ping(ping::Ping),
    Heartbeat(heartbeat::Heartbeat),
    Ring(ring::Ring),
    Cooperative(cooperative::Cooperative),
    Perfect(perfect::Perfect),
}

/// What a mechanism may see and do during one step.
#[derive(Debug)]
struct Scope<'a> {
    now: Time,
    config: &'a DetectorConfig,
    roster: &'a Roster,
    watches: &'a mut Watches,
    dead_to: &'a [bool],
    mail: &'a mut Mail,
}

impl Scope<'_> {
    fn send(&mut self, rank: usize, msg: DetectorMsg) {
        self.mail.push((rank, msg));
    }
}

/// Messages to send, with the rank of the receiver.
pub(crate) type Mail = Vec<(usize, DetectorMsg)>;

/// Runs `$body` with `$m` bound to the mechanism and `$scope` to its scope.
macro_rules! with_mechanism {
    ($self:ident, $now:expr, $mail:expr, |$m:ident, $scope:ident| $body:expr) => {{
        let Detector { config, roster, watches, dead_to, mechanism } = $self;
        #[allow(unused_mut, reason = "not every use needs it mutable")]
        let mut $scope = Scope { now: $now, config, roster, watches, dead_to, mail: $mail };
        match mechanism {
            Mechanism::Ping($m) => $body,
            Mechanism::Heartbeat($m) => $body,
            Mechanism::Ring($m) => $body,
            Mechanism::Cooperative($m) => $body,
            Mechanism::Perfect($m) => $body,
        }
    }};
}

impl Detector {
    pub(crate) fn new(config: DetectorConfig, roster: Roster, incarnation: Incarnation, now: Time) -> Self {
        let size = roster.size();
        let mechanism = match config.kind {
            DetectorKind::Ping => Mechanism::Ping(ping::Ping::new(size)),
            DetectorKind::Heartbeat => Mechanism::Heartbeat(heartbeat::Heartbeat::new(size, false)),
            DetectorKind::Adaptive => Mechanism::Heartbeat(heartbeat::Heartbeat::new(size, true)),
            DetectorKind::Ring => Mechanism::Ring(ring::Ring::new(&config, &roster, incarnation, now)),
            DetectorKind::Cooperative => Mechanism::Cooperative(cooperative::Cooperative::new(size)),
            DetectorKind::Perfect => Mechanism::Perfect(perfect::Perfect::new(size)),
        };
        Self {
            config,
            watches: Watches::new(size, incarnation),
            dead_to: vec![false; size],
            mechanism,
            roster,
        }
    }

    /// The detector of an algorithm that has timers of its own: it is asked nothing, and sends nothing.
    pub(crate) fn idle(config: DetectorConfig, roster: Roster, incarnation: Incarnation, now: Time) -> Self {
        Self::new(DetectorConfig { kind: DetectorKind::Perfect, ..config }, roster, incarnation, now)
    }

    // What the client asks (Stoller's interface).

    /// Start_FD: watch the peer of that rank, or reset the watch.
    pub(crate) fn start(&mut self, now: Time, rank: usize, mail: &mut Mail) {
        with_mechanism!(self, now, mail, |m, scope| m.start(rank, &mut scope));
    }

    /// Stop_FD.
    pub(crate) fn stop(&mut self, now: Time, rank: usize, mail: &mut Mail) {
        if self.watches.is_known(rank) {
            with_mechanism!(self, now, mail, |m, scope| m.stop(rank, &mut scope));
            self.watches.forget(rank);
        }
    }

    /// Stop_FD(ID ⊖ i).
    pub(crate) fn stop_all(&mut self, now: Time, mail: &mut Mail) {
        for rank in 0..self.roster.size() {
            self.stop(now, rank, mail);
        }
    }

    /// PlayDead_FD(greater(i)): no more signs of life to the weaker peers.
    pub(crate) fn play_dead(&mut self) {
        self.dead_to[self.roster.my_rank() + 1..].fill(true);
    }

    /// PlayAlive_FD(greater(i)).
    pub(crate) fn play_alive(&mut self, now: Time) {
        let weaker = self.roster.my_rank() + 1..self.roster.size();
        self.dead_to[weaker.clone()].fill(false);
        if let Some(heartbeat) = self.heartbeat_mut() {
            heartbeat.resume(weaker, now);
        }
    }

    // What arrives.

    /// A detector message from the peer of that rank, sent in that incarnation.
    #[inline]
    pub(crate) fn handle(
        &mut self,
        now: Time,
        rank: usize,
        incarnation: Incarnation,
        msg: DetectorMsg,
        mail: &mut Mail,
    ) {
        with_mechanism!(self, now, mail, |m, scope| m.handle(rank, incarnation, msg, &mut scope));
    }

    /// Any frame from that peer arrived. True if it shows that the watched peer has begun a new incarnation
    /// since the watch began. Then the watch is over, and the caller must tell the client.
    #[inline]
    pub(crate) fn heard(&mut self, rank: usize, incarnation: Incarnation) -> bool {
        if let Mechanism::Ring(ring) = &mut self.mechanism {
            ring.heard(rank);
        }
        let reborn = self.config.reports_new_incarnations && self.watches.report_if_reborn(rank, incarnation);
        if let (true, Mechanism::Ping(ping)) = (reborn, &mut self.mechanism) {
            // An open question must not report it a second time.
            ping.ask_no_more(rank);
        }
        reborn
    }

    /// A sign of life that rode on another layer's message.
    pub(crate) fn ridden(
        &mut self,
        now: Time,
        rank: usize,
        incarnation: Incarnation,
        no: WatchNo,
        mail: &mut Mail,
    ) {
        self.handle(now, rank, incarnation, DetectorMsg::Beat { no }, mail);
    }

    /// The driver's evidence that the peer is gone: probe now instead of waiting for silence. That never delays a report
    /// that silence would bring anyway.
    pub(crate) fn probe(&mut self, now: Time, rank: usize, mail: &mut Mail) {
        if self.watches.is_armed(rank) {
            let due = self.watches.deadline_of(rank);
            with_mechanism!(self, now, mail, |m, scope| m.probe(rank, &mut scope));
            self.watches.set_deadline(rank, self.watches.deadline_of(rank).min(due));
        }
    }

    /// The peer itself says that it is leaving. True if it was watched: the caller must tell the client.
    pub(crate) fn retire(&mut self, rank: usize) -> bool {
        let watched = self.watches.is_armed(rank);
        if watched {
            self.watches.report(rank);
        }
        if let (true, Mechanism::Ping(ping)) = (watched, &mut self.mechanism) {
            ping.ask_no_more(rank);
        }
        watched
    }

    /// The simulator's truth.
    pub(crate) fn oracle(&mut self, now: Time, rank: usize, alive: bool) {
        if let Mechanism::Perfect(perfect) = &mut self.mechanism {
            perfect.told(now, rank, alive, &self.config, &mut self.watches);
        }
    }

    // What is to be done.

    /// An outgoing message of another layer may carry a sign of life to a peer that waits for one.
    pub(crate) fn ride(&mut self, now: Time, rank: usize) -> Option<WatchNo> {
        if self.dead_to[rank] {
            return None;
        }
        self.heartbeat_mut()?.ride(now, rank)
    }

    /// Sends what is due.
    pub(crate) fn wake(&mut self, now: Time, mail: &mut Mail) {
        with_mechanism!(self, now, mail, |m, scope| m.wake(&mut scope));
    }

    /// The next peer to report as down, one at a time: the client's answer to the first may void the second.
    pub(crate) fn next_down(&mut self, now: Time, mail: &mut Mail) -> Option<usize> {
        loop {
            let rank = self.watches.expired(now)?;
            if with_mechanism!(self, now, mail, |m, scope| m.silent(rank, &mut scope)) {
                self.watches.report(rank);
                return Some(rank);
            }
        }
    }

    /// When to wake up next.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        let mechanism = match &self.mechanism {
            Mechanism::Ping(m) => m.deadline(),
            Mechanism::Heartbeat(m) => m.deadline(),
            Mechanism::Ring(m) => m.deadline(),
            Mechanism::Cooperative(m) => m.deadline(),
            Mechanism::Perfect(_) => Time::NEVER,
        };
        mechanism.min(self.watches.deadline())
    }

    pub(crate) fn canonical(&self, now: Time, form: &mut Form) {
        self.watches.canonical(now, &self.roster, form);
        self.dead_to.iter().for_each(|dead| form.number(u64::from(*dead)));
        match &self.mechanism {
            Mechanism::Ping(m) => m.canonical(now, &self.roster, form),
            Mechanism::Heartbeat(m) => m.canonical(now, &self.roster, form),
            Mechanism::Ring(m) => m.canonical(now, &self.roster, form),
            Mechanism::Cooperative(m) => m.canonical(now, &self.roster, form),
            Mechanism::Perfect(m) => m.canonical(form),
        }
    }

    fn heartbeat_mut(&mut self) -> Option<&mut heartbeat::Heartbeat> {
        match &mut self.mechanism {
            Mechanism::Heartbeat(heartbeat) => Some(heartbeat),
            Mechanism::Cooperative(cooperative) => Some(cooperative.heartbeat_mut()),
            Mechanism::Ping(_) | Mechanism::Ring(_) | Mechanism::Perfect(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
