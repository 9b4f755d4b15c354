//! Tasks: chains of operators as step machines. A lane steps them; they await nothing and read no clock.
//!
//! A step takes at most one element from the inputs, and only if there is credit for what may come of it.

use std::sync::Arc;

use tidegate_connectors::{SinkError, SourceBatch, SourceError};
use tidegate_types::{Batch, EventTime, PaneBatch, ProgressEntry, Value, Watermark};

use crate::OperatorError;
use crate::account::Account;
use crate::channel::{Received, Receiver, Sender};
use crate::exchange::Exchange;
use crate::report::{OperatorReport, OperatorStanding, SourceReport};
use crate::side::Side;
use crate::source::SourceChain;
use crate::window::{StateSize, WindowOperator, OperatorOutput, Work};

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It did something; step again.
    Worked,
    /// Nothing to do until a queue changes or the wall clock reaches `until`.
    Waiting {
        /// When something falls due by itself.
        until: Option<EventTime>,
    },
    /// There is nothing more to do, ever.
    Finished,
}

/// Why a task stopped.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The source cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// An operator cannot go on.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// A sink cannot take more.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

/// A step machine.
///
/// 1. `step` never blocks, and works on one element at most.
/// 2. `now` is the wall clock's reading, none under a virtual clock.
/// 3. After `Finished` or an error it MUST NOT be stepped again; dropping it ends its outputs.
pub trait Task: Send {
    /// One step.
    ///
    /// # Errors
    /// If the task cannot go on; the job has failed.
    fn step(&mut self, now: Option<EventTime>) -> Result<Progress, TaskError>;
}

/// What tasks send to the sinks.
#[derive(Debug, Default)]
pub struct Emission {
    /// Panes, in order.
    pub panes: Vec<PaneBatch>,
    /// Side records, in order.
    pub sides: Vec<Side>,
    /// What became of records since the last emission.
    pub account: Account,
    /// How far the source is; none from other tasks.
    pub source: Option<SourceStatus>,
    /// How far an operator's subtask is, if it has moved; none from other tasks.
    pub operator: Option<OperatorStatus>,
    /// What the task shows of itself; in its last emission.
    pub report: Option<TaskReport>,
}

/// What a task shows of itself.
#[derive(Debug)]
pub enum TaskReport {
    /// A source task.
    Source(SourceReport),
    /// A task of an operator.
    Operator(OperatorReport),
}

/// How far a source is.
#[derive(Debug, Clone)]
pub struct SourceStatus {
    /// Its watermark.
    pub watermark: Watermark,
    /// Its clock, or [`tidegate_types::NO_CLOCK`].
    pub clock: EventTime,
    /// The partition that holds the watermark back, and that partition's own.
    pub slowest: Option<(Value, Watermark)>,
    /// Bytes of records read since the last status.
    pub bytes: u64,
}

/// How far a subtask of an operator is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorStatus {
    /// The operator's id.
    pub operator: Arc<str>,
    /// Which of its subtasks, from 0.
    pub subtask: u32,
    /// Where it stands.
    pub standing: OperatorStanding,
}

/// Decodes, maps, keys and deals what a source reads.
pub struct SourceTask {
    pub(crate) input: Receiver<Result<SourceBatch, SourceError>>,
    pub(crate) chain: SourceChain,
    pub(crate) exchange: Exchange,
    pub(crate) outputs: Vec<Sender<Batch>>,
    pub(crate) emissions: Sender<Emission>,
    /// The wall clock when there was no credit; none while there is.
    stands_still_since: Option<EventTime>,
}

impl SourceTask {
    /// A source task between these channels.
    #[must_use]
    pub fn new(
        input: Receiver<Result<SourceBatch, SourceError>>,
        chain: SourceChain,
        exchange: Exchange,
        outputs: Vec<Sender<Batch>>,
        emissions: Sender<Emission>,
    ) -> Self {
        Self { input, chain, exchange, outputs, emissions, stands_still_since: None }
    }

    fn work(&mut self, batch: SourceBatch, now: Option<EventTime>) -> Result<(), TaskError> {
        let bytes = batch.data.len() as u64;
        let output = self.chain.process(batch, now)?;
        for (sender, batch) in self.outputs.iter().zip(self.exchange.deal(output.batch)) {
            sender.send(batch);
        }
        let source = Some(self.chain.status(bytes));
        let (sides, account) = (output.sides, output.account);
        self.emissions.send(Emission { sides, account, source, ..Emission::default() });
        Ok(())
    }

    /// What the source shows of itself.
    #[must_use]
    pub fn report(&self) -> SourceReport {
        self.chain.report()
    }
}

impl Task for SourceTask {
    fn step(&mut self, now: Option<EventTime>) -> Result<Progress, TaskError> {
        let credit = self.emissions.has_credit() && self.outputs.iter().all(Sender::has_credit);
        if !credit {
            self.stands_still_since = self.stands_still_since.or(now);
            return Ok(Progress::Waiting { until: None });
        }
        if let (Some(since), Some(now)) = (self.stands_still_since.take(), now) {
            self.chain.stood_still(since, now);
        }
        let next_idle = self.chain.watermarks().next_idle().filter(|_| now.is_some());
        match self.input.receive() {
            Received::Element(batch) => self.work(batch?, now)?,
            Received::Ended => {
                let report = Some(TaskReport::Source(self.report()));
                self.emissions.send(Emission { report, ..Emission::default() });
                return Ok(Progress::Finished);
            }
            Received::Empty if next_idle.is_some_and(|due| now >= Some(due)) => {
                self.work(SourceBatch::default(), now)?;
            }
            Received::Empty => return Ok(Progress::Waiting { until: next_idle }),
        }
        Ok(Progress::Worked)
    }
}

/// One subtask of the window operator.
pub struct WindowTask {
    input: Receiver<Batch>,
    operator: WindowOperator,
    emissions: Sender<Emission>,
    subtask: u32,
    now: OperatorStanding,
    /// What `now` was when it was last emitted.
    told: OperatorStanding,
    before_end: Option<OperatorStanding>,
    peak: StateSize,
    /// The batch whose output was full before it was done, and the wall clock when it came.
    paused: Option<(Batch, Option<EventTime>)>,
}

impl WindowTask {
    /// A window task between these channels; `subtask`: which of the operator's.
    #[must_use]
    pub fn new(input: Receiver<Batch>, operator: WindowOperator, emissions: Sender<Emission>, subtask: u32) -> Self {
        let (now, peak) = (OperatorStanding::START, StateSize::default());
        Self { input, operator, emissions, subtask, now, told: now, before_end: None, peak, paused: None }
    }

    /// What the operator shows of itself.
    #[must_use]
    pub fn report(&self) -> OperatorReport {
        OperatorReport {
            operator: Arc::clone(self.operator.id()),
            subtask: self.subtask,
            now: self.now,
            before_end: self.before_end,
            state: self.operator.state(),
            peak: self.peak,
        }
    }

    /// Keeps a batch that is not done; notes one that is.
    fn worked(&mut self, work: Work, batch: Batch, came: Option<EventTime>) {
        match work {
            Work::Done => self.note(&batch, came),
            Work::Paused => self.paused = Some((batch, came)),
        }
    }

    /// How far the subtask is, if it has moved since it was last asked.
    fn status(&mut self) -> Option<OperatorStatus> {
        if self.now == self.told {
            return None;
        }
        self.told = self.now;
        Some(OperatorStatus { operator: Arc::clone(self.operator.id()), subtask: self.subtask, standing: self.now })
    }

    /// Notes, for the report, how far the operator came with this batch, and what it keeps. `now`: the wall clock.
    fn note(&mut self, batch: &Batch, now: Option<EventTime>) {
        let entries = &batch.progress.entries;
        let at =
            |entry: &ProgressEntry| OperatorStanding { watermark: entry.watermark, clock: now.unwrap_or(entry.clock) };
        let before = self.now;
        if let Some(last) = entries.last() {
            self.now = at(last);
        }
        if self.now.watermark == Watermark::MAX && self.before_end.is_none() {
            let last = entries.iter().rev().find(|entry| entry.watermark < Watermark::MAX);
            self.before_end = Some(last.map_or(before, at));
        }
        self.peak.raise(self.operator.state());
    }

    fn emit(&mut self, output: OperatorOutput) {
        let OperatorOutput { panes, sides, account, .. } = output;
        let operator = self.status();
        if operator.is_some() || !panes.is_empty() || !sides.is_empty() || account != Account::default() {
            self.emissions.send(Emission { panes, sides, account, operator, ..Emission::default() });
        }
    }
}

impl Task for WindowTask {
    fn step(&mut self, now: Option<EventTime>) -> Result<Progress, TaskError> {
        if !self.emissions.has_credit() {
            return Ok(Progress::Waiting { until: None });
        }
        let mut output = OperatorOutput::default();
        if let Some((batch, came)) = self.paused.take() {
            let work = self.operator.resume(&mut output)?;
            self.worked(work, batch, came);
            self.emit(output);
            return Ok(Progress::Worked);
        }
        let next = self.operator.next_instant();
        match self.input.receive() {
            Received::Element(batch) => {
                let work = self.operator.process(&batch, now, &mut output)?;
                self.worked(work, batch, now);
            }
            Received::Ended => {
                let report = Some(TaskReport::Operator(self.report()));
                self.emissions.send(Emission { report, ..Emission::default() });
                return Ok(Progress::Finished);
            }
            Received::Empty => match (now, next) {
                (Some(now), Some(next)) if now >= next => self.operator.advance_clock(now, &mut output)?,
                (Some(_), next) => return Ok(Progress::Waiting { until: next }),
                (None, _) => return Ok(Progress::Waiting { until: None }),
            },
        }
        self.emit(output);
        Ok(Progress::Worked)
    }
}

#[cfg(test)]
mod tests;
