//! Where a phase of a trading day begins and ends: at a time of day, or so long before or after the opening or the close.

use serde::Deserialize;

use crate::date::{TimeOfDay, number};

/// The hours of one trading day, in minutes since midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    /// When the exchange opens.
    pub opens: i64,
    /// When it closes.
    pub closes: i64,
}

/// `"04:00"`, `open`, `close`, `open+15m`, `close-30m`, `close+4h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Bound {
    /// The same on every day.
    At(i64),
    /// So many minutes after the opening.
    Open(i64),
    /// So many minutes after the close.
    Close(i64),
}

/// A length: `30m`, `4h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Minutes(pub i64);

impl Bound {
    /// Minutes since midnight.
    pub fn on(self, hours: Hours) -> i64 {
        match self {
            Self::At(minutes) => minutes,
            Self::Open(minutes) => hours.opens + minutes,
            Self::Close(minutes) => hours.closes + minutes,
        }
    }
}

impl TryFrom<String> for Bound {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no bound; write `04:00`, `open`, `close`, `close-30m` or `close+4h`");
        let relative = [("open", Self::Open as fn(i64) -> Self), ("close", Self::Close)];
        let Some((rest, bound)) =
            relative.into_iter().find_map(|(word, bound)| Some((text.strip_prefix(word)?, bound)))
        else {
            return TimeOfDay::try_from(text.clone()).map(|time| Self::At(time.0)).map_err(|_| wrong());
        };
        let length = |text: &str| Minutes::try_from(text.to_owned()).map(|minutes| minutes.0).map_err(|_| wrong());
        let minutes = match rest.split_at_checked(1) {
            Some(("+", after)) => length(after)?,
            Some(("-", before)) => -length(before)?,
            Some(_) => return Err(wrong()),
            None => 0,
        };
        Ok(bound(minutes))
    }
}

impl TryFrom<String> for Minutes {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let of = |unit: char| text.strip_suffix(unit).and_then(number).filter(|count| *count <= 1_440);
        let minutes = of('m').or_else(|| of('h').map(|hours| 60 * hours));
        minutes.map(Self).ok_or_else(|| format!("`{text}` is no length of time; write `30m` or `4h`"))
    }
}

#[cfg(test)]
mod tests;
