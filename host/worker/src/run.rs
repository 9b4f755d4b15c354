//! A job over bounded input: its tasks on lanes, from the first record to the last pane.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tidegate_connectors::Source;
use tidegate_dataflow::Job;
use tidegate_dataflow::channel::{Signal, channel};
use tidegate_dataflow::task::{SourceTask, Task, TaskError, WindowTask};
use tidegate_types::Clock;

use crate::lane;
use crate::reader;
use crate::sinks::{Gathered, Observer, Outputs, RunReport, SinkTask};

/// Elements that a channel between two tasks holds.
const CHANNEL_CAPACITY: usize = 4;

/// A job, its input and its outputs.
pub struct BoundedRun {
    /// The job.
    pub job: Job,
    /// Its source.
    pub source: Box<dyn Source>,
    /// Its outputs.
    pub outputs: Outputs,
    /// The wall clock; none: the clock is virtual and stands at each record's arrival.
    pub clock: Option<Arc<dyn Clock>>,
    /// Somebody who watches.
    pub observer: Option<Box<dyn Observer>>,
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A task stopped.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A thread cannot be started.
    #[error("a thread cannot be started; the machine is out of processes or memory")]
    Thread(#[from] std::io::Error),
    /// A thread panicked: a defect of Tidegate.
    #[error("a lane panicked; this is a defect of Tidegate, please report it with the lines above")]
    Panicked,
}

impl RunError {
    /// Whether the reader of an output closed it: an end, not a failure.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Task(TaskError::Sink(error)) if error.is_closed())
    }
}

/// Runs a job until its source has ended and everything has fired.
///
/// The first lane has the source task, the first window task and the sinks; each further window task has its own.
///
/// # Errors
/// If the source, an operator or a sink fails; what was written before stands.
pub fn run_bounded(run: BoundedRun) -> Result<RunReport, RunError> {
    let signal = Signal::new();
    let (input, reader) = reader::start(run.source, run.job.batch_rows, &signal)?;
    let result = Arc::new(Mutex::new(Gathered::default()));
    let (emissions, receiver) = channel(CHANNEL_CAPACITY, &signal);
    let (mut outputs, mut receivers, mut windows) = (Vec::new(), vec![receiver], Vec::<Box<dyn Task>>::new());
    for (operator, subtask) in run.job.windows.into_iter().zip(0_u32..) {
        let (sender, batches) = channel(CHANNEL_CAPACITY, &signal);
        outputs.push(sender);
        let (emissions, receiver) = channel(CHANNEL_CAPACITY, &signal);
        receivers.push(receiver);
        windows.push(Box::new(WindowTask::new(batches, operator, emissions, subtask)));
    }
    let source = SourceTask::new(input, run.job.source, run.job.exchange, outputs, emissions);
    let sinks = SinkTask::new(receivers, run.outputs, run.observer, Arc::clone(&result));
    let mut windows = windows.into_iter();
    let mut first: Vec<Box<dyn Task>> = vec![Box::new(source)];
    first.extend(windows.next());
    first.push(Box::new(sinks));
    let lanes = std::iter::once(first).chain(windows.map(|task| vec![task])).enumerate();
    let threads: Result<Vec<_>, _> = lanes
        .map(|(place, tasks)| lane::start(format!("lane-{place}"), tasks, Arc::clone(&signal), run.clock.clone()))
        .collect();
    if threads.is_err() {
        signal.stop();
    }
    let outcome = join_all(threads?);
    signal.stop();
    // After a failure the reader may still wait for its input; it ends by itself once that gives anything.
    outcome?;
    reader.join().map_err(|_| RunError::Panicked)?;
    let gathered = std::mem::take(&mut *result.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(gathered.into_report())
}

fn join_all(threads: Vec<JoinHandle<Result<(), TaskError>>>) -> Result<(), RunError> {
    let mut outcome = Ok(());
    for thread in threads {
        let result = thread.join().map_err(|_| RunError::Panicked).and_then(|result| result.map_err(RunError::from));
        if outcome.is_ok() {
            outcome = result;
        }
    }
    outcome
}
