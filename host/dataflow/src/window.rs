//! The window operator: late? duplicate? assign, accumulate, fire (docs/semantics.md, 3 and 4).
//!
//! It works through a batch in *runs*. A run ends where something falls due, or where a second firing of one window needs
//! an intermediate accumulator. A run decides about its rows one by one, then calls the tenant's hooks once for all of
//! them, and publishes (accumulators, panes, side records, counts) only after its last hook call has succeeded. If a hook
//! condemns a record, what the run decided is undone and the run starts again without that record.
//!
//! Invariant: between two steps, nothing is due at the operator's watermark and clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_pipeline::{Accumulation, Early, Late, WindowKind};
use tidegate_state::Changes;
use tidegate_types::stored::{Read, Stored};
use tidegate_types::{Batch, Column, EventTime, Millis, NO_CLOCK, Progress, ProgressEntry, Watermark};

use crate::OperatorError;
use crate::aggregate::{Builtins, Prepared};
use crate::operator::{Operator, OperatorOutput, Work};
use crate::report::StateSize;
use crate::side::Condemned;
use crate::verdict::CONDEMNED_BEFORE_SINGLE;

mod admit;
mod advance;
mod commit;
mod config;
mod custom;
mod fire;
mod hooked;
mod identities;
mod keys;
mod refused;
mod run;
mod sliced;
mod stored;
mod table;
mod tracked;
mod unshown;

pub(crate) use config::WindowConfig;
use custom::Assigned;
pub(crate) use custom::CustomWindows;
pub(crate) use hooked::HookedAggregate;
use hooked::HookedBatch;
use identities::Identities;
use keys::KeyTable;
use refused::Refused;
use run::{Cursor, Event, Run, RunStart};
use sliced::Sliced;
use table::{SlotRef, WindowTable};
use tracked::{Listed, Tracker};
use unshown::Unshown;

/// The window operator of one subtask.
pub(crate) struct WindowOperator {
    config: WindowConfig,
    keys: KeyTable,
    windows: WindowTable,
    /// In place of `windows` where sliding windows share panes.
    sliced: Option<Sliced>,
    identities: Option<Identities>,
    builtins: Builtins,
    hooks: Vec<HookedAggregate>,
    custom: Option<CustomWindows>,
    unshown: Unshown,
    /// Rows that were refused and may be taken back.
    refused: Refused,
    /// Windows with records that only an instant of processing time shows.
    awaiting: Vec<SlotRef>,
    watermark: Watermark,
    clock: EventTime,
    /// The position of the event that is at work; 0 for a move of the wall clock.
    position: u32,
    tracker: Tracker,
    /// Windows (slots) that changed.
    changed: Listed<u32>,
    run: Run,
    /// The batch that is at work, and where it goes on once the output was taken.
    paused: Option<(Box<Prep>, Cursor)>,
}

/// A batch, with what was looked up once for all its rows.
struct Prep {
    batch: Batch,
    progress: Arc<Progress>,
    builtins: Prepared,
    hooks: Vec<HookedBatch>,
    identity: Option<Column>,
    /// The windows that the window hook put each row into.
    assigned: Option<Assigned>,
    /// Whether an integer sum could leave 64 bits; rows go one by one then.
    may_overflow: bool,
    /// Rows condemned so far, with their reasons.
    condemned: BTreeMap<usize, Condemned>,
}

/// The next thing in a batch.
enum Step {
    /// The watermark or the clock moves.
    Entry(ProgressEntry),
    /// A row.
    Row(usize),
    /// Everything is done but what the run holds.
    End,
}

/// Whether a run's work stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flushed {
    Committed,
    /// Records were condemned: start the run again.
    Restart,
}

impl WindowOperator {
    /// An operator without state.
    pub(crate) fn new(config: WindowConfig, hooks: Vec<HookedAggregate>, custom: Option<CustomWindows>) -> Self {
        let sessions = matches!(config.kind, WindowKind::Session { .. });
        let sliced = match config.kind {
            WindowKind::Sliding { size, slide, offset } if config.shares_panes => {
                Some(Sliced::new(size, slide, offset, config.lateness, config.late))
            }
            _ => None,
        };
        let builtins = if config.undoes { Builtins::undoing } else { Builtins::new };
        Self {
            sliced,
            windows: WindowTable::new(config.lateness, sessions),
            keys: KeyTable::default(),
            identities: config.dedup.as_ref().map(|dedup| Identities::new(dedup.horizon)),
            builtins: builtins(&config.aggregates, &config.schema),
            hooks,
            custom,
            unshown: Unshown::default(),
            refused: Refused::default(),
            awaiting: Vec::new(),
            watermark: Watermark::MIN,
            clock: NO_CLOCK,
            position: 0,
            tracker: Tracker::new(config.max_parallelism),
            changed: Listed::default(),
            run: Run::default(),
            paused: None,
            config,
        }
    }

    /// What is at work.
    fn event(&self) -> Event {
        Event { position: self.position, watermark: self.watermark, clock: self.clock }
    }

    fn work(&mut self, mut prep: Prep, mut cursor: Cursor, out: &mut OperatorOutput) -> Result<Work, OperatorError> {
        loop {
            // Output comes of a published run or an advance only, so that nothing is pending in the run here.
            if out.is_full() {
                self.paused = Some((Box::new(prep), cursor));
                return Ok(Work::Paused);
            }
            if self.is_firing() {
                self.go_on_firing(out);
                continue;
            }
            match next_step(&prep, cursor) {
                Step::End => {
                    let next = self.publish(&mut prep, cursor, out)?;
                    if next == cursor {
                        break;
                    }
                    cursor = next;
                }
                Step::Entry(entry) if self.is_due(entry.watermark, entry.clock) => {
                    let next = self.publish(&mut prep, cursor, out)?;
                    if next == cursor {
                        self.position = entry.position;
                        self.advance(entry.watermark, entry.clock, out)?;
                        cursor.entry += 1;
                        self.begin_run(cursor);
                    } else {
                        cursor = next;
                    }
                }
                // A hook that decides is told the watermark at each row: one watermark, one run.
                Step::Entry(entry) if entry.watermark > self.watermark && self.asks_hook() => {
                    cursor = self.publish(&mut prep, cursor, out)?;
                }
                Step::Entry(entry) => {
                    self.watermark = self.watermark.max(entry.watermark);
                    self.clock = self.clock.max(entry.clock);
                    cursor.entry += 1;
                }
                Step::Row(row) => {
                    self.position = prep.batch.positions[row];
                    let admitted = self.row(&prep, row);
                    cursor.row += usize::from(admitted);
                    if !admitted || self.run.is_full(self.row_limit(&prep)) {
                        cursor = self.publish(&mut prep, cursor, out)?;
                    }
                }
            }
        }
        if let Some(identities) = &mut self.identities {
            identities.expire(&mut self.keys, &mut self.tracker, self.watermark);
        }
        self.refused.expire(&mut self.tracker, self.watermark);
        Ok(Work::Done)
    }

    /// Publishes the run and starts the next one at `cursor`, or, if a record was condemned, where this one started.
    /// Returns where to go on.
    fn publish(&mut self, prep: &mut Prep, cursor: Cursor, out: &mut OperatorOutput) -> Result<Cursor, OperatorError> {
        let next = match self.flush(prep, out)? {
            Flushed::Committed => cursor,
            Flushed::Restart => self.run.start.cursor,
        };
        self.begin_run(next);
        Ok(next)
    }

    fn prepare(&mut self, batch: Batch, progress: Arc<Progress>) -> Result<Prep, OperatorError> {
        debug_assert!(batch.retractions.is_none() || self.can_undo(), "the pipeline's check refuses such chains");
        let builtins = self.builtins.prepare(&batch);
        let identity = self
            .config
            .dedup
            .as_ref()
            .map(|dedup| batch.column(&dedup.field).cloned().unwrap_or(Column::Null(batch.len())));
        let (assigned, condemned) = match &mut self.custom {
            Some(custom) => {
                let (assigned, condemned) = custom.assign(&batch)?;
                (Some(assigned), condemned.into_iter().collect())
            }
            None => (None, BTreeMap::new()),
        };
        Ok(Prep {
            may_overflow: self.builtins.may_overflow(&builtins),
            builtins,
            hooks: self.hooks.iter().map(|hook| hook.prepare(&batch)).collect(),
            identity,
            assigned,
            condemned,
            progress,
            batch,
        })
    }

    /// The most rows of a run: what the hooks' fuel budgets bear.
    fn row_limit(&self, prep: &Prep) -> usize {
        if prep.condemned.len() >= CONDEMNED_BEFORE_SINGLE {
            return 1;
        }
        self.hooks.iter().map(HookedAggregate::row_limit).min().unwrap_or(usize::MAX)
    }

    fn begin_run(&mut self, cursor: Cursor) {
        let start = RunStart { cursor, watermark: self.watermark, clock: self.clock };
        let can_condemn = self.can_condemn();
        self.run.begin(start, can_condemn);
    }

    /// Whether the run has rows about which the window hook is to decide.
    fn asks_hook(&self) -> bool {
        self.run.has_rows() && self.hook_decides()
    }

    /// Whether a hook can condemn a record after the run has decided about it.
    fn can_condemn(&self) -> bool {
        !self.hooks.is_empty() || self.hook_decides()
    }

    /// Whether rows can be taken back here: no hook, no session and no identity knows how.
    fn can_undo(&self) -> bool {
        let grid = !matches!(self.config.kind, WindowKind::Session { .. } | WindowKind::Custom { .. });
        self.config.undoes && grid && self.hooks.is_empty() && self.identities.is_none()
    }

    fn lateness(&self) -> Millis {
        self.config.lateness
    }

    fn early(&self) -> Early {
        self.config.early
    }

    fn late(&self) -> Late {
        self.config.late
    }

    fn accumulation(&self) -> Accumulation {
        self.config.accumulation
    }
}

impl Operator for WindowOperator {
    fn id(&self) -> &Arc<str> {
        &self.config.operator
    }

    fn process(
        &mut self,
        inputs: Vec<Batch>,
        progress: &Arc<Progress>,
        now: Option<EventTime>,
        out: &mut OperatorOutput,
    ) -> Result<Work, OperatorError> {
        debug_assert_eq!(inputs.len(), 1, "a window operator has one input");
        if let Some(now) = now {
            self.advance_clock(now, out)?;
        }
        let Some(batch) = inputs.into_iter().next() else { return Ok(Work::Done) };
        let prep = self.prepare(batch, Arc::clone(progress))?;
        self.begin_run(Cursor::default());
        self.work(prep, Cursor::default(), out)
    }

    fn resume(&mut self, out: &mut OperatorOutput) -> Result<Work, OperatorError> {
        match self.paused.take() {
            Some((prep, cursor)) => self.work(*prep, cursor, out),
            None => Ok(Work::Done),
        }
    }

    fn advance_clock(&mut self, now: EventTime, out: &mut OperatorOutput) -> Result<(), OperatorError> {
        self.position = 0;
        self.advance(self.watermark, now, out)
    }

    fn next_instant(&self) -> Option<EventTime> {
        if self.awaiting.is_empty() || self.clock == NO_CLOCK {
            return None;
        }
        self.periods().into_iter().flatten().map(|every| tidegate_windows::next_instant(self.clock, every)).min()
    }

    fn state(&self) -> StateSize {
        let hooks: u64 = self.hooks.iter().map(HookedAggregate::state_bytes).sum();
        let accumulator_bytes = self.builtins.state_bytes() + hooks;
        StateSize {
            keys: self.keys.len(),
            windows: self.windows.len() + self.sliced.as_ref().map_or(0, Sliced::len),
            identities: self.identities.as_ref().map_or(0, Identities::len),
            accumulator_bytes,
            bytes: accumulator_bytes
                + self.keys.bytes()
                + self.windows.bytes()
                + self.identities.as_ref().map_or(0, Identities::bytes)
                + self.sliced.as_ref().map_or(0, Sliced::bytes),
            ..StateSize::default()
        }
    }

    fn keep_changes(&mut self) {
        self.tracker.start();
    }

    fn freeze(&mut self) {
        self.freeze_all();
    }

    fn write(&mut self, entries: usize, changes: &mut Changes) -> bool {
        self.write_frozen(entries, changes)
    }

    fn head(&self, out: &mut Vec<u8>) {
        self.put_head(out);
    }

    fn restore_head(&mut self, head: &mut Stored<'_>) -> Read<()> {
        self.read_head(head)
    }

    fn restore(&mut self, key: &[u8], value: &[u8]) -> Read<()> {
        self.read_entry(key, value)
    }

    fn restored(&mut self) -> Read<()> {
        self.end_restoring()
    }
}

/// The next row or change: the rows of an event come before the change that it brings.
fn next_step(prep: &Prep, cursor: Cursor) -> Step {
    let entry = prep.progress.entries.get(cursor.entry);
    match (prep.batch.positions.get(cursor.row), entry) {
        (Some(position), Some(entry)) if *position <= entry.position => Step::Row(cursor.row),
        (_, Some(entry)) => Step::Entry(*entry),
        (Some(_), None) => Step::Row(cursor.row),
        (None, None) => Step::End,
    }
}

/// A row's encoded key and its hash.
fn key_of(batch: &Batch, row: usize) -> (u64, &[u8]) {
    let keys = batch.keys.as_ref().expect("the source chain keys every batch");
    (keys.hashes[row], keys.encoded.value(row))
}

#[cfg(test)]
mod tests;
