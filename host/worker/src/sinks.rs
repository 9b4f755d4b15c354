//! The sink task: writes panes and side records in the order in which each task emitted them, and keeps the account.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tidegate_connectors::{Prepared, ResultSink, SideSink, SinkError};
use tidegate_dataflow::channel::{Received, Receiver};
use tidegate_dataflow::checkpoint::{HandOver, Handed};
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
    inputs: Vec<Input>,
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
    /// Where what is prepared for a checkpoint goes; none where there are no checkpoints.
    hand_over: Option<HandOver>,
    /// The newest checkpoint whose transactions were committed.
    committed: u64,
    /// How many tasks there are, and how many of them have come to their end.
    tasks: usize,
    finished: usize,
    /// The number of the last checkpoint, once it was asked for: everything is prepared, and what is left is to commit it.
    last: Option<u64>,
}

/// What one task emits.
struct Input {
    from: Receiver<Emission>,
    /// The barrier that it has sent and others have not yet: nothing behind it is taken.
    barrier: Option<u64>,
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
        let tasks = inputs.len();
        let inputs = inputs.into_iter().map(|from| Input { from, barrier: None }).collect();
        Self {
            inputs,
            outputs,
            observer,
            names_operators,
            progress,
            held: false,
            held_since: None,
            result,
            hand_over: None,
            committed: 0,
            tasks,
            finished: 0,
            last: None,
        }
    }

    /// Takes part in checkpoints from now on, and goes on with the account of an earlier run.
    pub(crate) fn keep(&mut self, hand_over: HandOver, account: Account) {
        self.committed = hand_over.checkpoints().completed();
        self.progress.account = account;
        self.hand_over = Some(hand_over);
    }

    /// Its outputs, and who watches them: a run in pieces goes on with them.
    pub(crate) fn into_parts(self) -> (Outputs, Option<Box<dyn Observer>>) {
        (self.outputs, self.observer)
    }

    /// Prepares every output for a checkpoint: everything up to its barrier. None: the last one, of which nobody knows the
    /// number yet.
    fn prepare(&mut self, checkpoint: Option<u64>) -> Result<(), SinkError> {
        let Some(hand_over) = &self.hand_over else { return Ok(()) };
        tidegate_faults::reach("sink.prepare.before");
        let number = checkpoint.unwrap_or_else(|| hand_over.checkpoints().wanted() + 1);
        let mut prepared = Vec::new();
        for output in self.outputs.all() {
            prepared.push(output.prepare(number)?.map(|prepared| prepared.0));
        }
        let mut account = Vec::new();
        self.progress.account.write(&mut account);
        hand_over.hand(Handed::Sinks { checkpoint, prepared, account });
        self.held = false;
        self.held_since = None;
        tidegate_faults::reach("sink.prepare.after");
        Ok(())
    }

    /// Commits what was prepared for a checkpoint that has become complete. Whether there was one.
    fn commit(&mut self) -> Result<bool, SinkError> {
        let Some(hand_over) = &self.hand_over else { return Ok(false) };
        let complete = hand_over.checkpoints().completed();
        if complete <= self.committed {
            return Ok(false);
        }
        tidegate_faults::reach("sink.commit.before");
        self.outputs.all().try_for_each(|output| output.commit(complete))?;
        self.committed = complete;
        tidegate_faults::reach("sink.commit.after");
        Ok(true)
    }

    /// The barrier that all inputs have sent, if they have.
    fn aligned(&mut self) -> Option<u64> {
        let checkpoint = self.inputs.first()?.barrier?;
        if self.inputs.iter().any(|input| input.barrier.is_none()) {
            return None;
        }
        self.inputs.iter_mut().for_each(|input| input.barrier = None);
        Some(checkpoint)
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
            self.finished += 1;
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
        self.outputs.all().try_for_each(|output| output.flush())?;
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

/// What every output does, whatever it takes.
trait Output {
    fn flush(&mut self) -> Result<(), SinkError>;
    fn prepare(&mut self, checkpoint: u64) -> Result<Option<Prepared>, SinkError>;
    fn commit(&mut self, checkpoint: u64) -> Result<(), SinkError>;
    fn recover(&mut self, prepared: Option<&Prepared>) -> Result<(), SinkError>;
}

impl Output for Box<dyn ResultSink> {
    fn flush(&mut self) -> Result<(), SinkError> {
        self.as_mut().flush()
    }

    fn prepare(&mut self, checkpoint: u64) -> Result<Option<Prepared>, SinkError> {
        self.as_mut().prepare(checkpoint)
    }

    fn commit(&mut self, checkpoint: u64) -> Result<(), SinkError> {
        self.as_mut().commit(checkpoint)
    }

    fn recover(&mut self, prepared: Option<&Prepared>) -> Result<(), SinkError> {
        self.as_mut().recover(prepared)
    }
}

impl Output for Box<dyn SideSink> {
    fn flush(&mut self) -> Result<(), SinkError> {
        self.as_mut().flush()
    }

    fn prepare(&mut self, checkpoint: u64) -> Result<Option<Prepared>, SinkError> {
        self.as_mut().prepare(checkpoint)
    }

    fn commit(&mut self, checkpoint: u64) -> Result<(), SinkError> {
        self.as_mut().commit(checkpoint)
    }

    fn recover(&mut self, prepared: Option<&Prepared>) -> Result<(), SinkError> {
        self.as_mut().recover(prepared)
    }
}

impl Outputs {
    /// All of them: the results in order, then the side outputs that are there.
    fn all(&mut self) -> impl Iterator<Item = &mut dyn Output> {
        let Self { results, too_late, duplicates, dead_letters } = self;
        let sides = [too_late, duplicates, dead_letters].into_iter().flatten().map(|side| side as &mut dyn Output);
        results.iter_mut().map(|result| result as &mut dyn Output).chain(sides)
    }

    /// What each of them is called in a checkpoint, in the same order.
    pub(crate) fn names(&self) -> Vec<String> {
        let results = (0..self.results.len()).map(|place| format!("sink-{place}"));
        let sides = [
            (self.too_late.is_some(), "too-late"),
            (self.duplicates.is_some(), "duplicates"),
            (self.dead_letters.is_some(), "dead-letters"),
        ];
        results.chain(sides.into_iter().filter(|(is, _)| *is).map(|(_, name)| name.to_owned())).collect()
    }

    /// Commits what a checkpoint has of each of them, and lets go of everything that is in none.
    ///
    /// # Errors
    /// If a transaction of the checkpoint is lost, or an output cannot be reached.
    pub fn recover(&mut self, prepared: &BTreeMap<String, Vec<u8>>) -> Result<(), SinkError> {
        let names = self.names();
        for (output, name) in self.all().zip(names) {
            let prepared = prepared.get(&name).map(|bytes| Prepared(bytes.clone()));
            output.recover(prepared.as_ref())?;
        }
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

impl SinkTask {
    /// Takes an emission of each input that has one. Whether any had.
    fn take(&mut self) -> Result<bool, SinkError> {
        let (mut worked, mut place) = (false, 0);
        while place < self.inputs.len() {
            let input = &mut self.inputs[place];
            if input.barrier.is_some() {
                place += 1;
                continue;
            }
            match input.from.receive() {
                Received::Element(Emission { barrier: Some(checkpoint), .. }) => {
                    input.barrier = Some(checkpoint);
                    worked = true;
                }
                Received::Element(emission) => {
                    self.write(emission)?;
                    worked = true;
                    place += 1;
                }
                Received::Empty => place += 1,
                Received::Ended => drop(self.inputs.remove(place)),
            }
        }
        Ok(worked)
    }

    /// No task emits any more. If all have finished, the last checkpoint makes what they have emitted count.
    fn end(&mut self) -> Result<Progress, SinkError> {
        if let Some(hand_over) = &self.hand_over {
            let checkpoints = hand_over.checkpoints();
            match self.last {
                Some(last) if self.committed < last && !checkpoints.is_stopped() => {
                    return Ok(Progress::Waiting { until: None });
                }
                None if self.finished == self.tasks && !checkpoints.is_stopped() => {
                    // If it has to be tried again, it gets a higher number.
                    self.last = Some(checkpoints.wanted() + 1);
                    self.prepare(None)?;
                    return Ok(Progress::Worked);
                }
                _ => {}
            }
        }
        self.finish()?;
        Ok(Progress::Finished)
    }
}

impl Task for SinkTask {
    fn step(&mut self, now: Option<EventTime>) -> Result<Progress, TaskError> {
        let mut worked = self.commit()?;
        worked |= self.take()?;
        if let Some(checkpoint) = self.aligned() {
            self.prepare(Some(checkpoint))?;
            return Ok(Progress::Worked);
        }
        if self.inputs.is_empty() {
            return Ok(self.end()?);
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
