//! A run: what was decided about a stretch of rows and is not published yet, with the way back.

use std::collections::VecDeque;

use tidegate_types::{EventTime, NO_CLOCK, Timing, Watermark};

use super::identities::Accepted;
use super::sliced::SlicedTarget;
use super::table::Slot;
use crate::account::Account;
use crate::side::Side;

/// A run has about so many pairs of row and window at most: bounds what it gathers, however many windows a row has.
const PAIRS_AT_ONCE: usize = 1 << 16;

/// A place in a batch: the next progress entry and the next row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cursor {
    pub(crate) entry: usize,
    pub(crate) row: usize,
}

/// Where a run starts again if a hook condemns one of its records.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunStart {
    pub(crate) cursor: Cursor,
    pub(crate) watermark: Watermark,
    pub(crate) clock: EventTime,
}

/// What makes a window fire, and where the operator stands then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    /// Its position in the round.
    pub(crate) position: u32,
    /// The watermark that panes show.
    pub(crate) watermark: Watermark,
    pub(crate) clock: EventTime,
}

/// A firing that is to come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fire {
    pub(crate) slot: u32,
    pub(crate) timing: Timing,
    pub(crate) event: Event,
}

/// Sessions that a record joined: the first in order of start becomes the merged window.
#[derive(Debug)]
pub(crate) struct Merge {
    pub(crate) target: u32,
    /// The other parts, in order of start.
    pub(crate) others: Vec<u32>,
}

/// A row that fires windows that have ended, where windows share panes.
#[derive(Debug)]
pub(crate) struct LateRow {
    pub(crate) key: u32,
    pub(crate) row: u32,
    pub(crate) target: SlicedTarget,
}

/// One thing to take back.
#[derive(Debug)]
pub(crate) enum Undo {
    Opened(u32),
    Changed(u32, Box<Slot>),
    Sessions(u32, VecDeque<u32>),
    Accepted(Accepted),
}

#[derive(Debug)]
pub(crate) struct Run {
    /// Tells runs apart on the slots that they touch.
    pub(crate) number: u64,
    pub(crate) start: RunStart,
    /// Row `rows[i]` of the batch goes to slot `slots[i]`; in order of arrival.
    pub(crate) rows: Vec<u32>,
    pub(crate) slots: Vec<u32>,
    /// The clock at each of these, where a hook decides what fires.
    pub(crate) clocks: Vec<EventTime>,
    pub(crate) fires: Vec<Fire>,
    pub(crate) merge: Option<Merge>,
    pub(crate) late: Option<LateRow>,
    pub(crate) sides: Vec<Side>,
    pub(crate) account: Account,
    /// Newest last; kept only where a hook can condemn.
    journal: Option<Vec<Undo>>,
}

impl Default for Run {
    fn default() -> Self {
        let start = RunStart { cursor: Cursor::default(), watermark: Watermark::MIN, clock: NO_CLOCK };
        Self {
            number: 0,
            start,
            rows: Vec::new(),
            slots: Vec::new(),
            clocks: Vec::new(),
            fires: Vec::new(),
            merge: None,
            late: None,
            sides: Vec::new(),
            account: Account::default(),
            journal: None,
        }
    }
}

impl Run {
    /// Starts a new, empty run.
    pub(crate) fn begin(&mut self, start: RunStart, can_be_condemned: bool) {
        self.number += 1;
        self.start = start;
        self.rows.clear();
        self.slots.clear();
        self.clocks.clear();
        self.fires.clear();
        self.merge = None;
        self.late = None;
        self.sides.clear();
        self.account = Account::default();
        self.journal = can_be_condemned.then(Vec::new);
    }

    /// Whether no row was accepted yet.
    pub(crate) fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Whether the run must end here: it has as many rows as hooks bear, a merge, or a firing by a late row.
    pub(crate) fn is_full(&self, limit: usize) -> bool {
        self.merge.is_some() || self.late.is_some() || self.rows.len() >= limit.min(PAIRS_AT_ONCE)
    }

    /// Whether changes have to be noted.
    pub(crate) fn keeps_journal(&self) -> bool {
        self.journal.is_some()
    }

    /// Notes a change.
    pub(crate) fn note(&mut self, undo: Undo) {
        if let Some(journal) = &mut self.journal {
            journal.push(undo);
        }
    }

    /// The changes, newest first.
    pub(crate) fn take_back(&mut self) -> impl Iterator<Item = Undo> {
        self.journal.take().unwrap_or_default().into_iter().rev()
    }
}
