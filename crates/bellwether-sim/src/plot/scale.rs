//! From values to places, with round ticks.

/// Where values are along an axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    kind: Kind,
    low: f64,
    high: f64,
    /// Where the lowest value is, and the highest.
    from: f64,
    to: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Linear,
    Log,
}

impl Scale {
    /// From zero to a round number that is not below any value.
    pub(super) fn linear(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let most = values.fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        let step = step(most);
        Self { kind: Kind::Linear, low: 0.0, high: (most / step).ceil() * step, from, to }
    }

    /// Every factor takes as much room as any other. Zero has no place on such an axis: then it is linear.
    pub(super) fn log(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        if !(least > 0.0 && least.is_finite()) {
            return Self::linear(values, from, to);
        }
        let (low, high) = (round_below(least), round_above(values.fold(least, f64::max)));
        let high = if high > low { high } else { low * 10.0 };
        Self { kind: Kind::Log, low, high, from, to }
    }

    /// As [`Scale::log`], from the least value to the largest, however odd they are.
    pub(super) fn log_between(low: f64, high: f64, from: f64, to: f64) -> Self {
        Self { kind: Kind::Log, low, high, from, to }
    }

    /// Where a value is.
    pub(super) fn place(&self, value: f64) -> f64 {
        let part = match self.kind {
            Kind::Linear => (value - self.low) / (self.high - self.low),
            Kind::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        self.from + part * (self.to - self.from)
    }

    /// Round values from the lowest to the highest.
    pub(super) fn ticks(&self) -> Vec<f64> {
        match self.kind {
            Kind::Linear => {
                let step = step(self.high);
                let count = (self.high / step).round() as u32;
                (0..=count).map(|tick| f64::from(tick) * step).collect()
            }
            Kind::Log => {
                let all = rounds(self.low, self.high);
                // With many of them, powers of ten alone.
                if all.len() <= 8 {
                    all
                } else {
                    all.into_iter().filter(|tick| leading(*tick) == 1).collect()
                }
            }
        }
    }
}

/// A number with three digits that matter, as people write it.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        ..0.005 => "< 0.01".to_owned(),
        ..1.0 => trimmed(format!("{value:.2}")),
        ..10.0 => trimmed(format!("{value:.1}")),
        ..1_000.0 => format!("{value:.0}"),
        _ => thousands(value.round() as i64),
    }
}

fn trimmed(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn thousands(value: i64) -> String {
    match value {
        ..1_000 => value.to_string(),
        _ => format!("{},{:03}", thousands(value / 1_000), value % 1_000),
    }
}

/// So that there are no more than five of them.
fn step(most: f64) -> f64 {
    let mut step = power_of_ten_below(most / 5.0);
    for factor in [2.0, 2.5, 2.0] {
        if most / step <= 5.0 {
            break;
        }
        step *= factor;
    }
    step
}

/// 1, 2, 5, 10 … from the lowest to the highest.
fn rounds(low: f64, high: f64) -> Vec<f64> {
    let mut ticks = vec![low];
    while let Some(last) = ticks.last().copied().filter(|last| *last < high * 0.999) {
        ticks.push(next_round(last));
    }
    ticks
}

fn next_round(tick: f64) -> f64 {
    if leading(tick) == 2 { tick * 2.5 } else { tick * 2.0 }
}

fn round_below(value: f64) -> f64 {
    let ten = power_of_ten_below(value);
    let fits = |factor: &f64| ten * factor <= value * 1.000_001;
    [5.0, 2.0].into_iter().find(fits).map_or(ten, |factor| ten * factor)
}

fn round_above(value: f64) -> f64 {
    let below = round_below(value);
    if below >= value * 0.999_999 { below } else { next_round(below) }
}

fn power_of_ten_below(value: f64) -> f64 {
    let mut ten = 1.0;
    while ten > value * 1.000_001 {
        ten /= 10.0;
    }
    while ten * 10.0 <= value * 1.000_001 {
        ten *= 10.0;
    }
    ten
}

/// The first digit of a round number.
fn leading(tick: f64) -> u32 {
    (tick / power_of_ten_below(tick)).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_beyond_every_value() {
        let linear = |most: f64| Scale::linear([most].into_iter(), 0.0, 100.0).ticks();
        assert_eq!(linear(68.4), [0.0, 20.0, 40.0, 60.0, 80.0]);
        assert_eq!(linear(0.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(linear(100.0).last(), Some(&100.0));
        let log = |low: f64, high: f64| Scale::log([low, high].into_iter(), 0.0, 100.0).ticks();
        assert_eq!(log(40.0, 640.0), [20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0]);
        assert_eq!(log(1.0, 1_000_000.0).len(), 7, "powers of ten alone");
        assert_eq!(log(0.0, 5.0), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "zero has no logarithm");
    }

    #[test]
    fn places_are_between_the_ends() {
        let scale = Scale::log([10.0, 1_000.0].into_iter(), 0.0, 100.0);
        assert_eq!([10.0, 100.0, 1_000.0].map(|value| scale.place(value).round()), [0.0, 50.0, 100.0]);
        let scale = Scale::linear([10.0].into_iter(), 200.0, 100.0);
        assert_eq!(scale.place(5.0), 150.0);
    }

    #[test]
    fn numbers_are_as_people_write_them() {
        let written = [0.0, 0.001, 0.25, 3.04, 12.6, 999.4, 21_120.0, 1_234_567.0].map(number);
        assert_eq!(written, ["0", "< 0.01", "0.25", "3", "13", "999", "21,120", "1,234,567"]);
    }
}
