//! Who acts as the leader, and whether it may: between the driver and those who do.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use bellwether_proto::ident::Incarnation;
use bellwether_proto::tenure::Tenure;
use tokio::sync::{Notify, watch};

use crate::pulse::Pulse;
use crate::validity::{Rights, Validity};

/// Somebody acts as the leader. Leadership is not given back before all guards of it are gone.
#[derive(Debug)]
pub(crate) struct Guard {
    epoch: u64,
    incarnation: Incarnation,
    /// Whether this epoch still lasts.
    phase: watch::Receiver<Phase>,
    shared: Arc<Shared>,
}

/// Leaderships of one member, as the driver sees them.
#[derive(Debug)]
pub(crate) struct Tenures {
    phase: watch::Sender<Phase>,
    shared: Arc<Shared>,
}

/// What may be done as the leader, and in which incarnation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Phase {
    tenure: Tenure,
    incarnation: Incarnation,
}

#[derive(Debug)]
struct Shared {
    /// Whether leadership is in doubt, because the driver does not run.
    pulse: Arc<Pulse>,
    /// Until when whoever leads may act.
    rights: Rights,
    /// How many guards there are.
    guards: AtomicUsize,
    /// The epoch of the one that was given out last.
    epoch: AtomicU64,
    /// Rung when the first is given out, and when there is none left.
    turned: Notify,
}

/// Whether a guard may be given out.
enum Given {
    /// It is counted.
    Guard(u64, Incarnation),
    /// It is not certain that the leadership of that epoch lasts.
    NotYet(u64),
}

impl Guard {
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(crate) fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    pub(crate) fn is_held(&self) -> bool {
        self.lasts() && self.is_good()
    }

    /// Whether whoever has it may act now. That is so, too, while it is asked back.
    pub(crate) fn may_act(&self) -> bool {
        let tenure = self.phase.borrow().tenure;
        let (held, asked_back) =
            (Tenure::Held { epoch: self.epoch }, Tenure::AskedBack { epoch: self.epoch });
        (tenure == held || tenure == asked_back) && self.is_good()
    }

    /// How long it is certain that it may; `None` if no clock says.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.shared.rights.left(self.epoch)
    }

    /// The clock is looked at last: what was read before it is true if it is.
    fn is_good(&self) -> bool {
        self.shared.rights.hold(self.epoch) && self.shared.pulse.is_awake()
    }

    /// Whether it lasts as far as the driver knew when it ran last.
    pub(crate) fn lasts(&self) -> bool {
        self.phase.borrow().tenure == Tenure::Held { epoch: self.epoch }
    }

    /// Waits until leadership has ended or is being released. It does not hold the guard meanwhile.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + use<> {
        let (mut phase, held) = (self.phase.clone(), Tenure::Held { epoch: self.epoch });
        async move {
            // An error means that the member is no more.
            let _ = phase.wait_for(|phase| phase.tenure != held).await;
        }
    }
}

impl Clone for Guard {
    fn clone(&self) -> Self {
        self.shared.guards.fetch_add(1, Ordering::AcqRel);
        let (phase, shared) = (self.phase.clone(), Arc::clone(&self.shared));
        Self { epoch: self.epoch, incarnation: self.incarnation, phase, shared }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.shared.guards.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.turned.notify_one();
        }
    }
}

impl Tenures {
    pub(crate) fn new(pulse: Arc<Pulse>, rights: Rights) -> Self {
        let (guards, epoch) = (AtomicUsize::new(0), AtomicU64::new(0));
        let shared = Shared { pulse, rights, guards, epoch, turned: Notify::new() };
        Self { phase: watch::Sender::new(Phase::default()), shared: Arc::new(shared) }
    }

    pub(crate) fn set(&self, tenure: Tenure, incarnation: Incarnation) {
        let phase = Phase { tenure, incarnation };
        self.phase.send_if_modified(|now| std::mem::replace(now, phase) != phase);
    }

    /// Until when the member may act, from now on.
    pub(crate) fn validate(&self, validity: Validity) {
        self.shared.rights.set(validity);
    }

    /// Whether the member may act in that epoch now, if it leads in it.
    pub(crate) fn is_valid(&self, epoch: u64) -> bool {
        self.shared.rights.hold(epoch)
    }

    /// How long it is certain that it may; `None` if no clock says.
    pub(crate) fn left(&self, epoch: u64) -> Option<Duration> {
        self.shared.rights.left(epoch)
    }

    /// The member has ended: it leads no more.
    pub(crate) fn end(&self) {
        self.set(Tenure::None, Incarnation::default());
        self.validate(Validity::None);
    }

    /// Whether nobody acts as the leader any more.
    pub(crate) fn is_released(&self) -> bool {
        self.shared.guards.load(Ordering::Acquire) == 0
    }

    /// In which epoch somebody acts as the leader.
    pub(crate) fn works(&self) -> Option<u64> {
        (!self.is_released()).then(|| self.shared.epoch.load(Ordering::Acquire))
    }

    /// Waits until the first guard has been given out or the last has been dropped. It may say so more than once.
    pub(crate) async fn turned(&self) {
        self.shared.turned.notified().await;
    }

    /// Waits until this member leads. `None` when the member has ended.
    pub(crate) async fn campaign(&self) -> Option<Guard> {
        let mut phase = self.phase.subscribe();
        loop {
            // Whoever was stopped does not know yet whether it leads.
            self.shared.pulse.awake().await;
            let leads = |phase: &Phase| matches!(phase.tenure, Tenure::Held { .. });
            // While this is looked at, leadership cannot be asked back: whoever asks for it back finds the guard counted.
            let given = phase.wait_for(leads).await.ok().map(|phase| self.give(*phase))?;
            let doubtful = match given {
                Given::Guard(epoch, incarnation) => {
                    return Some(Guard { epoch, incarnation, phase, shared: Arc::clone(&self.shared) });
                }
                Given::NotYet(epoch) => epoch,
            };
            // Its time is over, and the driver is about to find out; or it will be renewed.
            tokio::select! {
                () = self.shared.rights.granted(doubtful) => {}
                _ = phase.changed() => {}
            }
        }
    }

    /// Counts one more guard.
    fn give(&self, Phase { tenure, incarnation }: Phase) -> Given {
        let epoch = match tenure {
            Tenure::Held { epoch } => epoch,
            Tenure::None | Tenure::AskedBack { .. } => return Given::NotYet(0),
        };
        if !self.shared.rights.hold(epoch) || !self.shared.pulse.is_awake() {
            return Given::NotYet(epoch);
        }
        self.shared.epoch.store(epoch, Ordering::Release);
        if self.shared.guards.fetch_add(1, Ordering::AcqRel) == 0 {
            self.shared.turned.notify_one();
        }
        Given::Guard(epoch, incarnation)
    }
}

#[cfg(test)]
mod tests {
    use bellwether_proto::time::Span;
    use tokio::runtime::Builder;

    use super::*;
    use crate::uptime::{self, Uptime};

    const LIFE: Incarnation = Incarnation(3);

    fn tenures() -> Tenures {
        limited_by(Rights::Unlimited)
    }

    fn limited_by(rights: Rights) -> Tenures {
        Tenures::new(
            Arc::new(Pulse::new(Uptime::Machine, Duration::ZERO, Duration::from_secs(3_600))),
            rights,
        )
    }

    fn holds(tenures: &Tenures, epoch: u64) {
        tenures.set(Tenure::Held { epoch }, LIFE);
    }

    fn asks_back(tenures: &Tenures, epoch: u64) {
        tenures.set(Tenure::AskedBack { epoch }, LIFE);
    }

    #[tokio::test]
    async fn a_guard_knows_when_it_ended() {
        let tenures = tenures();
        holds(&tenures, 7);
        let guard = tenures.campaign().await.expect("it leads");
        assert_eq!((guard.epoch(), guard.incarnation(), guard.is_held()), (7, LIFE, true));
        holds(&tenures, 8);
        guard.ended().await;
        assert!(!guard.is_held(), "another epoch is another leadership");
        assert!(!tenures.is_released());
        drop(guard);
        assert!(tenures.is_released());
    }

    #[tokio::test]
    async fn leadership_that_is_asked_back_is_waited_for() {
        let tenures = tenures();
        holds(&tenures, 1);
        let one = tenures.campaign().await.unwrap();
        let two = one.clone();
        asks_back(&tenures, 1);
        one.ended().await;
        drop(one);
        assert!(!tenures.is_released());
        drop(two);
        tenures.turned().await;
        assert!(tenures.is_released());
    }

    #[tokio::test]
    async fn a_process_that_was_stopped_does_not_hold_what_it_held_and_begins_nothing() {
        let tenures = tenures();
        holds(&tenures, 1);
        let guard = tenures.campaign().await.expect("it leads");
        tenures.shared.pulse.oversleep();
        assert!(!guard.is_held());
        assert!(guard.lasts(), "whether it has ended is for the driver to find out");
        let wakes = async {
            // Before it says that it runs, it finds out that it leads no more.
            holds(&tenures, 2);
            tenures.shared.pulse.beat(Span::secs(1));
        };
        let (again, ()) = tokio::join!(tenures.campaign(), wakes);
        assert_eq!(again.map(|guard| guard.epoch()), Some(2));
    }

    #[tokio::test]
    async fn a_guard_is_good_only_while_its_time_lasts() {
        const HOUR: Duration = Duration::from_secs(3_600);
        let tenures = limited_by(Rights::limited(Uptime::Machine));
        let valid_for = |epoch, left| Validity::Until { epoch, until: uptime::now() + left };
        holds(&tenures, 1);
        let renews = async { tenures.validate(valid_for(1, HOUR)) };
        let (guard, ()) = tokio::join!(tenures.campaign(), renews);
        let guard = guard.expect("it leads");
        assert!(guard.is_held() && guard.may_act());
        asks_back(&tenures, 1);
        assert!(!guard.is_held() && guard.may_act(), "what it does to end its work, it may do");
        holds(&tenures, 1);
        tenures.validate(valid_for(1, Duration::ZERO));
        assert!(!guard.is_held() && !guard.may_act(), "nobody has told it, and its time is over");
        let next = async {
            holds(&tenures, 2);
            tenures.validate(valid_for(2, HOUR));
        };
        let (again, ()) = tokio::join!(tenures.campaign(), next);
        assert_eq!(again.map(|guard| guard.epoch()), Some(2));
        assert!(!guard.may_act());
    }

    /// Whoever is given a guard is waited for: it never gets one of leadership that was found released before.
    #[test]
    fn no_guard_is_dead_on_arrival() {
        const EPOCHS: u64 = 50_000;
        let (tenures, released) = (tenures(), AtomicU64::new(0));
        let campaign = || {
            let runtime = Builder::new_current_thread().build().unwrap();
            loop {
                let guard = runtime.block_on(tenures.campaign()).expect("it leads again and again");
                assert!(released.load(Ordering::SeqCst) < guard.epoch(), "epoch {}", guard.epoch());
                if guard.epoch() == EPOCHS {
                    return;
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(campaign);
            for epoch in 1..EPOCHS {
                holds(&tenures, epoch);
                std::thread::yield_now();
                asks_back(&tenures, epoch);
                while !tenures.is_released() {
                    std::thread::yield_now();
                }
                released.store(epoch, Ordering::SeqCst);
            }
            holds(&tenures, EPOCHS);
        });
    }
}
