//! A job's run: its tasks on lanes, its source on a reader thread, from the first record to its end.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tidegate_connectors::Source;
use tidegate_dataflow::checkpoint::HandOver;
use tidegate_dataflow::task::{Task, TaskError};
use tidegate_dataflow::{Account, Job, Tasks};
use tidegate_types::Clock;

use crate::checkpoints::{self, AboutJob, Checkpointing, KeepError};
use crate::lane::Slot;
use crate::lanes::Lanes;
use crate::reader;
use crate::sinks::{Gathered, Observer, Outputs, RunReport, SinkTask};
use crate::state::{Early, RunControl, RunState, Wake};

/// A job, its input and its outputs, to be run on lanes.
pub struct JobRun {
    /// The job.
    pub job: Job,
    /// Its source.
    pub source: Box<dyn Source>,
    /// Makes the source's `read` return when it waits for its input. None: the source cannot be woken; then the thread that
    /// reads it outlives a run that ends early until its input gives anything.
    pub wake: Option<Wake>,
    /// Its outputs.
    pub outputs: Outputs,
    /// Somebody who watches.
    pub observer: Option<Box<dyn Observer>>,
    /// What takes checkpoints; none: nothing of the job outlives the run.
    pub checkpoints: Option<Checkpointing>,
}

/// A job, its input and its outputs, to be run to the end of its input.
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

/// How a run ended that did not fail.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEnd {
    /// Its input has ended and everything has fired.
    Finished(RunReport),
    /// It was stopped: what became of the records until then. Those on their way are in no count but `read`.
    Stopped(Account),
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
    /// The job's state cannot be kept.
    #[error(transparent)]
    Keep(#[from] KeepError),
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

/// A job whose tasks are on lanes.
pub struct RunningJob {
    state: Arc<RunState>,
    reader: JoinHandle<()>,
    /// The thread that takes checkpoints.
    taker: Option<JoinHandle<()>>,
    gathered: Arc<Mutex<Gathered>>,
}

impl Lanes {
    /// Puts a job's tasks onto these lanes and starts reading its source.
    ///
    /// The source task, the first task of each operator and the sinks share a lane; the other tasks of one number may have
    /// another.
    ///
    /// # Errors
    /// If the thread that reads the source cannot be started.
    pub fn run(&self, run: JobRun) -> Result<RunningJob, RunError> {
        let signal = self.job_signal();
        let state = RunState::new(Arc::clone(&signal), run.wake);
        let (input, reader) = reader::start(run.source, run.job.batch_rows, &signal)?;
        let gathered = Arc::new(Mutex::new(Gathered::default()));
        let names_operators = run.job.names_operators;
        let (keeping, taker) = match run.checkpoints {
            Some(checkpointing) => {
                let (keeping, taker) = self.keep(checkpointing, &run.job, &run.outputs, &state)?;
                (Some(keeping), Some(taker))
            }
            None => (None, None),
        };
        let hand_over = keeping.as_ref().map(|keeping| &keeping.hand_over);
        let Tasks { source, operators, emissions } = run.job.into_tasks(input, &signal, hand_over);
        let mut sinks = SinkTask::new(emissions, run.outputs, run.observer, names_operators, Arc::clone(&gathered));
        if let Some(keeping) = keeping {
            sinks.keep(keeping.hand_over, keeping.account);
        }
        let slot = |task: Box<dyn Task>, outlives| Slot { task, member: state.member(), outlives };
        let mut groups = vec![vec![slot(Box::new(source), false)]];
        for (number, task) in operators.into_iter().flat_map(|tasks| tasks.into_iter().enumerate()) {
            if number == groups.len() {
                groups.push(Vec::new());
            }
            groups[number].push(slot(Box::new(task), false));
        }
        groups[0].push(slot(Box::new(sinks), true));
        self.add(groups);
        Ok(RunningJob { state, reader, taker, gathered })
    }

    /// Starts the thread that takes a job's checkpoints.
    fn keep(
        &self,
        checkpointing: Checkpointing,
        job: &Job,
        outputs: &Outputs,
        state: &Arc<RunState>,
    ) -> Result<(Keeping, JoinHandle<()>), RunError> {
        let account = checkpointing.restored.account;
        let (hand_over, checkpoints, handed) = checkpoints::hand_over(checkpointing.restored.last, state.signal());
        let about = AboutJob { checkpoints, max_parallelism: job.max_parallelism, sinks: outputs.names() };
        let taker = checkpoints::start(checkpointing, about, handed, Arc::clone(state))?;
        Ok((Keeping { hand_over, account }, taker))
    }
}

/// What tasks need to take part in checkpoints.
struct Keeping {
    hand_over: HandOver,
    account: Account,
}

impl RunningJob {
    /// What stops it.
    #[must_use]
    pub fn control(&self) -> RunControl {
        RunControl { run: Arc::clone(&self.state) }
    }

    /// Waits for its end: no task of it is on a lane any more, and its source is not read any more.
    ///
    /// # Errors
    /// If the source, an operator or a sink fails; what was written before stands.
    pub fn wait(self) -> Result<RunEnd, RunError> {
        let early = self.state.wait();
        let failed = matches!(early, Some(Early::Failed(_)));
        // After a failure the reader may still wait for its input; it ends by itself once that gives anything.
        if !failed || self.state.can_wake() {
            let joined = self.reader.join();
            if !failed {
                joined.map_err(|_| RunError::Panicked)?;
            }
        }
        // It ends with the tasks, once it is through with what it has in hand.
        if let Some(taker) = self.taker {
            taker.join().map_err(|_| RunError::Panicked)?;
        }
        let gathered = std::mem::take(&mut *self.gathered.lock().unwrap_or_else(PoisonError::into_inner));
        match early {
            None => Ok(RunEnd::Finished(gathered.into_report())),
            Some(Early::Stopped) => Ok(RunEnd::Stopped(gathered.into_account())),
            Some(Early::Failed(error)) => Err(error),
        }
    }
}

/// Runs a job, on as many lanes as each operator has tasks, until its source has ended and everything has fired.
///
/// # Errors
/// If the source, an operator or a sink fails; what was written before stands.
pub fn run_bounded(run: BoundedRun) -> Result<RunReport, RunError> {
    let BoundedRun { job, source, outputs, clock, observer } = run;
    let count = u32::try_from(job.parallelism()).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
    let lanes = Lanes::start("lane-", count, clock.as_ref())?;
    match lanes.run(JobRun { job, source, wake: None, outputs, observer, checkpoints: None })?.wait()? {
        RunEnd::Finished(report) => Ok(report),
        RunEnd::Stopped(_) => unreachable!("nobody else has the run's control"),
    }
}
