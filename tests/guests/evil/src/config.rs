//! What to do wrong, where and when.

use serde::Deserialize;
use tidegate_sdk::columns::{Column, Reads, Value};
use tidegate_sdk::{Field, Kind};

/// The hook's config.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The deed; none: be honest.
    pub evil: Option<Evil>,
    /// The function that does it; none: the one that takes rows.
    #[serde(rename = "in")]
    pub place: Option<Place>,
    /// The mark that sets it off; none: every call.
    pub on: Option<Mark>,
    /// The field that is looked at; none: `mark`.
    pub field: Option<String>,
    /// In `decide`: only for windows to which so many rows were added; none: all.
    pub count: Option<u32>,
}

/// A function of a hook, by its name in the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    Open,
    Process,
    Accumulate,
    Merge,
    Finish,
    Assign,
    Decide,
    Emit,
    OnTimer,
}

/// A value to look for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Mark {
    /// In an int field.
    Int(i64),
    /// In a text field.
    Text(String),
}

/// A deed. The first group can be done anywhere; the second bends a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evil {
    /// Loops for ever.
    Loop,
    /// Allocates and touches memory until there is no more, then goes on trying for ever.
    Memory,
    /// Allocates and touches memory until there is no more, then traps.
    MemoryTrap,
    /// Fills the same 8 MiB over and over: few instructions, much work.
    Fill,
    /// Calls itself without end.
    Recurse,
    /// Executes `unreachable`.
    Trap,
    /// Panics with the message `evil panic`.
    Panic,
    /// Returns a fault with the message `evil fault`.
    Fault,
    /// Writes a million log lines with control characters and escapes in them, then answers honestly.
    LogFlood,
    /// Writes one log line of 16 MiB, then answers honestly.
    LogHuge,
    /// Counts to three million, then answers honestly: some 10 million fuel, whatever the tenant's limit is.
    Spend,

    /// Rejects the marked rows (all, without `on`), as a hook may: code `evil-row`.
    Reject,
    /// Rejects a row that is not in the batch.
    RejectRange,
    /// Rejects the first row twice.
    RejectTwice,
    /// Rejects rows in descending order (needs two rows).
    RejectOrder,
    /// Rejects the first row and gives a row for it all the same.
    RejectAndEmit,
    /// A million rejections.
    RejectMany,
    /// Offsets that fall.
    OffsetsFall,
    /// Offsets that do not start at 0.
    OffsetsStart,
    /// Offsets past the end of the data.
    OffsetsPast,
    /// One offset too few.
    OffsetsShort,
    /// No offsets at all.
    OffsetsNone,
    /// Data after the last offset.
    OffsetsRest,
    /// One row too many in a column.
    RowsMore,
    /// One row too few in a column.
    RowsFewer,
    /// A column missing.
    ColumnsFewer,
    /// A column too many.
    ColumnsMore,
    /// A column of another kind than the plan says.
    Kind,
    /// One presence byte too few.
    PresenceShort,
    /// One presence byte too many.
    PresenceLong,
    /// A null in a column that is not nullable.
    PresenceNull,
    /// A bool that is neither 0 nor 1.
    Bool,
    /// A text that is not UTF-8.
    Utf8,
    /// UTF-8 as a whole, but cut inside a character between two rows (needs two rows).
    Utf8Cut,
    /// A source past the batch.
    SourcesRange,
    /// Sources in descending order (needs two rows).
    SourcesOrder,
    /// One source too few.
    SourcesShort,
    /// One time too few.
    TimesShort,
    /// Four million rows out of one.
    Huge,
    /// 4 KiB of text for each row.
    Wide,
    /// An answer that depends on what the instance saw before: `echo` (or the count) is the number of calls so far.
    Remember,

    /// In `open`: a plan that reads the same field twice.
    PlanTwice,
    /// In `open`: a plan with ten thousand output fields.
    PlanHuge,
    /// In `open`: an initial accumulator of two rows.
    PlanInitial,
    /// In `open`: a plan that keeps a field that it puts out too.
    PlanClash,

    /// A window that ends before it starts.
    WindowEmpty,
    /// Windows of a row out of order.
    WindowOrder,
    /// A million windows for a row.
    WindowMany,
    /// One decision too few.
    DecisionsShort,

    // With a processor's state.
    /// Reads the value of a key that the call does not have.
    StateKey,
    /// Reads a state that the plan does not declare.
    StateNumber,
    /// Appends to a value.
    StateShape,
    /// Puts a column of another kind.
    StateKind,
    /// Puts one row too few.
    StateRows,
    /// Puts a null into a field that is not nullable.
    StateNull,
    /// Puts a row under a map key of another kind.
    StateMapKey,
    /// Puts offsets past the end of their data.
    StateOffsets,
    /// Appends 200 KiB again and again: gigabytes.
    StateFill,
    /// Appends 16 MiB at once.
    StateHuge,
    /// Removes a thousand map keys that are not there, again and again.
    StateRemove,
    /// Appends 200 KiB and reads them a thousand times in one call.
    StateRead,
    /// Answers with all marks of the first row's key, as a hook may.
    StateEcho,
    /// Reads nothing without end.
    StateFlood,
    /// Writes to every state and sets a timer, then traps.
    StateThenTrap,
    /// Sets a timer that the plan does not declare.
    TimerNumber,
    /// Sets two timers to one time.
    TimerShort,
    /// Sets a timer without end.
    TimerFlood,
    /// In `on-timer`: sets the timer again to the same time, so that it is due again at once.
    TimerAgain,
    /// In `on-timer`: rows without times for a processing timer.
    TimerTimeless,
    /// In `open`: a plan with the same state twice.
    PlanStates,
    /// In `open`: a state that is forgotten at once.
    PlanTtl,
}

impl Config {
    /// The field that is looked at, as the plan's only column.
    pub fn reads(&self) -> Reads {
        let name = self.field.clone().unwrap_or_else(|| "mark".to_owned());
        let kind = if matches!(self.on, Some(Mark::Int(_))) { Kind::Int } else { Kind::Text };
        Reads { columns: vec![Field::nullable(name, kind)], times: true }
    }

    /// Whether the deed is to be done here, on these rows.
    pub fn is_due(&self, place: Place, default: bool, marks: Option<&Column>) -> bool {
        let here = self.place.map_or(default, |wanted| wanted == place);
        here && self.evil.is_some() && marks.is_none_or(|marks| self.marked(marks).next().is_some())
    }

    /// Whether the deed is to be done in a call of `decide` about windows of these keys and counts.
    pub fn is_due_deciding(&self, keys: Option<&Column>, counts: &[u32]) -> bool {
        let counted = |window: usize| self.count.is_none_or(|count| counts[window] == count);
        let due = self.place == Some(Place::Decide) && self.evil.is_some();
        due && match keys {
            Some(keys) => self.marked(keys).any(counted),
            None => (0..counts.len()).any(counted),
        }
    }

    /// The rows that have the mark; all rows where there is none to look for.
    pub fn marked<'c>(&'c self, marks: &'c Column) -> impl Iterator<Item = usize> + 'c {
        (0..marks.rows()).filter(|row| match (&self.on, marks.value(*row)) {
            (None, _) => true,
            (Some(Mark::Int(wanted)), Value::Int(value)) => *wanted == value,
            (Some(Mark::Text(wanted)), Value::Text(value)) => wanted == value,
            _ => false,
        })
    }
}
