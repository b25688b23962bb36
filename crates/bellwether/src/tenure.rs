//! Leadership as a value: a guard that carries its epoch and knows when it ended.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bellwether_proto::tenure::Tenure;
use tokio::sync::{Notify, watch};

use crate::pulse::Pulse;

/// Leadership of this member, while it lasts.
///
/// Hold it while you act as the leader and drop it when you have stopped. When leadership is released, because the member
/// resigns, hands over, gives way or leaves, [`Leadership::ended`] resolves. The member waits until every guard has been
/// dropped (or its `release_timeout` has passed) before another can lead. Leadership can also be lost: when the others
/// cannot hear this member, they choose another leader and do not wait.
///
/// Put [`Leadership::epoch`] into what you write, and let the store refuse an epoch below the largest that it has seen.
/// That stops a leader that was replaced without noticing. [`crate::proto::leadership`] says what an epoch promises.
#[derive(Debug)]
pub struct Leadership {
    epoch: u64,
    /// Whether this epoch still lasts.
    tenure: watch::Receiver<Tenure>,
    shared: Arc<Shared>,
}

/// Leaderships of one member, as the driver sees them.
#[derive(Debug)]
pub(crate) struct Tenures {
    tenure: watch::Sender<Tenure>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Whether leadership is in doubt, because the driver does not run.
    pulse: Arc<Pulse>,
    /// How many guards there are.
    guards: AtomicUsize,
    /// The epoch of the one that was given out last.
    epoch: AtomicU64,
    /// Rung when the first is given out, and when there is none left.
    turned: Notify,
}

impl Leadership {
    /// The number of this leadership: larger than every epoch that this member, or a member that agreed to
    /// it, had seen.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether it still lasts, as far as this member can know. It is also false if this process was stopped for so long
    /// that the others have given it up, even before it has found that out. (The clock stands still while a whole
    /// machine is suspended; then it is false as soon as the member has run.)
    pub fn is_held(&self) -> bool {
        *self.tenure.borrow() == Tenure::Held { epoch: self.epoch } && self.shared.pulse.is_awake()
    }

    /// Waits until leadership has ended or is being released. Then stop what only a leader may do, and drop the guard.
    pub async fn ended(&self) {
        self.watch().await;
    }

    /// Another guard of the same leadership.
    pub(crate) fn again(&self) -> Self {
        self.shared.guards.fetch_add(1, Ordering::AcqRel);
        Self { epoch: self.epoch, tenure: self.tenure.clone(), shared: Arc::clone(&self.shared) }
    }

    /// As [`Leadership::ended`], without holding the guard.
    pub(crate) fn watch(&self) -> impl Future<Output = ()> + use<> {
        let (mut tenure, held) = (self.tenure.clone(), Tenure::Held { epoch: self.epoch });
        async move {
            // An error means that the member is no more.
            let _ = tenure.wait_for(|tenure| *tenure != held).await;
        }
    }
}

impl Drop for Leadership {
    fn drop(&mut self) {
        if self.shared.guards.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.turned.notify_one();
        }
    }
}

impl Tenures {
    pub(crate) fn new(pulse: Arc<Pulse>) -> Self {
        let shared =
            Shared { pulse, guards: AtomicUsize::new(0), epoch: AtomicU64::new(0), turned: Notify::new() };
        Self { tenure: watch::Sender::new(Tenure::None), shared: Arc::new(shared) }
    }

    pub(crate) fn set(&self, tenure: Tenure) {
        self.tenure.send_if_modified(|now| std::mem::replace(now, tenure) != tenure);
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
    pub(crate) async fn campaign(&self) -> Option<Leadership> {
        let mut tenure = self.tenure.subscribe();
        let held = *tenure.wait_for(|tenure| matches!(tenure, Tenure::Held { .. })).await.ok()?;
        let Tenure::Held { epoch } = held else { return None };
        self.shared.epoch.store(epoch, Ordering::Release);
        if self.shared.guards.fetch_add(1, Ordering::AcqRel) == 0 {
            self.shared.turned.notify_one();
        }
        Some(Leadership { epoch, tenure, shared: Arc::clone(&self.shared) })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn tenures() -> Tenures {
        Tenures::new(Arc::new(Pulse::new(Duration::ZERO, Duration::from_secs(3_600))))
    }

    #[tokio::test]
    async fn a_guard_knows_when_it_ended() {
        let tenures = tenures();
        tenures.set(Tenure::Held { epoch: 7 });
        let guard = tenures.campaign().await.expect("it leads");
        assert_eq!((guard.epoch(), guard.is_held()), (7, true));
        tenures.set(Tenure::Held { epoch: 8 });
        guard.ended().await;
        assert!(!guard.is_held(), "another epoch is another leadership");
        assert!(!tenures.is_released());
        drop(guard);
        assert!(tenures.is_released());
    }

    #[tokio::test]
    async fn leadership_that_is_asked_back_is_waited_for() {
        let tenures = tenures();
        tenures.set(Tenure::Held { epoch: 1 });
        let (one, two) = (tenures.campaign().await.unwrap(), tenures.campaign().await.unwrap());
        tenures.set(Tenure::AskedBack { epoch: 1 });
        one.ended().await;
        drop(one);
        assert!(!tenures.is_released());
        drop(two);
        tenures.turned().await;
        assert!(tenures.is_released());
    }

    #[tokio::test]
    async fn a_process_that_was_stopped_does_not_hold_what_it_held() {
        let tenures = tenures();
        tenures.set(Tenure::Held { epoch: 1 });
        let guard = tenures.campaign().await.expect("it leads");
        tenures.shared.pulse.oversleep();
        assert!(!guard.is_held());
    }
}
