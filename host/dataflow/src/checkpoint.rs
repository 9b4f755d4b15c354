//! Checkpoints as tasks see them: which one is wanted, what each task hands over for it, and which one is complete.
//!
//! The source task sends the barrier of a wanted checkpoint between two rounds. Each task that has the barrier from all its
//! senders hands over what it keeps, as it is between these two rounds, and sends the barrier on; so the parts of a checkpoint
//! are of one moment of the job, although no task waits for another. What is large is handed over in pieces, while the task
//! goes on.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use tidegate_state::Changes;

use crate::channel::Signal;

/// So many bytes of changes are handed over before the receiver has to take some.
const IN_FLIGHT_BYTES: usize = 8 << 20;

/// Which checkpoint is wanted and which is complete: shared by a job's tasks and the thread that takes checkpoints.
#[derive(Debug)]
pub struct Checkpoints {
    wanted: AtomicU64,
    completed: AtomicU64,
    /// Bytes of changes that were handed over and not taken.
    in_flight: AtomicUsize,
    signal: Arc<Signal>,
}

impl Checkpoints {
    /// None is wanted beyond `last`, which is complete; 0: there was none. The signal wakes the job's tasks.
    #[must_use]
    pub fn new(last: u64, signal: &Arc<Signal>) -> Arc<Self> {
        let (wanted, completed) = (AtomicU64::new(last), AtomicU64::new(last));
        Arc::new(Self { wanted, completed, in_flight: AtomicUsize::new(0), signal: Arc::clone(signal) })
    }

    /// Wants a checkpoint. Numbers grow.
    pub fn want(&self, checkpoint: u64) {
        self.wanted.store(checkpoint, Ordering::Release);
        self.signal.notify();
    }

    /// The newest that is wanted.
    #[must_use]
    pub fn wanted(&self) -> u64 {
        self.wanted.load(Ordering::Acquire)
    }

    /// A checkpoint is complete: what was prepared for it may be committed.
    pub fn complete(&self, checkpoint: u64) {
        self.completed.store(checkpoint, Ordering::Release);
        self.signal.notify();
    }

    /// The newest that is complete.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// Whether the job ends early: nothing becomes complete any more that is not yet.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.signal.is_stopped()
    }

    /// The receiver has taken so many bytes of changes.
    pub fn took(&self, bytes: usize) {
        let before = self.in_flight.fetch_sub(bytes, Ordering::AcqRel);
        if before >= IN_FLIGHT_BYTES {
            self.signal.notify();
        }
    }
}

/// A subtask of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubtaskId {
    /// The operator's place among the job's stateful operators.
    pub operator: usize,
    /// Which of its subtasks, from 0.
    pub subtask: usize,
}

/// What tasks hand over.
#[derive(Debug)]
pub enum Handed {
    /// Of the source task: where reading goes on, its watermarks and counts.
    Source {
        /// The checkpoint.
        checkpoint: u64,
        /// See [`crate::Job::restore_source`].
        state: Vec<u8>,
    },
    /// All input was read: no further barrier comes.
    SourceEnded,
    /// Some of what has changed at a subtask.
    Changes {
        /// The checkpoint.
        checkpoint: u64,
        /// Whose.
        of: SubtaskId,
        /// The changes, after those handed over before.
        changes: Changes,
    },
    /// All changes of a subtask were handed over.
    Subtask {
        /// The checkpoint.
        checkpoint: u64,
        /// Whose.
        of: SubtaskId,
        /// What it keeps besides entries.
        head: Vec<u8>,
    },
    /// Of the sinks.
    Sinks {
        /// The checkpoint; none: all tasks have finished, and the last checkpoint is to be taken.
        checkpoint: Option<u64>,
        /// What each output has prepared.
        prepared: Vec<Option<Vec<u8>>>,
        /// The account up to the barrier.
        account: Vec<u8>,
    },
}

/// A task's way to the thread that takes checkpoints.
#[derive(Debug, Clone)]
pub struct HandOver {
    checkpoints: Arc<Checkpoints>,
    to: mpsc::Sender<Handed>,
}

impl HandOver {
    /// A way into this channel.
    #[must_use]
    pub fn new(checkpoints: Arc<Checkpoints>, to: mpsc::Sender<Handed>) -> Self {
        Self { checkpoints, to }
    }

    /// Which checkpoint is wanted, and which complete.
    #[must_use]
    pub fn checkpoints(&self) -> &Checkpoints {
        &self.checkpoints
    }

    /// Hands something over. Nobody takes it any more if the job ends.
    pub fn hand(&self, handed: Handed) {
        let bytes = match &handed {
            Handed::Changes { changes, .. } => changes.bytes(),
            _ => 0,
        };
        self.checkpoints.in_flight.fetch_add(bytes, Ordering::AcqRel);
        if self.to.send(handed).is_err() {
            self.checkpoints.took(bytes);
        }
    }

    /// Whether more changes are to be handed over now.
    #[must_use]
    pub(crate) fn has_room(&self) -> bool {
        self.checkpoints.in_flight.load(Ordering::Acquire) < IN_FLIGHT_BYTES
    }
}
