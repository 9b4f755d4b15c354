//! What a firing emits: panes in columns.

use crate::column::Column;
use crate::time::{EventTime, Watermark};

/// Which firing of a window a pane is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Timing {
    /// Before the watermark reached the window's end: speculative.
    Early,
    /// When the watermark first reached the window's end.
    OnTime,
    /// A correction after it.
    Late,
}

impl Timing {
    /// The name in output records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Early => "EARLY",
            Self::OnTime => "ON_TIME",
            Self::Late => "LATE",
        }
    }
}

/// Whether a record states a value or takes an earlier one back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaneOp {
    /// A value.
    Insert,
    /// The earlier record, field for field, is taken back.
    Retract,
}

/// What a pane's record says besides its key and its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaneInfo {
    /// The window's bounds, ms; none for a global window.
    pub window: Option<(EventTime, EventTime)>,
    /// Which firing it is.
    pub timing: Timing,
    /// 0, 1, 2 … for this key and window.
    pub index: u64,
    /// Whether no later pane can follow.
    pub is_last: bool,
    /// The operator's watermark at the firing.
    pub watermark: Watermark,
    /// Value or retraction.
    pub op: PaneOp,
    /// The clock at the firing, ms: the virtual one or the wall clock's; [`NO_CLOCK`](crate::NO_CLOCK) before it was heard of.
    pub fired_at: EventTime,
}

/// Panes, one row each, in the order in which they were emitted.
#[derive(Debug, Clone, Default)]
pub struct PaneBatch {
    /// The key's fields, in the order of `key_by`.
    pub keys: Vec<Column>,
    /// The aggregates' outputs, in the order of the operator's output fields.
    pub values: Vec<Column>,
    /// One per row.
    pub infos: Vec<PaneInfo>,
    /// Where the rows stand for the operators that read them; none where no operator does.
    pub order: Option<Emitted>,
}

/// Rows that are no panes (of joins, processors, maps), in the order in which they were emitted.
#[derive(Debug, Clone, Default)]
pub struct RowBatch {
    /// One column per output field.
    pub columns: Vec<Column>,
    /// Event times, ms, one per row.
    pub times: Vec<EventTime>,
    /// The operator's watermark when each row was emitted.
    pub watermarks: Vec<Watermark>,
    /// The clock when each row was emitted, as [`PaneInfo::fired_at`].
    pub emitted_at: Vec<EventTime>,
    /// Where the rows stand for the operators that read them; none where no operator does.
    pub order: Option<Emitted>,
}

/// By which events and for which keys rows were emitted: their order for the operators that read them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Emitted {
    /// The position of the event that emitted each row. Ascending.
    pub positions: Vec<u32>,
    /// The encoding of each row's key, as the emitting operator has it.
    pub keys: Vec<Box<[u8]>>,
}

/// The names of a pane batch's columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaneFields {
    /// The fields of `key_by`.
    pub keys: Vec<String>,
    /// The aggregates' output fields.
    pub values: Vec<String>,
}
