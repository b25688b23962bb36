//! Times as people write them: a decimal number and a unit, `10ms`.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::str::FromStr;

use super::Span;

/// The longest time that can be written, about 114 years: sums of times stay far from the end of the clock.
const HOURS_MAX: u64 = 1_000_000;

const UNITS: [(&str, u64); 5] =
    [("us", 1), ("ms", 1_000), ("s", 1_000_000), ("m", 60_000_000), ("h", MICROS_PER_HOUR)];

const MICROS_PER_HOUR: u64 = 3_600_000_000;

/// More decimals than any unit has microseconds, and few enough for the arithmetic below.
const DECIMALS_MAX: usize = 18;

/// Why a text is not a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseSpanError {
    /// It is not a number and a unit.
    #[error("found {0:?}, expected {expected}", expected = Span::EXPECTED)]
    Unreadable(String),
    /// Its decimals reach below a microsecond.
    #[error("found {0:?}, expected a whole number of microseconds")]
    TooFine(String),
    /// It is too long.
    #[error("found {0:?}, expected a time of at most \"{HOURS_MAX}h\"")]
    TooLong(String),
}

impl Span {
    /// What an error says was expected where a time should be.
    pub const EXPECTED: &str = "a time with a unit (us, ms, s, m, h) such as \"10ms\"";
}

/// Exact: no rounding, no floating point.
impl FromStr for Span {
    type Err = ParseSpanError;

    fn from_str(text: &str) -> Result<Self, ParseSpanError> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, micros)| u128::from(*micros));
        let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
        let (Some(unit), false, false) =
            (unit, whole.is_empty(), decimals.is_empty() || decimals.contains('.'))
        else {
            return Err(ParseSpanError::Unreadable(text.to_owned()));
        };
        let rest = decimal_micros(decimals, unit).ok_or_else(|| ParseSpanError::TooFine(text.to_owned()))?;
        whole_micros(whole, unit)
            .and_then(|micros| micros.checked_add(rest))
            .filter(|micros| *micros <= HOURS_MAX * MICROS_PER_HOUR)
            .map(Self::micros)
            .ok_or_else(|| ParseSpanError::TooLong(text.to_owned()))
    }
}

fn whole_micros(digits: &str, unit: u128) -> Option<u64> {
    let micros = digits.parse::<u128>().ok()?.checked_mul(unit)?;
    u64::try_from(micros).ok()
}

/// `None` if the decimals reach below a microsecond.
fn decimal_micros(digits: &str, unit: u128) -> Option<u64> {
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let scale = 10_u128.pow(u32::try_from(digits.len()).ok().filter(|_| digits.len() <= DECIMALS_MAX)?);
    let scaled = digits.parse::<u128>().ok()? * unit;
    scaled.is_multiple_of(scale).then(|| u64::try_from(scaled / scale).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    #[test]
    fn times_are_exact() {
        let units = [
            ("0s", 0),
            ("250us", 250),
            ("10ms", 10_000),
            ("1.5s", 1_500_000),
            ("0.000001s", 1),
            ("1.50ms", 1_500),
            ("2m", 120_000_000),
            ("1h", 3_600_000_000),
            ("0.1h", 360_000_000),
            ("1000000h", 3_600_000_000_000_000),
        ];
        for (text, micros) in units {
            assert_eq!(text.parse(), Ok(Span::micros(micros)), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_time_is_answered_with_what_would_be() {
        let wrong =
            ["", "s", "10", "-1s", "+1s", "1 s", " 1s", "1S", "1.s", ".5s", "1.2.3s", "1e3s", "10mss", "٣s"];
        for text in wrong {
            let message = said(text);
            assert!(message.contains("expected a time with a unit"), "{text}: {message}");
        }
        for text in ["0.5us", "0.0000001s", "0.1234567890123456789h"] {
            let message = said(text);
            assert!(message.contains("expected a whole number of microseconds"), "{text}: {message}");
        }
        let nines = "9".repeat(60);
        for number in ["1000000.5", "1000001", "18446744073709551616", &nines] {
            let message = said(&format!("{number}h"));
            assert!(message.contains("at most \"1000000h\""), "{number}: {message}");
        }
    }

    #[test]
    fn what_is_printed_can_be_read() {
        for span in [Span::ZERO, Span::secs(30), Span::millis(1_500), Span::micros(1_001)] {
            assert_eq!(span.to_string().parse(), Ok(span));
        }
    }

    fn said(text: &str) -> String {
        text.parse::<Span>().expect_err(text).to_string()
    }
}
