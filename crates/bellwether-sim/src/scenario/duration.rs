//! Times as files write them: a decimal number and a unit, `10ms`.

use bellwether_proto::time::Span;

/// What to say when something else stands where a time should.
pub const EXPECTED: &str = "a time with a unit (us, ms, s, m, h) such as \"10ms\"";

/// The longest time a file may name, about 114 years: sums of times stay far from the end of the clock.
const HOURS_MAX: u64 = 1_000_000;

const UNITS: [(&str, u64); 5] =
    [("us", 1), ("ms", 1_000), ("s", 1_000_000), ("m", 60_000_000), ("h", MICROS_PER_HOUR)];

const MICROS_PER_HOUR: u64 = 3_600_000_000;

/// More decimals than any unit has microseconds, and few enough for the arithmetic below.
const DECIMALS_MAX: usize = 18;

/// Reads a time, exactly: no rounding, no floating point.
///
/// # Errors
/// What was found and what was expected, in words.
pub fn parse(text: &str) -> Result<Span, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, micros)| u128::from(*micros));
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let (Some(unit), false, false) = (unit, whole.is_empty(), decimals.is_empty() || decimals.contains('.'))
    else {
        return Err(format!("found {text:?}, expected {EXPECTED}"));
    };
    let rest = decimal_micros(decimals, unit)
        .ok_or_else(|| format!("found {text:?}, expected a whole number of microseconds"))?;
    whole_micros(whole, unit)
        .and_then(|micros| micros.checked_add(rest))
        .filter(|micros| *micros <= HOURS_MAX * MICROS_PER_HOUR)
        .map(Span::micros)
        .ok_or_else(|| format!("found {text:?}, expected a time of at most \"{HOURS_MAX}h\""))
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
