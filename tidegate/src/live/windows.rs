//! The windows that changed last, as people read them.
//!
//! One row for each key and window, with its newest pane. Invariant: memory is bounded, however many keys and windows there
//! are: the rows that changed longest ago go first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tidegate_types::{EventTime, PaneBatch, PaneInfo, PaneOp, Timing};

use super::text::Cell;

/// Rows that are kept; more than any terminal shows.
const KEPT: usize = 256;

/// Which window of which key a row is. Ordered by end, then start, then key; a global window comes last.
type RowId = (EventTime, EventTime, Vec<String>);

/// A window of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) window: Option<(EventTime, EventTime)>,
    pub(super) key: Vec<Cell>,
    pub(super) timing: Timing,
    pub(super) index: u64,
    pub(super) values: Vec<Cell>,
    /// When it changed, by a count of changes.
    pub(super) changed: u64,
}

fn row_id(window: Option<(EventTime, EventTime)>, key: &[Cell]) -> RowId {
    let (start, end) = window.unwrap_or((EventTime::MIN, EventTime::MAX));
    (end, start, key.iter().map(|cell| cell.text.clone()).collect())
}

/// The windows that changed last.
#[derive(Debug, Default)]
pub(super) struct Windows {
    rows: BTreeMap<RowId, Row>,
    changes: u64,
}

impl Windows {
    /// Takes panes in.
    pub(super) fn note(&mut self, panes: &PaneBatch) {
        // Of a large batch only what can be kept is made readable.
        let first = panes.infos.len().saturating_sub(2 * KEPT);
        for (at, info) in panes.infos.iter().enumerate() {
            if at >= first || info.op == PaneOp::Retract {
                self.note_pane(panes, at, info);
            }
        }
        if self.rows.len() > 2 * KEPT {
            self.forget();
        }
    }

    fn note_pane(&mut self, panes: &PaneBatch, at: usize, info: &PaneInfo) {
        let key: Vec<Cell> = panes.keys.iter().map(|column| Cell::of(column.value(at))).collect();
        if info.op == PaneOp::Retract {
            self.rows.remove(&row_id(info.window, &key));
            return;
        }
        let values = panes.values.iter().map(|column| Cell::of(column.value(at))).collect();
        let PaneInfo { window, timing, index, .. } = *info;
        self.put(Row { window, key, timing, index, values, changed: 0 });
    }

    /// Takes one window's newest pane in.
    pub(super) fn note_row(&mut self, row: Row) {
        self.put(row);
        if self.rows.len() > 2 * KEPT {
            self.forget();
        }
    }

    fn put(&mut self, mut row: Row) {
        self.changes += 1;
        row.changed = self.changes;
        self.rows.insert(row_id(row.window, &row.key), row);
    }

    fn forget(&mut self) {
        let mut changed: Vec<u64> = self.rows.values().map(|row| row.changed).collect();
        changed.sort_unstable_by_key(|change| Reverse(*change));
        let oldest = changed[KEPT - 1];
        self.rows.retain(|_, row| row.changed >= oldest);
    }

    /// The rows that changed last, at most so many, the latest window first.
    pub(super) fn latest(&self, most: usize) -> Vec<&Row> {
        let mut rows: Vec<(&RowId, &Row)> = self.rows.iter().collect();
        rows.sort_unstable_by_key(|(_, row)| Reverse(row.changed));
        rows.truncate(most);
        rows.sort_unstable_by(|((end, start, key), _), ((other_end, other_start, other_key), _)| {
            (other_end, other_start, key).cmp(&(end, start, other_key))
        });
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

#[cfg(test)]
mod tests;
