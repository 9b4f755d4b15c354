//! Days and times of day, without a clock and without a time zone database.

use serde::Deserialize;

/// A day of the Gregorian calendar: days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Date(pub i64);

/// A time of day: minutes since midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct TimeOfDay(pub i64);

/// In the order of [`Date::weekday`].
pub const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

const DAYS_BEFORE_MONTH: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn month_length(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to January 1 of a year.
fn days_to_year(year: i64) -> i64 {
    let leap_days = |year: i64| year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * (year - 1970) + leap_days(year - 1) - leap_days(1969)
}

impl Date {
    /// 0 for a Monday, 6 for a Sunday.
    pub fn weekday(self) -> usize {
        // 1970-01-01 was a Thursday.
        usize::try_from((self.0 + 3).rem_euclid(7)).expect("a remainder of 7")
    }

    fn of(year: i64, month: i64, day: i64) -> Option<Self> {
        let valid = (1..=12).contains(&month) && (1..=month_length(year, month)).contains(&day);
        let before = DAYS_BEFORE_MONTH.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
        let leap_day = i64::from(month > 2 && is_leap(year));
        valid.then(|| Self(days_to_year(year) + before + leap_day + day - 1))
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not after the day's year, whichever side of 1970 it is on.
        let mut year = 1970 + self.0.div_euclid(366).min(self.0.div_euclid(365));
        while days_to_year(year + 1) <= self.0 {
            year += 1;
        }
        let mut day = self.0 - days_to_year(year);
        let mut month = 1;
        while day >= month_length(year, month) {
            day -= month_length(year, month);
            month += 1;
        }
        write!(f, "{year:04}-{month:02}-{:02}", day + 1)
    }
}

impl TryFrom<String> for Date {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('-').collect();
        let date = match parts.as_slice() {
            [year, month, day] if [year.len(), month.len(), day.len()] == [4, 2, 2] => {
                number(year).zip(number(month)).zip(number(day)).and_then(|((y, m), d)| Self::of(y, m, d))
            }
            _ => None,
        };
        date.ok_or_else(|| format!("`{text}` is no day; write it as 2026-11-27"))
    }
}

impl TryFrom<String> for TimeOfDay {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let time = match text.split_once(':') {
            Some((hour, minute)) if hour.len() == 2 && minute.len() == 2 => number(hour).zip(number(minute)),
            _ => None,
        };
        let minutes = time.filter(|(_, minute)| *minute < 60).map(|(hour, minute)| 60 * hour + minute);
        minutes
            .filter(|minutes| *minutes <= 24 * 60)
            .map(Self)
            .ok_or_else(|| format!("`{text}` is no time of day; write it as 09:30"))
    }
}

/// Digits only: `parse` alone would take a sign.
pub fn number(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
