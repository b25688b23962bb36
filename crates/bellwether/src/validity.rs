//! Until when a leader may act. Whoever asks looks at the clock, every time: no word of the driver is needed for it to end.

use std::time::Duration;

use tokio::sync::watch;

use crate::uptime::Uptime;

/// What is known of this member's right to act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Validity {
    /// It has none.
    #[default]
    None,
    /// In that epoch, until the machine has been up for so long.
    Until { epoch: u64, until: Duration },
    /// In that epoch, as long as the store that it writes to takes its token.
    ByStore { epoch: u64 },
}

impl Validity {
    /// Whether it may act in that epoch, now.
    fn holds(self, in_epoch: u64, clock: Uptime) -> bool {
        match self {
            Self::None => false,
            Self::Until { epoch, until } => epoch == in_epoch && clock.now() < until,
            Self::ByStore { epoch } => epoch == in_epoch,
        }
    }

    /// How long it is certain to hold in that epoch; `None` if no clock says.
    fn left(self, in_epoch: u64, clock: Uptime) -> Option<Duration> {
        match self {
            Self::Until { epoch, until } if epoch == in_epoch => Some(until.saturating_sub(clock.now())),
            Self::None | Self::Until { .. } | Self::ByStore { .. } => None,
        }
    }
}

/// Whether a member needs such a right at all, and which it has.
#[derive(Debug)]
pub(crate) enum Rights {
    /// Whoever leads may act.
    Unlimited,
    /// Exclusive leadership.
    Limited(watch::Sender<Validity>, Uptime),
}

impl Rights {
    pub(crate) fn limited(clock: Uptime) -> Self {
        Self::Limited(watch::Sender::default(), clock)
    }

    /// From now on.
    pub(crate) fn set(&self, validity: Validity) {
        if let Self::Limited(rights, _) = self {
            rights.send_replace(validity);
        }
    }

    /// Whether it may act in that epoch, now.
    pub(crate) fn hold(&self, epoch: u64) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Limited(rights, clock) => {
                let validity = *rights.borrow();
                validity.holds(epoch, *clock)
            }
        }
    }

    /// How long it is certain to hold in that epoch; `None` if no clock says.
    pub(crate) fn left(&self, epoch: u64) -> Option<Duration> {
        match self {
            Self::Unlimited => None,
            Self::Limited(rights, clock) => {
                let validity = *rights.borrow();
                validity.left(epoch, *clock)
            }
        }
    }

    /// Waits until it may act in that epoch, or in another.
    pub(crate) async fn granted(&self, epoch: u64) {
        if let Self::Limited(rights, clock) = self {
            let news = |validity: &Validity| match validity {
                Validity::None => false,
                Validity::Until { epoch: of, .. } | Validity::ByStore { epoch: of } if *of != epoch => true,
                validity => validity.holds(epoch, *clock),
            };
            // An error means that the member is no more, and that is noticed elsewhere.
            let _ = rights.subscribe().wait_for(news).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uptime;

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_right_ends_by_itself() {
        let rights = Rights::limited(Uptime::Machine);
        assert!(!rights.hold(7), "none was granted");
        rights.set(Validity::Until { epoch: 7, until: uptime::now() + HOUR });
        assert!(rights.hold(7) && !rights.hold(6) && !rights.hold(8));
        assert!(rights.left(7).is_some_and(|left| left <= HOUR && left > HOUR / 2));
        rights.set(Validity::Until { epoch: 7, until: uptime::now() });
        assert_eq!((rights.hold(7), rights.left(7)), (false, Some(Duration::ZERO)));
    }

    #[test]
    fn what_a_store_decides_has_no_end_here() {
        let rights = Rights::limited(Uptime::Machine);
        rights.set(Validity::ByStore { epoch: 3 });
        assert_eq!((rights.hold(3), rights.hold(4), rights.left(3)), (true, false, None));
        rights.set(Validity::None);
        assert!(!rights.hold(3));
        assert_eq!((Rights::Unlimited.hold(1), Rights::Unlimited.left(1)), (true, None));
    }
}
