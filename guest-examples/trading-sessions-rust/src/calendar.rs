//! Trading days: when an exchange is open, in UTC.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_sdk::{Fault, Window};

use crate::config::{Config, Phase, UtcOffset};
use crate::date::{Date, WEEKDAYS};
use crate::phase::Hours;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// An exchange's calendar.
pub struct Calendar {
    utc_offsets: Vec<UtcOffset>,
    week: [Option<Hours>; 7],
    holidays: BTreeSet<Date>,
    half_days: BTreeMap<Date, i64>,
}

/// A day on which the exchange trades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TradingDay {
    /// The day, in local time.
    pub date: Date,
    /// Whether it closes early.
    pub closes_early: bool,
    hours: Hours,
    /// Local midnight, ms since the Unix epoch.
    midnight: i64,
}

impl Calendar {
    /// Checks a config's days and hours.
    pub fn new(config: &Config) -> Result<Self, Fault> {
        let mut week = [None; 7];
        for (name, hours) in &config.hours {
            let place = WEEKDAYS.iter().position(|weekday| weekday == name);
            let place = place.ok_or_else(|| Fault::new(format!("config.hours: `{name}` is no weekday")))?;
            if hours.opens >= hours.closes {
                return Err(Fault::new(format!("config.hours.{name}: it closes before it opens")));
            }
            week[place] = Some(Hours { opens: hours.opens.0, closes: hours.closes.0 });
        }
        if config.utc_offsets.is_empty() || !config.utc_offsets.is_sorted_by(|a, b| a.from < b.from) {
            return Err(Fault::new("config.utc_offsets: name at least one day, each later than the one before"));
        }
        let holidays: BTreeSet<Date> = config.holidays.iter().copied().collect();
        let mut half_days = BTreeMap::new();
        for (text, closes) in &config.half_days {
            let path = format!("config.half_days.{text}");
            let date = Date::try_from(text.clone()).map_err(|wrong| format!("{path}: {wrong}"))?;
            let Some(usual) = week[date.weekday()].filter(|_| !holidays.contains(&date)) else {
                return Err(Fault::new(format!("{path}: the exchange is shut on that day")));
            };
            if !(usual.opens + 1..usual.closes).contains(&closes.0) {
                return Err(Fault::new(format!("{path}: that is not between the opening and the usual close")));
            }
            half_days.insert(date, closes.0);
        }
        Ok(Self { utc_offsets: config.utc_offsets.clone(), week, holidays, half_days })
    }

    /// The hours of each weekday on which it trades.
    pub fn week(&self) -> impl Iterator<Item = (&'static str, Hours)> {
        WEEKDAYS.into_iter().zip(self.week).filter_map(|(name, hours)| Some((name, hours?)))
    }

    /// The trading day that a time falls on, in local time; none where the exchange is shut all day.
    pub fn trading_day(&self, time: i64) -> Option<TradingDay> {
        let local_day = |offset: &UtcOffset| Date((time + offset.minutes * MINUTE).div_euclid(DAY));
        let found = self.utc_offsets.iter().rev().find(|offset| local_day(offset) >= offset.from);
        let offset = found.unwrap_or(&self.utc_offsets[0]);
        let date = local_day(offset);
        let usual = self.week[date.weekday()].filter(|_| !self.holidays.contains(&date))?;
        let early_close = self.half_days.get(&date);
        let hours = Hours { closes: *early_close.unwrap_or(&usual.closes), ..usual };
        let midnight = date.0 * DAY - offset.minutes * MINUTE;
        Some(TradingDay { date, closes_early: early_close.is_some(), hours, midnight })
    }
}

impl TradingDay {
    /// A phase's window on this day; none where it would end before it begins.
    pub fn window(&self, phase: &Phase) -> Option<Window> {
        let at = |minutes: i64| self.midnight + minutes * MINUTE;
        let window = Window { start: at(phase.from.on(self.hours)), end: at(phase.to.on(self.hours)) };
        (window.start < window.end).then_some(window)
    }
}

#[cfg(test)]
mod tests;
