//! Instants as the API tells them: as a text, and as microseconds since 1970.

use std::time::{SystemTime, UNIX_EPOCH};

use bellwether_proto::time::Rfc3339;

/// `2026-03-01T12:30:00.250Z`.
pub(super) fn format(at: SystemTime) -> String {
    Rfc3339(micros(at)).to_string()
}

/// Microseconds since 1970. A clock before that is taken to be there: such a clock is unset, not precise.
pub(super) fn micros(at: SystemTime) -> u64 {
    u64::try_from(at.duration_since(UNIX_EPOCH).unwrap_or_default().as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_that_is_not_set_is_at_the_beginning() {
        assert_eq!(format(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00.000Z");
        assert_eq!(micros(UNIX_EPOCH + Duration::from_millis(7)), 7_000);
    }
}
