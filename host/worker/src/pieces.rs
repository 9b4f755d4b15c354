//! A bounded run in pieces: now and then everything is taken out of its operators as for a checkpoint, and put into fresh ones.
//!
//! What a restore has to get right, without a store and without a crash: the results are those of an undisturbed run. One
//! thread steps all tasks in turn. Every other checkpoint is taken while the run goes on, so that the next one adds to it.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use tidegate_connectors::Source;
use tidegate_dataflow::channel::{Sender, Signal, channel};
use tidegate_dataflow::checkpoint::{Checkpoints, Handed, SubtaskId};
use tidegate_dataflow::task::{Progress, Task, TaskError};
use tidegate_dataflow::{Account, Job, SubtaskState, Tasks};
use tidegate_state::group_of;
use tidegate_types::Clock;
use tidegate_types::stored::Malformed;

use crate::checkpoints::hand_over;
use crate::reader::{BATCH_BYTES, Batch};
use crate::sinks::{Gathered, Observer, Outputs, RunReport, SinkTask};

/// A run in pieces.
pub struct PiecesRun<'a, E> {
    /// Makes the job anew for each piece, with so many subtasks of each operator.
    pub make: &'a mut dyn FnMut(u32) -> Result<Job, E>,
    /// Its source.
    pub source: Box<dyn Source>,
    /// Its outputs.
    pub outputs: Outputs,
    /// The wall clock; none: the clock is virtual.
    pub clock: Option<Arc<dyn Clock>>,
    /// Somebody who watches.
    pub observer: Option<Box<dyn Observer>>,
    /// A checkpoint is taken after so many source batches.
    pub every: usize,
    /// Subtasks of each operator in the first piece; later ones have more or fewer.
    pub parallelism: u32,
}

/// Why such a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum PiecesError<E> {
    /// The job cannot be made.
    #[error("the job cannot be put together")]
    Job(E),
    /// A task stopped.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// What was taken out cannot be put back: a defect of Tidegate.
    #[error("what was taken out of the operators cannot be put back; this is a defect of Tidegate, please report it")]
    Malformed(#[from] Malformed),
}

/// What was taken out.
#[derive(Default)]
struct Taken {
    source: Option<Vec<u8>>,
    account: Account,
    operators: BTreeMap<Arc<str>, OperatorState>,
    checkpoint: u64,
}

/// Of one operator: the heads of its subtasks in the last checkpoint, and all entries.
#[derive(Default)]
struct OperatorState {
    heads: Vec<Vec<u8>>,
    entries: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// The tasks of one piece.
struct Piece {
    tasks: Vec<Option<Box<dyn Task>>>,
    sinks: SinkTask,
    input: Option<Sender<Batch>>,
    checkpoints: Arc<Checkpoints>,
    handed: Receiver<Handed>,
    subtasks: Vec<SubtaskState>,
}

/// Runs to the end of the input.
///
/// # Errors
/// If the source, an operator or a sink fails, or state does not fit where it came from.
pub fn run_in_pieces<E>(run: PiecesRun<'_, E>) -> Result<RunReport, PiecesError<E>> {
    let PiecesRun { make, mut source, mut outputs, clock, mut observer, every, parallelism } = run;
    let gathered = Arc::new(Mutex::new(Gathered::default()));
    let mut taken = Taken::default();
    for number in 0_u32.. {
        let subtasks = if number == 0 { parallelism } else { (parallelism + number) % 4 + 1 };
        let job = make(subtasks).map_err(PiecesError::Job)?;
        let batch_rows = job.batch_rows;
        let mut piece = Piece::new(job, &taken, (outputs, observer), &gathered)?;
        for restores in [false, true] {
            for _ in 0..every {
                let batch = source.read(batch_rows, BATCH_BYTES);
                let last = batch.as_ref().map_or(true, |batch| batch.done);
                piece.feed(batch, clock.as_deref())?;
                if last {
                    piece.finish(&mut taken, clock.as_deref())?;
                    let gathered = std::mem::take(&mut *gathered.lock().unwrap_or_else(PoisonError::into_inner));
                    return Ok(gathered.into_report());
                }
            }
            if restores {
                // What is behind the barrier would be lost.
                piece.run(clock.as_deref())?;
            }
            piece.want(&mut taken);
            if restores {
                piece.run(clock.as_deref())?;
            }
        }
        piece.collect(&mut taken);
        (outputs, observer) = piece.sinks.into_parts();
    }
    unreachable!("an input ends before 2^32 pieces of it")
}

impl Piece {
    /// The tasks of a fresh job with the state that was taken out.
    fn new(
        mut job: Job,
        taken: &Taken,
        (outputs, observer): (Outputs, Option<Box<dyn Observer>>),
        gathered: &Arc<Mutex<Gathered>>,
    ) -> Result<Self, Malformed> {
        job.keep_changes();
        if let Some(source) = &taken.source {
            job.restore_source(source)?;
        }
        let subtasks = job.subtasks();
        for state in &subtasks {
            if let Some(of) = taken.operators.get(&state.operator) {
                put_back(&mut job, state, of)?;
            }
        }
        let signal = Signal::new();
        let (hand_over, checkpoints, handed) = hand_over(taken.checkpoint, &signal);
        let (input, batches) = channel(1, &signal);
        let names_operators = job.names_operators;
        let Tasks { source, operators, emissions } = job.into_tasks(batches, &signal, Some(&hand_over));
        let mut tasks: Vec<Option<Box<dyn Task>>> = vec![Some(Box::new(source))];
        tasks.extend(operators.into_iter().flatten().map(|task| Some(Box::new(task) as Box<dyn Task>)));
        let mut sinks = SinkTask::new(emissions, outputs, observer, names_operators, Arc::clone(gathered));
        sinks.keep(hand_over, taken.account);
        Ok(Self { tasks, sinks, input: Some(input), checkpoints, handed, subtasks })
    }

    /// Hands in a batch once the one before it was taken.
    fn feed(&mut self, batch: Batch, clock: Option<&dyn Clock>) -> Result<(), TaskError> {
        let has_credit = |piece: &Self| piece.input.as_ref().is_some_and(Sender::has_credit);
        while !has_credit(self) && self.step(clock)? {}
        if let Some(input) = &self.input {
            input.send(batch);
        }
        Ok(())
    }

    /// Steps until there is nothing to do.
    fn run(&mut self, clock: Option<&dyn Clock>) -> Result<(), TaskError> {
        while self.step(clock)? {}
        Ok(())
    }

    /// Steps every task once. Whether one of them did something.
    fn step(&mut self, clock: Option<&dyn Clock>) -> Result<bool, TaskError> {
        let now = clock.map(Clock::now);
        let mut worked = false;
        for slot in &mut self.tasks {
            let Some(task) = slot else { continue };
            match task.step(now)? {
                Progress::Worked => worked = true,
                Progress::Waiting { .. } => {}
                Progress::Finished => {
                    *slot = None;
                    worked = true;
                }
            }
        }
        worked |= self.sinks.step(now)? == Progress::Worked;
        Ok(worked)
    }

    /// Wants the next checkpoint, after what was handed over for the last one.
    fn want(&mut self, taken: &mut Taken) {
        self.collect(taken);
        taken.checkpoint += 1;
        taken.operators.values_mut().for_each(|of| of.heads.clear());
        self.checkpoints.want(taken.checkpoint);
    }

    /// Takes what was handed over.
    fn collect(&self, taken: &mut Taken) {
        let operator = |of: SubtaskId| {
            let state = self.subtasks.iter().find(|state| state.of == of);
            Arc::clone(&state.expect("tasks hand over for themselves").operator)
        };
        for handed in self.handed.try_iter() {
            match handed {
                Handed::Source { state, .. } => taken.source = Some(state),
                Handed::Changes { of, changes, .. } => {
                    self.checkpoints.took(changes.bytes());
                    let entries = &mut taken.operators.entry(operator(of)).or_default().entries;
                    for (key, value) in changes.iter() {
                        match value {
                            Some(value) => drop(entries.insert(key.to_vec(), value.to_vec())),
                            None => drop(entries.remove(key)),
                        }
                    }
                }
                Handed::Subtask { checkpoint, of, head } if checkpoint == taken.checkpoint => {
                    taken.operators.entry(operator(of)).or_default().heads.push(head);
                }
                Handed::Sinks { account, .. } => {
                    let mut stored = tidegate_types::stored::Stored::new(&account);
                    taken.account = Account::restore(&mut stored).expect("it was written just now");
                }
                Handed::Subtask { .. } | Handed::SourceEnded => {}
            }
        }
    }

    /// The input has ended: everything fires, and what was prepared for the last checkpoint is committed.
    fn finish(&mut self, taken: &mut Taken, clock: Option<&dyn Clock>) -> Result<(), TaskError> {
        self.input = None;
        self.run(clock)?;
        self.collect(taken);
        self.checkpoints.complete(u64::MAX);
        self.run(clock)
    }
}

/// Gives a subtask its share of an operator's state.
fn put_back(job: &mut Job, state: &SubtaskState, of: &OperatorState) -> Result<(), Malformed> {
    let heads: Vec<&[u8]> = of.heads.iter().map(Vec::as_slice).collect();
    job.restore_heads(state.of, &heads)?;
    for (key, value) in &of.entries {
        let (_, group, _) = group_of(key)?;
        if state.groups.contains(&group.0) {
            job.restore_entry(state.of, key, value)?;
        }
    }
    job.restored(state.of)
}
