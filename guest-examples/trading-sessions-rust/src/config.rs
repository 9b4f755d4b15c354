//! The window hook's `config` in the pipeline file.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::date::{Date, TimeOfDay};
use crate::phase::{Bound, Minutes};

/// An exchange: its clock, its hours, and the phases of its trading day.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The time zone's rules as a table, ascending. The first entry holds before its day too.
    pub utc_offsets: Vec<UtcOffset>,
    /// By weekday; the exchange is shut on a day that is not named.
    pub hours: BTreeMap<String, OpeningHours>,
    /// Days on which it is shut.
    #[serde(default)]
    pub holidays: Vec<Date>,
    /// Days on which it closes early, with the time.
    #[serde(default)]
    pub half_days: BTreeMap<String, TimeOfDay>,
    /// The windows of a trading day. They may overlap: a trade is in each that holds it, and in no window if none does.
    pub phases: Vec<Phase>,
}

/// How far local time is ahead of UTC, from a day on.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UtcOffset {
    /// The first day, in local time.
    pub from: Date,
    /// Minutes; New York is at -300 in winter.
    pub minutes: i64,
}

/// The hours of a weekday.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpeningHours {
    /// Local time.
    pub opens: TimeOfDay,
    /// Local time.
    pub closes: TimeOfDay,
}

/// One window of a trading day.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// What it is called in results.
    pub name: String,
    /// Where it begins.
    pub from: Bound,
    /// Where it ends. On a day on which that is not after the beginning, there is no such window.
    pub to: Bound,
    /// So long before the end, every trade begins to show the phase early. None: it is shown at its end.
    #[serde(default)]
    pub early: Option<Minutes>,
    /// What a trade does that comes after the end.
    #[serde(default)]
    pub late: Late,
}

/// What becomes of a trade that comes after its phase was shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Late {
    /// It corrects the phase.
    #[default]
    Correct,
    /// It is not shown: what was shown at the end is final, and its state is given back at once.
    Drop,
}
