//! Where a run stands: how many of its tasks are left on the lanes, and why it ends early.
//!
//! Invariants: the first reason to end is the one that is told. A task that leaves a lane, however it leaves, is counted once,
//! and only after it has been dropped: once none is left, nothing of the job runs and every channel of it has ended.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tidegate_dataflow::channel::Signal;

use crate::run::RunError;

/// Wakes a source that waits for its input, so that `read` returns. May be called from any thread, more than once.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Why a run ends before its input does.
#[derive(Debug)]
pub(crate) enum Early {
    /// Somebody stopped it.
    Stopped,
    /// It failed.
    Failed(RunError),
}

/// A run, as its lanes, its reader and its controls share it.
pub(crate) struct RunState {
    signal: Arc<Signal>,
    wake: Option<Wake>,
    standing: Mutex<Standing>,
    left: Condvar,
}

#[derive(Debug, Default)]
struct Standing {
    tasks: usize,
    early: Option<Early>,
}

impl RunState {
    pub(crate) fn new(signal: Arc<Signal>, wake: Option<Wake>) -> Arc<Self> {
        Arc::new(Self { signal, wake, standing: Mutex::default(), left: Condvar::new() })
    }

    /// Wakes its tasks.
    pub(crate) fn signal(&self) -> &Arc<Signal> {
        &self.signal
    }

    /// Counts a task that is about to be put on a lane.
    pub(crate) fn member(self: &Arc<Self>) -> Member {
        self.lock().tasks += 1;
        Member { run: Arc::clone(self), finished: false }
    }

    /// Whether the run ends early: all tasks but the sinks leave their lanes.
    pub(crate) fn is_ending(&self) -> bool {
        self.signal.is_stopped()
    }

    /// Ends the run early, unless it ends already.
    pub(crate) fn end(&self, early: Early) {
        let mut standing = self.lock();
        if standing.early.is_none() && standing.tasks > 0 {
            standing.early = Some(early);
        }
        drop(standing);
        // In this order: what the source reads after it was woken is of no run.
        self.signal.stop();
        if let Some(wake) = &self.wake {
            wake();
        }
    }

    /// Waits until no task is left, and says why the run ended early, if it did.
    pub(crate) fn wait(&self) -> Option<Early> {
        let standing = self.lock();
        let mut standing =
            self.left.wait_while(standing, |standing| standing.tasks > 0).unwrap_or_else(PoisonError::into_inner);
        standing.early.take()
    }

    /// Whether a source that waits for its input can be woken.
    pub(crate) fn can_wake(&self) -> bool {
        self.wake.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task's part in its run. Dropped after the task.
pub(crate) struct Member {
    pub(crate) run: Arc<RunState>,
    /// Whether the task has come to its end.
    pub(crate) finished: bool,
}

impl Drop for Member {
    fn drop(&mut self) {
        if !self.finished {
            // Without effect where the run ends already, which is why a task usually leaves unfinished.
            self.run.end(Early::Failed(RunError::Panicked));
        }
        self.run.lock().tasks -= 1;
        self.run.left.notify_all();
    }
}

/// Stops a run from outside. Cheap to clone; outlives the run.
#[derive(Clone)]
pub struct RunControl {
    pub(crate) run: Arc<RunState>,
}

impl RunControl {
    /// Asks the run to end: its source is read no further, what its tasks have emitted is written and flushed, and it ends as
    /// stopped. Windows that are open do not fire. Returns at once; a run that has ended is left alone.
    pub fn stop(&self) {
        self.run.end(Early::Stopped);
    }
}
