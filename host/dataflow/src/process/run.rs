//! A run: rows that one call of the hook gets together, and where to go back to if it cannot have them together.

use tidegate_types::{EventTime, NO_CLOCK, Watermark};

use super::keys::KeyId;
use super::store::Reach;
use super::{ProcessOperator, Round};
use crate::account::Account;
use crate::side::Side;

/// A place in a round: the next progress entry and the next row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cursor {
    pub(super) entry: usize,
    pub(super) row: usize,
}

/// A row of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunRow {
    /// Its place in the round's batch.
    pub(super) row: u32,
    /// The number of its key in the call.
    pub(super) group: u32,
    /// The watermark and the clock that it arrived at.
    pub(super) at: Reach,
}

#[derive(Debug)]
pub(super) struct Run {
    /// Tells the keys of the run by their mark.
    pub(super) mark: u64,
    pub(super) start: Cursor,
    pub(super) start_at: Reach,
    /// In order of arrival.
    pub(super) rows: Vec<RunRow>,
    /// The keys by their number in the call, and how many rows each has.
    pub(super) keys: Vec<KeyId>,
    pub(super) counts: Vec<u32>,
    /// When state that a row of the run leaves can expire at the earliest.
    pub(super) expires_at: Option<EventTime>,
    /// Whether such state can have expired already.
    pub(super) must_end: bool,
    /// Of condemned rows.
    pub(super) sides: Vec<Side>,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            mark: 0,
            start: Cursor::default(),
            start_at: Reach { watermark: Watermark::MIN, clock: NO_CLOCK },
            rows: Vec::new(),
            keys: Vec::new(),
            counts: Vec::new(),
            expires_at: None,
            must_end: false,
            sides: Vec::new(),
        }
    }
}

impl Run {
    /// Starts a new, empty run.
    pub(super) fn begin(&mut self, mark: u64, start: Cursor, start_at: Reach) {
        self.mark = mark;
        self.start = start;
        self.start_at = start_at;
        self.rows.clear();
        self.keys.clear();
        self.counts.clear();
        self.expires_at = None;
        self.must_end = false;
        self.sides.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are rows to call the hook for.
    pub(super) fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Whether there is nothing to publish.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.sides.is_empty()
    }

    /// How many rows from the front have different keys and arrived at one watermark and clock: whatever timers they set,
    /// one call can have these together.
    pub(super) fn apart(&self) -> usize {
        let mut seen = vec![false; self.keys.len()];
        let first = self.rows.first().map(|row| row.at);
        let is_apart = |row: &&RunRow| {
            Some(row.at) == first && !std::mem::replace(&mut seen[tidegate_types::batch::index(row.group)], true)
        };
        self.rows.iter().take_while(is_apart).count()
    }

    /// What became of the condemned rows.
    pub(super) fn account(&self) -> Account {
        Account { rejected: self.sides.len() as u64, ..Account::default() }
    }
}

impl ProcessOperator {
    /// Takes a row into the run, or its dead letter if it was condemned.
    pub(super) fn admit(&mut self, round: &Round, row: usize) {
        let batch = &round.batch;
        if let Some(condemned) = round.condemned.get(&row) {
            let side = condemned.clone().into_side(&batch.origin, batch.rows[row], &self.config.operator);
            self.run.sides.push(side);
            return;
        }
        let keys = batch.keys.as_ref().expect("every batch of a stateful operator is keyed");
        let key = self.store.find_or_add(keys.hashes[row], keys.encoded.value(row));
        if let Some(at) = self.store.expiry_after(key, batch.times[row]) {
            self.run.expires_at = Some(self.run.expires_at.map_or(at, |other| other.min(at)));
            self.run.must_end = self.watermark.reached(at);
        }
        let group = self.group(key);
        let row = RunRow { row: tidegate_types::batch::index32(row), group, at: self.reach() };
        self.run.rows.push(row);
    }

    /// The key's number in the run's call.
    fn group(&mut self, key: KeyId) -> u32 {
        let head = self.store.keys.head_mut(key);
        if head.mark != self.run.mark {
            head.mark = self.run.mark;
            head.group = tidegate_types::batch::index32(self.run.keys.len());
            self.run.keys.push(key);
            self.run.counts.push(0);
        }
        self.run.counts[tidegate_types::batch::index(head.group)] += 1;
        head.group
    }
}
