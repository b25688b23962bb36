//! "After some time, for ever", on a run that ends: throughout its last quarter.
//!
//! The papers give no bound on how long "some time" is, so it is a part of the run, and whoever writes the run makes
//! it long enough. Three quarters to get there leave a quarter that is long enough to notice one who does not stay.

use bellwether_proto::time::Time;

/// The first instant of the last quarter of a run that ended then. The end itself is part of it too.
pub(super) fn last_quarter(end: Time) -> Time {
    end - end.since(Time::ZERO) / 4
}
