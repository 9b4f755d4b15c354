//! What a join does: which rows meet, and what a pair becomes.

use tidegate_types::Millis;

use super::{Hook, WindowKind};

/// Joins two inputs by key.
#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    /// Which rows of a key meet.
    pub kind: JoinKind,
    /// What becomes of rows without a partner; always `Inner` for window joins.
    pub matching: Matching,
    /// The fields that make the left input's key.
    pub left_key: Vec<String>,
    /// The fields that make the right input's key; as many as the left's.
    pub right_key: Vec<String>,
    /// How long after a row's time (interval) or a window's end (window) late rows are taken.
    pub allowed_lateness: Millis,
    /// What a pair becomes.
    pub output: JoinOutput,
    /// The log for records that came too late.
    pub late_side_output: Option<String>,
}

/// Which rows of a key meet.
#[derive(Debug, Clone, PartialEq)]
pub enum JoinKind {
    /// Rows with `right.time` in `[left.time + lower, left.time + upper]`, ms, both inclusive; `lower <= upper`.
    Interval {
        /// The least distance, possibly negative.
        lower: i64,
        /// The greatest distance, possibly negative.
        upper: i64,
    },
    /// Rows in the same window: tumbling or sliding.
    Window(WindowKind),
}

/// What becomes of rows without a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// Nothing.
    Inner,
    /// Left ones come out with no right side.
    Left,
    /// Right ones come out with no left side.
    Right,
    /// Both do.
    Full,
}

/// A join's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JoinSide {
    /// The first.
    Left,
    /// The second.
    Right,
}

/// What a pair becomes.
#[derive(Debug, Clone, PartialEq)]
pub enum JoinOutput {
    /// Fields of the two rows, by their new names, in the order of the file; never empty.
    Select(Vec<Selected>),
    /// Rows that a map hook makes of pairs, whose fields are called `left.<name>` and `right.<name>`.
    Hook(Hook),
}

/// One field of a projection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// The output field.
    pub name: String,
    /// The row that it is taken from.
    pub side: JoinSide,
    /// The field of that row.
    pub field: String,
}
