//! The map hook: one flight in, one checked and enriched flight out, or a refusal that says what is wrong with it.

use serde::Deserialize;
use tidegate_sdk::{Fault, Field, Mapper, Reject, Row, reject};

/// A flight as the airports report it.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Flight<'a> {
    /// The airport that it leaves from.
    pub origin: &'a str,
    /// The airport that it goes to.
    pub dest: &'a str,
    /// `departed` or `cancelled`.
    pub status: &'a str,
    /// Minutes, negative when early, null when cancelled.
    pub dep_delay_min: Option<i64>,
    /// Miles.
    pub distance_mi: i64,
    /// The scheduled departure, in milliseconds since the Unix epoch.
    #[row(time)]
    pub scheduled: i64,
}

/// What is added to a flight. Its other fields ride along ([`Derive::KEEP`](Mapper::KEEP)).
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Derived {
    /// `EWR-IAH`.
    pub route: String,
    /// The hour of the scheduled departure at the airport, 0 to 23.
    pub hour: i64,
    /// Minutes, negative when early, null when cancelled.
    pub delay_min: Option<i64>,
    /// Whether it left late, by the threshold of the config.
    pub delayed: bool,
    /// Whether it did not leave at all.
    pub cancelled: bool,
}

/// The hook's `config`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// From how many minutes on a flight counts as delayed; 15 is what US statistics count.
    delayed_from_min: i64,
    /// The airports' distance from UTC: New York in winter is at -300.
    utc_offset_min: i64,
}

impl Default for Config {
    fn default() -> Self {
        Self { delayed_from_min: 15, utc_offset_min: -300 }
    }
}

/// The map hook.
pub struct Derive {
    config: Config,
}

/// More than this early or late is a mistake in the report.
const PLAUSIBLE_DELAY_MIN: std::ops::RangeInclusive<i64> = -120..=2_880;

impl Mapper for Derive {
    type Config = Config;
    type In<'a> = Flight<'a>;
    type Out<'a> = Derived;
    const KEEP: &'static [&'static str] = &["flight_id", "carrier", "origin", "dest", "distance_mi"];

    fn open(config: Config, _input: &[Field]) -> Result<Self, Fault> {
        if config.delayed_from_min < 1 {
            return Err(Fault::new(format!(
                "config.delayed_from_min: {} is not a number of minutes from 1",
                config.delayed_from_min
            )));
        }
        Ok(Self { config })
    }

    fn map<'a>(&'a self, flight: Flight<'a>) -> Result<Derived, Reject> {
        if flight.distance_mi <= 0 {
            return Err(reject!("bad-distance", "{} miles to {}", flight.distance_mi, flight.dest));
        }
        let cancelled = match flight.status {
            "departed" => false,
            "cancelled" => true,
            other => return Err(reject!("unknown-status", "`{other}` is neither departed nor cancelled")),
        };
        match flight.dep_delay_min {
            None if !cancelled => return Err(reject!("missing-delay", "departed without a delay")),
            Some(delay) if cancelled => return Err(reject!("impossible-delay", "cancelled, yet {delay} minutes late")),
            Some(delay) if !PLAUSIBLE_DELAY_MIN.contains(&delay) => {
                return Err(reject!("impossible-delay", "{delay} minutes late"));
            }
            _ => {}
        }
        Ok(Derived {
            route: [flight.origin, "-", flight.dest].concat(),
            hour: self.hour_of_day(flight.scheduled),
            delay_min: flight.dep_delay_min,
            delayed: flight.dep_delay_min.is_some_and(|delay| delay >= self.config.delayed_from_min),
            cancelled,
        })
    }
}

impl Derive {
    fn hour_of_day(&self, time: i64) -> i64 {
        let local_min = time.div_euclid(60_000) + self.config.utc_offset_min;
        local_min.div_euclid(60).rem_euclid(24)
    }
}

#[cfg(test)]
mod tests;
