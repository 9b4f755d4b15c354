//! What a window operator does: its key, windows, triggers and aggregates.

use tidegate_types::{Millis, Value};

use super::Hook;

/// Aggregates rows by key and window.
#[derive(Debug, Clone, PartialEq)]
pub struct Windowed {
    /// The fields that make the key, in order; empty: every record has the same key.
    pub key_by: Vec<String>,
    /// How repeated records are recognised.
    pub dedup: Option<Dedup>,
    /// Which windows a record belongs to, and for how long they are kept.
    pub window: Window,
    /// When panes are emitted besides the one on time.
    pub trigger: Trigger,
    /// What a pane holds when a window fires more than once.
    pub accumulation: Accumulation,
    /// What is computed per key and window, in the order of the file; never empty.
    pub aggregates: Vec<Aggregate>,
    /// The log for records that came too late.
    pub late_side_output: Option<String>,
}

/// How repeated records are recognised within one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dedup {
    /// The field that identifies a record.
    pub field: String,
    /// How long in event time an identity is remembered. Above zero, and at least the allowed lateness.
    pub horizon: Millis,
}

/// Which windows a record belongs to, and for how long they are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// The windows' shape.
    pub kind: WindowKind,
    /// How long after its end a window still takes records; zero for global windows.
    pub allowed_lateness: Millis,
}

/// The shape of windows.
#[derive(Debug, Clone, PartialEq)]
pub enum WindowKind {
    /// Windows of one size, side by side.
    Tumbling {
        /// The length, above zero.
        size: Millis,
        /// How far the grid is moved from the epoch, zero or more.
        offset: Millis,
    },
    /// Windows of one size that start every `slide`.
    Sliding {
        /// The length, above zero.
        size: Millis,
        /// The distance between starts, above zero and at most `size`.
        slide: Millis,
        /// How far the grid is moved from the epoch, zero or more.
        offset: Millis,
    },
    /// Windows that last while records of the key are less than `gap` apart.
    Session {
        /// The silence that ends a session, above zero.
        gap: Millis,
        /// The longest a session may last, at least `gap`; `None`: without bound.
        max_duration: Option<Millis>,
    },
    /// One window for all time.
    Global,
    /// What the tenant's window hook says.
    Custom {
        /// The hook.
        hook: Hook,
    },
}

/// When panes are emitted besides the one on time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trigger {
    /// While the watermark has not reached the window's end; never `None` for global windows.
    pub early: Early,
    /// From the window's end until its purge; `None` for global windows.
    pub late: Late,
}

/// When early panes are emitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Early {
    /// Never.
    None,
    /// At every multiple of this processing time, for windows with new records. Above zero.
    EveryProcessingTime(Millis),
    /// When this many records are unshown. Above zero.
    EveryElements(u64),
}

/// When late panes are emitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    /// At once for each accumulated record.
    EveryElement,
    /// At every multiple of this processing time, for windows with new records, and once at the purge. Above zero.
    EveryProcessingTime(Millis),
    /// Never: late records are accumulated and not shown.
    None,
}

/// What a pane holds when its window fires more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accumulation {
    /// The records since the last pane.
    Discarding,
    /// All records of the window so far.
    Accumulating,
    /// All records of the window so far, after a retraction of the pane before.
    AccumulatingAndRetracting,
}

/// One entry of `aggregate`.
#[derive(Debug, Clone, PartialEq)]
pub enum Aggregate {
    /// A built-in function.
    Builtin {
        /// The name of the output field.
        name: String,
        /// What is computed.
        function: Function,
        /// The input field; `None` only for a `count` of rows.
        field: Option<String>,
        /// Which records are looked at; `None`: all.
        condition: Option<Condition>,
    },
    /// A tenant's aggregate hook; its output fields stand beside the others.
    Hook {
        /// The entry's name, which is no output field.
        name: String,
        /// The hook.
        hook: Hook,
    },
}

impl Aggregate {
    /// The entry's name in the file.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Builtin { name, .. } | Self::Hook { name, .. } => name,
        }
    }
}

/// The built-in functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// How many values are present, or how many rows there are.
    Count,
    /// The sum of numbers.
    Sum,
    /// The smallest number or text.
    Min,
    /// The largest number or text.
    Max,
    /// The mean of numbers, a float.
    Avg,
    /// The value of the earliest record.
    First,
    /// The value of the latest record.
    Last,
    /// How many different values there are, exactly.
    CountDistinct,
    /// How many different values there are, with 1.6% standard error.
    ApproxCountDistinct,
    /// The most frequent values.
    TopK {
        /// How many of them, above zero.
        k: u32,
    },
}

/// `where`: the records whose `field` has exactly this type and value.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The field that is looked at.
    pub field: String,
    /// What it must equal; never null. Objects and arrays are `Value::Json` canonical text.
    pub equals: Value,
}
