//! The sink task: writes panes and side records in the order in which each task emitted them, and keeps the account.

use std::sync::{Arc, Mutex, PoisonError};

use tidegate_connectors::{ResultSink, SideSink, SinkError};
use tidegate_dataflow::channel::{Received, Receiver};
use tidegate_dataflow::task::{Emission, OperatorStatus, Progress, Results, SourceStatus, Task, TaskError, TaskReport};
use tidegate_dataflow::{Account, OperatorReport, Side, SideKind, SourceReport};
use tidegate_formats::SideRecord;
use tidegate_types::{EventTime, NO_CLOCK, PaneBatch, RowBatch, Value, ValueRef, Watermark};

/// How long something is held back while more keeps coming, ms: long against a flush, short for whoever looks.
const LONGEST_HELD_MS: i64 = 250;

/// How far a run is.
#[derive(Debug, Clone)]
pub struct RunProgress {
    /// What became of the records so far.
    pub account: Account,
    /// The source's watermark.
    pub watermark: Watermark,
    /// The source's clock, or [`NO_CLOCK`].
    pub clock: EventTime,
    /// The partition that holds the watermark back, and that partition's own.
    pub slowest_partition: Option<(Value, Watermark)>,
    /// Bytes of records read.
    pub bytes_read: u64,
    /// How far each subtask of each operator is, in order; none of one that has not moved yet.
    pub operators: Vec<OperatorStatus>,
}

impl RunProgress {
    /// Nothing was heard yet.
    #[must_use]
    pub fn start() -> Self {
        Self {
            account: Account::default(),
            watermark: Watermark::MIN,
            clock: NO_CLOCK,
            slowest_partition: None,
            bytes_read: 0,
            operators: Vec::new(),
        }
    }

    /// A subtask has moved.
    fn note(&mut self, status: OperatorStatus) {
        let place = self
            .operators
            .binary_search_by(|known| (&known.operator, known.subtask).cmp(&(&status.operator, status.subtask)));
        match place {
            Ok(place) => self.operators[place] = status,
            Err(place) => self.operators.insert(place, status),
        }
    }
}

/// What a run that came to its end shows of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// What became of every record.
    pub account: Account,
    /// Each source's watermarks and the lateness of its records, in the order of the pipeline.
    pub sources: Vec<SourceReport>,
    /// Each subtask of each operator, in order.
    pub operators: Vec<OperatorReport>,
}

/// The parts of a report, as they come in.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    account: Account,
    sources: Vec<SourceReport>,
    operators: Vec<OperatorReport>,
}

/// Watches a run, for people.
pub trait Observer: Send {
    /// These panes were written to the sink at this place in the pipeline.
    fn panes(&mut self, sink: usize, panes: &PaneBatch);
    /// These rows were written to the sink at this place in the pipeline.
    fn rows(&mut self, sink: usize, rows: &RowBatch);
    /// The run is this far.
    fn progress(&mut self, progress: &RunProgress);
}

/// Where a run's records go. A side output that is none is counted only.
pub struct Outputs {
    /// Results, for each of the pipeline's sinks.
    pub results: Vec<Box<dyn ResultSink>>,
    /// Too-late records.
    pub too_late: Option<Box<dyn SideSink>>,
    /// Duplicates.
    pub duplicates: Option<Box<dyn SideSink>>,
    /// Dead letters.
    pub dead_letters: Option<Box<dyn SideSink>>,
}

/// Writes what the tasks emit.
pub(crate) struct SinkTask {
    inputs: Vec<Receiver<Emission>>,
    outputs: Outputs,
    observer: Option<Box<dyn Observer>>,
    /// Whether every side record says which operator it is of.
    names_operators: bool,
    progress: RunProgress,
    /// Whether something was written since the last flush.
    held: bool,
    /// The wall clock when the first of it was seen by a step; none under a virtual clock.
    held_since: Option<EventTime>,
    /// Where the report is left for the end of the run.
    result: Arc<Mutex<Gathered>>,
}

impl SinkTask {
    pub(crate) fn new(
        inputs: Vec<Receiver<Emission>>,
        outputs: Outputs,
        observer: Option<Box<dyn Observer>>,
        names_operators: bool,
        result: Arc<Mutex<Gathered>>,
    ) -> Self {
        let progress = RunProgress::start();
        Self { inputs, outputs, observer, names_operators, progress, held: false, held_since: None, result }
    }

    fn write(&mut self, emission: Emission) -> Result<(), SinkError> {
        self.held |= !(emission.results.is_empty() && emission.sides.is_empty());
        for (sink, results) in &emission.results {
            self.write_results(*sink, results)?;
        }
        for side in &emission.sides {
            let sink = match side.kind {
                SideKind::TooLate => &mut self.outputs.too_late,
                SideKind::Duplicate => &mut self.outputs.duplicates,
                SideKind::DeadLetter => &mut self.outputs.dead_letters,
            };
            if let Some(sink) = sink {
                write_side(sink.as_mut(), side, self.names_operators)?;
            }
        }
        self.progress.account += emission.account;
        if let Some(report) = emission.report {
            self.gather(report);
        }
        if let Some(status) = emission.operator {
            self.progress.note(status);
        }
        if let Some(SourceStatus { watermark, clock, slowest, bytes }) = emission.source {
            self.progress.watermark = watermark;
            self.progress.clock = clock;
            self.progress.slowest_partition = slowest;
            self.progress.bytes_read += bytes;
        }
        if let Some(observer) = &mut self.observer {
            observer.progress(&self.progress);
        }
        Ok(())
    }

    fn write_results(&mut self, place: usize, results: &Results) -> Result<(), SinkError> {
        let sink = &mut self.outputs.results[place];
        let mut observer = self.observer.as_mut();
        match results {
            Results::Panes(panes) => {
                sink.write_panes(panes)?;
                observer.iter_mut().for_each(|observer| observer.panes(place, panes));
            }
            Results::Rows(rows) => {
                sink.write_rows(rows)?;
                observer.iter_mut().for_each(|observer| observer.rows(place, rows));
            }
        }
        Ok(())
    }

    fn gather(&self, report: TaskReport) {
        let mut gathered = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        match report {
            TaskReport::Sources(sources) => gathered.sources = sources,
            TaskReport::Operator(operator) => gathered.operators.push(operator),
        }
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        for sink in &mut self.outputs.results {
            sink.flush()?;
        }
        let sides = [&mut self.outputs.too_late, &mut self.outputs.duplicates, &mut self.outputs.dead_letters];
        for sink in sides.into_iter().flatten() {
            sink.flush()?;
        }
        self.held = false;
        self.held_since = None;
        Ok(())
    }

    /// Whether what is held was held for so long that a reader should not wait for a pause in the input to see it.
    fn is_overdue(&mut self, now: Option<EventTime>) -> bool {
        if !self.held {
            return false;
        }
        let Some(now) = now else { return false };
        now.saturating_sub(*self.held_since.get_or_insert(now)) >= LONGEST_HELD_MS
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.flush()?;
        self.result.lock().unwrap_or_else(PoisonError::into_inner).account = self.progress.account;
        Ok(())
    }
}

impl Gathered {
    /// What became of the records, where not every task has finished.
    pub(crate) fn into_account(self) -> Account {
        self.account
    }

    /// The whole, once every task has finished.
    pub(crate) fn into_report(self) -> RunReport {
        let Self { account, sources, mut operators } = self;
        operators.sort_by_key(|report| (report.operator.clone(), report.subtask));
        RunReport { account, sources, operators }
    }
}

impl Task for SinkTask {
    fn step(&mut self, now: Option<EventTime>) -> Result<Progress, TaskError> {
        let mut worked = false;
        let mut place = 0;
        while place < self.inputs.len() {
            match self.inputs[place].receive() {
                Received::Element(emission) => {
                    self.write(emission)?;
                    worked = true;
                    place += 1;
                }
                Received::Empty => place += 1,
                Received::Ended => drop(self.inputs.remove(place)),
            }
        }
        if self.inputs.is_empty() {
            self.finish()?;
            return Ok(Progress::Finished);
        }
        if worked {
            if self.is_overdue(now) {
                self.flush()?;
            }
            return Ok(Progress::Worked);
        }
        // Whoever reads the output should not wait for the next record to see what was emitted.
        if self.held {
            self.flush()?;
        }
        Ok(Progress::Waiting { until: None })
    }
}

/// `named`: the record says its operator even if it is no dead letter, which always does.
fn write_side(sink: &mut dyn SideSink, side: &Side, named: bool) -> Result<(), SinkError> {
    let record = side.record.as_ref();
    let key: Vec<(&str, ValueRef<'_>)> =
        side.pane.iter().flat_map(|pane| &pane.key).map(|(n, v)| (&**n, v.as_ref())).collect();
    let dead = side.kind == SideKind::DeadLetter;
    let original = record.map(|(origin, row)| origin.record(*row));
    sink.write(&SideRecord {
        reason: &side.reason,
        partition: record.map_or(ValueRef::Null, |(origin, row)| origin.partition(*row)),
        offset: record.and_then(|(origin, row)| origin.offset(*row)),
        record: original.as_deref(),
        detail: Some(side.detail.as_str()).filter(|detail| !detail.is_empty()),
        operator: (dead || named).then_some(&*side.operator),
        key: &key,
        window: side.pane.as_ref().and_then(|pane| pane.window),
        timer: side.timer.as_ref().map(|timer| (&*timer.name, timer.time)),
        component: side.component.as_ref().map(|component| component.digest.as_str()),
        fuel_used: side.fuel_used,
    })
}

#[cfg(test)]
mod tests;
