//! The process operator: a tenant's keyed function with state and timers that the host keeps (docs/semantics.md, processors).
//!
//! It works through a round in *runs*: stretches of rows that one call of the hook can have together. A run ends where a
//! timer or an expiry falls due for one of its keys. What a call wrote is published only if the call succeeded, refused no
//! row, and set no timer that was due between two of its rows; otherwise it is taken back whole, and the rows are called
//! again without the condemned ones, or in shorter runs. So every result is that of one call for each row.
//!
//! Keys never meet: what falls due is worked off key by key (`firing`), many keys to a call. Invariant: between two steps
//! nothing is due at the operator's watermark and clock but what `firing` has in hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_state::Changes;
use tidegate_types::hooks::ProcessHook;
use tidegate_types::stored::{Malformed, Read, Stored, put_i64};
use tidegate_types::{Batch, EventTime, NO_CLOCK, Progress, ProgressEntry, Watermark};

use crate::OperatorError;
use crate::map::TYPE_MISMATCH;
use crate::operator::{Operator, OperatorOutput, Work};
use crate::pacer::Pacer;
use crate::reads::ReadColumns;
use crate::report::StateSize;
use crate::side::Condemned;
use crate::verdict::CONDEMNED_BEFORE_SINGLE;

mod access;
mod cell;
mod cuts;
mod expiry;
mod fire;
mod firing;
mod flush;
mod keys;
mod output;
mod rows;
mod run;
mod store;
mod stored;
mod timers;
mod tracking;

use access::Lent;
use cuts::Cuts;
use firing::Firing;
use run::{Cursor, Run};
use store::{Reach, Store};

/// So many keys of a run may stand among the expiries behind the watermark, for want of being settled, before the run ends.
const PASSED_OVER: usize = 64;

/// Of what is stored besides entries.
const HEAD_VERSION: u8 = 1;

/// What a pipeline says about its process operator.
#[derive(Debug, Clone)]
pub(crate) struct ProcessConfig {
    /// The operator's id.
    pub(crate) operator: Arc<str>,
    pub(crate) key_by: Vec<String>,
    /// The most rows, or due timers, of one call.
    pub(crate) batch_rows: usize,
    /// Whether other operators read its rows, and so need their order.
    pub(crate) feeds: bool,
    /// The number of key groups.
    pub(crate) max_parallelism: u32,
}

/// The process operator of one subtask.
pub(crate) struct ProcessOperator {
    config: ProcessConfig,
    hook: Box<dyn ProcessHook>,
    store: Store,
    lent: Lent,
    /// Sizes the calls of `process`, and those of `on_timer`.
    pacer: Pacer,
    timer_pacer: Pacer,
    cuts: Cuts,
    run: Run,
    /// Tells runs and advances apart on the keys that take part.
    marks: u64,
    watermark: Watermark,
    clock: EventTime,
    /// What has fallen due and is not worked off yet.
    firing: Option<Firing>,
    /// The round that is at work while its output is taken.
    paused: Option<Box<Round>>,
}

/// A round's rows, with what was looked up once for all of them.
struct Round {
    batch: Batch,
    reads: ReadColumns,
    progress: Arc<Progress>,
    cursor: Cursor,
    /// Rows condemned so far, with their reasons.
    condemned: BTreeMap<usize, Condemned>,
    /// How many of them calls failed on.
    failures: usize,
    /// The wall clock's reading, until it was taken note of.
    now: Option<EventTime>,
}

/// The next thing in a round.
enum Step {
    /// The watermark or the clock moves.
    Entry(ProgressEntry),
    /// A row.
    Row(usize),
    /// Everything is done but what the run holds.
    End,
}

impl ProcessOperator {
    /// An operator without state.
    pub(crate) fn new(config: ProcessConfig, hook: Box<dyn ProcessHook>) -> Self {
        let mut store = Store::new(hook.plan());
        store.max_parallelism = config.max_parallelism;
        Self {
            store,
            lent: Lent::default(),
            pacer: Pacer::new(config.batch_rows),
            timer_pacer: Pacer::new(config.batch_rows),
            cuts: Cuts::new(config.batch_rows),
            run: Run::default(),
            marks: 0,
            watermark: Watermark::MIN,
            clock: NO_CLOCK,
            firing: None,
            paused: None,
            hook,
            config,
        }
    }

    fn reach(&self) -> Reach {
        Reach { watermark: self.watermark, clock: self.clock }
    }

    fn next_mark(&mut self) -> u64 {
        self.marks += 1;
        self.marks
    }

    fn prepare(&self, batch: Batch, progress: Arc<Progress>, now: Option<EventTime>) -> Round {
        debug_assert!(batch.retractions.is_none(), "no retraction feeds a processor");
        let reads = ReadColumns::of(&batch, &self.hook.plan().reads);
        let mismatches = (0..batch.len()).filter_map(|row| {
            let detail = reads.mismatch(tidegate_types::batch::index32(row))?;
            Some((row, Condemned::by_host(TYPE_MISMATCH, detail.to_owned())))
        });
        let condemned = mismatches.collect();
        Round { batch, reads, progress, cursor: Cursor::default(), condemned, failures: 0, now }
    }

    fn work(&mut self, mut round: Round, out: &mut OperatorOutput) -> Result<Work, OperatorError> {
        loop {
            // Output comes of a published run or of what falls due only, so that nothing is pending in the run here.
            if out.is_full() && self.run.is_empty() {
                self.paused = Some(Box::new(round));
                return Ok(Work::Paused);
            }
            if self.firing.is_some() {
                self.fire_some(out)?;
                continue;
            }
            if let Some(now) = round.now.take() {
                self.advance(self.watermark, now, 0);
                self.begin_run(round.cursor);
                continue;
            }
            match round.next_step() {
                Step::End if self.run.is_empty() => return Ok(Work::Done),
                Step::End => self.flush(&mut round, out)?,
                Step::Entry(entry) => self.entry(entry, &mut round, out)?,
                Step::Row(row) => {
                    self.admit(&round, row);
                    round.cursor.row += 1;
                    if self.run.must_end || self.is_full(&round) {
                        self.flush(&mut round, out)?;
                    }
                }
            }
        }
    }

    /// The watermark or the clock is about to move.
    fn entry(
        &mut self,
        entry: ProgressEntry,
        round: &mut Round,
        out: &mut OperatorOutput,
    ) -> Result<(), OperatorError> {
        let reach = Reach { watermark: entry.watermark.max(self.watermark), clock: entry.clock.max(self.clock) };
        let has_due_timer = self.store.has_due_timer(reach);
        if self.run.has_rows() {
            let is_due = has_due_timer
                || self.run.expires_at.is_some_and(|at| reach.watermark.reached(at))
                || !self.store.expire_others(reach.watermark, self.run.mark, PASSED_OVER);
            if is_due {
                return self.flush(round, out);
            }
        } else if has_due_timer {
            self.flush(round, out)?;
            self.advance(reach.watermark, reach.clock, entry.position);
            round.cursor.entry += 1;
            self.begin_run(round.cursor);
            return Ok(());
        } else {
            self.store.expire_others(reach.watermark, self.run.mark, usize::MAX);
        }
        self.watermark = reach.watermark;
        self.clock = reach.clock;
        round.cursor.entry += 1;
        Ok(())
    }

    /// Whether the run must end behind the row that was admitted last.
    fn is_full(&self, round: &Round) -> bool {
        let limit = if round.failures >= CONDEMNED_BEFORE_SINGLE { 1 } else { self.pacer.rows() };
        self.run.len() >= limit.min(self.cuts.rows()) || self.cuts.is_end(round.cursor.row)
    }

    fn begin_run(&mut self, cursor: Cursor) {
        self.cuts.begin(cursor.row);
        let mark = self.next_mark();
        self.run.begin(mark, cursor, self.reach());
    }
}

impl Round {
    /// The next change or row: rows of an event come before its change.
    fn next_step(&self) -> Step {
        let entry = self.progress.entries.get(self.cursor.entry);
        match (self.batch.positions.get(self.cursor.row), entry) {
            (Some(position), Some(entry)) if entry.position < *position => Step::Entry(*entry),
            (Some(_), _) => Step::Row(self.cursor.row),
            (None, Some(entry)) => Step::Entry(*entry),
            (None, None) => Step::End,
        }
    }
}

impl Operator for ProcessOperator {
    fn id(&self) -> &Arc<str> {
        &self.config.operator
    }

    fn process(
        &mut self,
        mut inputs: Vec<Batch>,
        progress: &Arc<Progress>,
        now: Option<EventTime>,
        out: &mut OperatorOutput,
    ) -> Result<Work, OperatorError> {
        let batch = inputs.pop().expect("a processor has one input");
        let round = self.prepare(batch, Arc::clone(progress), now);
        self.cuts.forget_ends();
        self.begin_run(round.cursor);
        self.work(round, out)
    }

    fn resume(&mut self, out: &mut OperatorOutput) -> Result<Work, OperatorError> {
        match self.paused.take() {
            Some(round) => self.work(*round, out),
            None => Ok(Work::Done),
        }
    }

    /// What does not fit the output goes on at the next call; until then `next_instant` is the clock.
    fn advance_clock(&mut self, now: EventTime, out: &mut OperatorOutput) -> Result<(), OperatorError> {
        let mut now = Some(now);
        while !out.is_full() {
            if self.firing.is_some() {
                self.fire_some(out)?;
            } else if let Some(now) = now.take() {
                self.advance(self.watermark, now, 0);
            } else {
                break;
            }
        }
        Ok(())
    }

    fn next_instant(&self) -> Option<EventTime> {
        if self.clock == NO_CLOCK {
            return None;
        }
        if self.firing.is_some() {
            return Some(self.clock);
        }
        self.store.next_instant().map(|at| at.max(self.clock))
    }

    fn has_more(&self) -> bool {
        self.firing.is_some()
    }

    fn state(&self) -> StateSize {
        StateSize {
            keys: self.store.keys.len(),
            entries: self.store.weight.rows + self.store.timers(),
            bytes: self.store.bytes() as u64,
            ..StateSize::default()
        }
    }

    fn keep_changes(&mut self) {
        self.store.tracking.changed.keep();
    }

    /// What has fallen due MUST be worked off: the wall clock has nothing in hand.
    fn freeze(&mut self) {
        debug_assert!(self.paused.is_none() && self.firing.is_none(), "a barrier comes between two rounds");
        self.store.tracking.changed.freeze();
    }

    fn write(&mut self, entries: usize, changes: &mut Changes) -> bool {
        self.store.write(entries, changes)
    }

    fn head(&self, out: &mut Vec<u8>) {
        out.push(HEAD_VERSION);
        put_i64(out, self.watermark.as_millis());
        put_i64(out, self.clock);
    }

    fn restore_head(&mut self, head: &mut Stored<'_>) -> Read<()> {
        if head.byte()? != HEAD_VERSION {
            return Err(Malformed::new("the head of a processor of version 1"));
        }
        self.watermark = self.watermark.max(Watermark::at(head.i64()?));
        self.clock = self.clock.max(head.i64()?);
        Ok(())
    }

    fn restore(&mut self, key: &[u8], value: &[u8]) -> Read<()> {
        self.store.restore(key, value, self.config.key_by.len())
    }

    fn restored(&mut self) -> Read<()> {
        self.store.restored()
    }
}

#[cfg(test)]
mod tests;
