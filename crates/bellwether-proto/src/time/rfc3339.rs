//! Instants as RFC 3339 writes them, in UTC with milliseconds.

use core::fmt;

const DAY_S: u64 = 86_400;

/// An instant of the calendar, in microseconds since 1970: `2026-03-01T12:30:00.250Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rfc3339(pub u64);

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.0 / 1_000_000, self.0 / 1_000 % 1_000);
        let (year, month, day) = civil(seconds / DAY_S);
        let second = seconds % DAY_S;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// Year, month and day of a day counted from 1970-01-01. Years are taken to begin in March, so that the leap day is the
/// last of its year, and counted in eras of 400, after which the calendar repeats.
fn civil(days: u64) -> (u64, u64, u64) {
    const ERA: u64 = 146_097;
    /// From 0000-03-01 to 1970-01-01.
    const TO_1970: u64 = 719_468;
    let days = days + TO_1970;
    let (era, day_of_era) = (days / ERA, days % ERA);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn known_instants_are_written_as_they_are_known() {
        for (us, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000Z"),
            (1_000_000_000_000_000, "2001-09-09T01:46:40.000Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_000_000, "9999-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(Rfc3339(us).to_string(), text);
        }
    }

    #[test]
    fn every_day_of_four_centuries_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..146_097 {
            assert_eq!(civil(days), (year, month, day));
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = match month {
                4 | 6 | 9 | 11 => 30,
                2 => 28 + u64::from(leap),
                _ => 31,
            };
            (month, day) = if day < last { (month, day + 1) } else { (month + 1, 1) };
            (year, month) = if month == 13 { (year + 1, 1) } else { (year, month) };
        }
    }
}
