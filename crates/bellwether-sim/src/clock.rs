//! Clocks that run at their own pace.

use bellwether_proto::time::Time;

const MILLION: i128 = 1_000_000;

/// One node's clock: it shows `ppm` millionths more, or less, than has passed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    ppm: i32,
}

impl Clock {
    pub(crate) fn drifting(ppm: i32) -> Self {
        assert!(i128::from(ppm) > -MILLION, "a clock that stands still or runs backwards");
        Self { ppm }
    }

    /// What the clock shows at that instant of the world.
    #[inline]
    pub(crate) fn reads(self, world: Time) -> Time {
        if self.ppm == 0 {
            return world;
        }
        scale(world, MILLION + i128::from(self.ppm), MILLION, Rounding::Down)
    }

    /// The first instant of the world at which the clock shows `local` or later.
    #[inline]
    pub(crate) fn reaches(self, local: Time) -> Time {
        if self.ppm == 0 || local == Time::NEVER {
            return local;
        }
        scale(local, MILLION, MILLION + i128::from(self.ppm), Rounding::Up)
    }
}

#[derive(Clone, Copy)]
enum Rounding {
    Down,
    Up,
}

fn scale(time: Time, times: i128, by: i128, rounding: Rounding) -> Time {
    let product = i128::from(time.as_micros()) * times;
    let scaled = match rounding {
        Rounding::Down => product / by,
        Rounding::Up => (product + by - 1) / by,
    };
    Time::from_micros(u64::try_from(scaled).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_reached_at_the_first_instant_that_shows_it() {
        for ppm in [-100_000, -200, -1, 0, 1, 200, 100_000] {
            let clock = Clock::drifting(ppm);
            for local in [0, 1, 999, 100_000, 123_456_789, 86_400_000_000] {
                let local = Time::from_micros(local);
                let world = clock.reaches(local);
                assert!(clock.reads(world) >= local, "{ppm} ppm: too early");
                if let Some(before) = world.as_micros().checked_sub(1) {
                    assert!(clock.reads(Time::from_micros(before)) < local, "{ppm} ppm: too late");
                }
            }
        }
    }
}
