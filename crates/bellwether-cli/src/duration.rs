//! Durations as people write them: a number and a unit.

use std::time::Duration;

use bellwether_proto::time::{ParseSpanError, Span};

/// Reads `250ms`, `10s`, `5m`.
pub(crate) fn parse(text: &str) -> Result<Duration, ParseSpanError> {
    text.parse::<Span>().map(Duration::from)
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
