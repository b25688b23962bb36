//! Durations as people write them: a number and a unit.

use std::time::Duration;

/// What may be written after the number, and what it stands for.
const UNITS: [(&str, u64); 5] =
    [("us", 1), ("ms", 1_000), ("s", 1_000_000), ("m", 60_000_000), ("h", 3_600_000_000)];

/// Reads `250ms`, `10s`, `5m`.
///
/// # Errors
/// Says what was expected.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let expected = || "expected a number with a unit, such as \"250ms\" or \"10s\"".to_owned();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let (_, micros) = UNITS.into_iter().find(|(name, _)| *name == unit.trim_start()).ok_or_else(expected)?;
    let number: u64 = number.parse().map_err(|_| expected())?;
    number.checked_mul(micros).map(Duration::from_micros).ok_or_else(expected)
}

/// A length of time, in the two units that matter to a person.
pub(crate) fn rough(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 => format!("{} ms", span.as_millis()),
        1..60 => format!("{:.1} s", span.as_secs_f64()),
        60..3600 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {:02} m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {:02} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit() {
        for (text, us) in
            [("250ms", 250_000), ("10s", 10_000_000), ("5 m", 300_000_000), ("0s", 0), ("7us", 7)]
        {
            assert_eq!(parse(text), Ok(Duration::from_micros(us)));
        }
        for text in ["", "10", "s", "-1s", "1.5s", "10 parsecs", "99999999999999999999s", "9999999999999999h"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_person_reads_two_units() {
        for (ms, text) in [
            (412, "412 ms"),
            (1_500, "1.5 s"),
            (61_000, "1 m 01 s"),
            (3_720_000, "1 h 02 m"),
            (90_000_000, "1 d 01 h"),
        ] {
            assert_eq!(rough(Duration::from_millis(ms)), text);
        }
    }
}
