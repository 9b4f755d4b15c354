//! Days since 1970-01-01 to and from dates of the proleptic Gregorian calendar.
//!
//! Both directions count years from 1 March, so that the leap day is a year's last, in eras of 400 years (146,097 days),
//! after which the calendar repeats. Exact for every day that a 64-bit millisecond time falls on.

const DAYS_PER_ERA: i64 = 146_097;
const YEARS_PER_ERA: i64 = 400;
const DAYS_PER_YEAR: i64 = 365;
/// The first day of each month in a year that starts with March, from January on.
const DAYS_BEFORE: [i64; 12] = [306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275];
/// From 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// A date; the month and the day count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
}

/// The day number of a date of the years 0 and after; none if there is no such date.
#[inline]
pub(super) fn days_from_civil(date: Civil) -> Option<i64> {
    let Civil { year, month, day } = date;
    let before = DAYS_BEFORE.get(usize::try_from(month - 1).ok()?)?;
    if day < 1 || day > days_in_month(year, month) {
        return None;
    }
    // One era more keeps the year 0 from being negative before March.
    let march_year = year + YEARS_PER_ERA - i64::from(month <= 2);
    let century = march_year / 100;
    let leap_days = march_year / 4 - century + century / 4;
    Some(march_year * DAYS_PER_YEAR + leap_days + before + day - 1 - EPOCH - DAYS_PER_ERA)
}

/// The first day of a month that counts from March (0), in a year that starts with March.
fn day_of_march_year(month: i64) -> i64 {
    (153 * month + 2) / 5
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Civil {
    /// The date of a day number.
    pub(super) fn from_days(days: i64) -> Self {
        let days = days + EPOCH;
        let era = days.div_euclid(DAYS_PER_ERA);
        let day_of_era = days.rem_euclid(DAYS_PER_ERA);
        // Takes the leap days out, so that every year has 365 days.
        let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / (DAYS_PER_ERA - 1);
        let year_of_era = (day_of_era - leap_days) / DAYS_PER_YEAR;
        let day_of_year = day_of_era - (year_of_era * DAYS_PER_YEAR + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let month = (march_month + 2) % 12 + 1;
        let year = era * YEARS_PER_ERA + year_of_era + i64::from(month <= 2);
        Self { year, month, day: day_of_year - day_of_march_year(march_month) + 1 }
    }
}
