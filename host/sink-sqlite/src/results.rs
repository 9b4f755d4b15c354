//! Results on their way into a table: panes or rows, seen alike.

use tidegate_types::{Column, EventTime, NO_CLOCK, PaneBatch, PaneInfo, PaneOp, RowBatch, ValueRef, Watermark};

/// A batch of one operator's results.
#[derive(Debug, Clone)]
pub(crate) enum Results {
    Panes(PaneBatch),
    Rows(RowBatch),
}

impl Results {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Panes(panes) => panes.infos.len(),
            Self::Rows(rows) => rows.times.len(),
        }
    }

    /// The columns of the key's fields, or of all fields of rows.
    pub(crate) fn keys(&self) -> &[Column] {
        match self {
            Self::Panes(panes) => &panes.keys,
            Self::Rows(rows) => &rows.columns,
        }
    }

    /// The columns of the other fields.
    pub(crate) fn values(&self) -> &[Column] {
        match self {
            Self::Panes(panes) => &panes.values,
            Self::Rows(_) => &[],
        }
    }

    /// The fields of a row, in the order of the layout.
    pub(crate) fn fields(&self, row: usize) -> impl Iterator<Item = ValueRef<'_>> + Clone {
        self.keys().iter().chain(self.values()).map(move |column| column.value(row))
    }

    /// Which firing a row is; none for rows without a window.
    pub(crate) fn info(&self, row: usize) -> Option<&PaneInfo> {
        match self {
            Self::Panes(panes) => Some(&panes.infos[row]),
            Self::Rows(_) => None,
        }
    }

    /// The window's bounds.
    pub(crate) fn window(&self, row: usize) -> Option<(EventTime, EventTime)> {
        self.info(row).and_then(|info| info.window)
    }

    /// The index that a version has.
    pub(crate) fn index(&self, row: usize) -> u64 {
        self.info(row).map_or(0, |info| info.index)
    }

    /// Value or retraction. Rows without a window are never taken back.
    pub(crate) fn op(&self, row: usize) -> PaneOp {
        self.info(row).map_or(PaneOp::Insert, |info| info.op)
    }

    /// The operator's watermark at the emission.
    pub(crate) fn watermark(&self, row: usize) -> Watermark {
        match self {
            Self::Panes(panes) => panes.infos[row].watermark,
            Self::Rows(rows) => rows.watermarks[row],
        }
    }

    /// The operator's clock at the emission, if it had one.
    pub(crate) fn generated_at(&self, row: usize) -> Option<EventTime> {
        let at = match self {
            Self::Panes(panes) => panes.infos[row].fired_at,
            Self::Rows(rows) => rows.emitted_at[row],
        };
        Some(at).filter(|at| *at != NO_CLOCK)
    }

    /// The bytes that they hold, counting each value's own.
    pub(crate) fn bytes(&self) -> usize {
        let value = |value: ValueRef<'_>| match value {
            ValueRef::Text(text) | ValueRef::Json(text) => text.len(),
            ValueRef::Bytes(bytes) => bytes.len(),
            ValueRef::Null | ValueRef::Bool(_) | ValueRef::Int(_) | ValueRef::Float(_) => 0,
        };
        let columns = self.keys().iter().chain(self.values());
        let values: usize =
            columns.map(|column| (0..column.len()).map(|row| value(column.value(row))).sum::<usize>()).sum();
        let fields = self.keys().len() + self.values().len();
        let each = size_of::<PaneInfo>() + size_of::<ValueRef<'_>>() * fields;
        values + self.len() * each
    }
}
