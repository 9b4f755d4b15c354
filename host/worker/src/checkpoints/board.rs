//! How a job's checkpoints go, for whoever shows it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tidegate_checkpoint::{CheckpointError, Kept};
use tidegate_types::EventTime;

use super::Failure;

/// So many failures in a row are an alert.
const ALERT_AFTER: u32 = 3;

/// What is known of a run's checkpoints.
#[derive(Debug, Clone, Default)]
pub struct CheckpointStatus {
    /// The newest that is complete.
    pub last: Option<Completed>,
    /// How many this run has completed.
    pub completed: u64,
    /// How many have failed in this run.
    pub failures: u64,
    /// How many of them since the last that was completed.
    pub failures_in_a_row: u32,
    /// When the first of those failed.
    pub failing_since: Option<EventTime>,
    /// Why the last one failed, without what is the platform's own: tenants see it.
    pub last_error: Option<&'static str>,
    /// What this run was restored from; none: it began at the start.
    pub restored: Option<RestoredFrom>,
    /// When the oldest was taken that is kept, as far as this run knows.
    pub oldest_kept_at: Option<EventTime>,
}

/// The checkpoint that a run was restored from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoredFrom {
    /// Its number.
    pub checkpoint: u64,
    /// When it was taken.
    pub taken_at: EventTime,
    /// How long the parts of the restore took.
    pub phases: RestorePhases,
}

/// A checkpoint that is complete. Durations in ms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Completed {
    /// Its number.
    pub checkpoint: u64,
    /// When it was taken.
    pub taken_at: EventTime,
    /// When it was complete, or found to hold still all that there is.
    pub completed_at: EventTime,
    /// From its trigger until it was complete.
    pub duration_ms: i64,
    /// From its trigger to its barrier at the sinks.
    pub aligned_ms: i64,
    /// Bytes of all its files.
    pub full_bytes: u64,
    /// Bytes that were uploaded for it.
    pub transferred_bytes: u64,
    /// Bytes of files that earlier ones had uploaded.
    pub referenced_bytes: u64,
    /// How fast the store took them, bytes a second.
    pub throughput: Option<f64>,
}

/// How long the parts of a restore took, ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RestorePhases {
    /// Finding the checkpoint and who restores what.
    pub assign_ms: i64,
    /// Fetching its files.
    pub download_ms: i64,
    /// Opening them.
    pub open_ms: i64,
    /// Reading state into memory.
    pub warm_ms: i64,
}

/// A status that others read while it changes.
#[derive(Debug, Default)]
pub struct CheckpointBoard {
    status: Mutex<CheckpointStatus>,
}

impl CheckpointBoard {
    /// What is known now.
    #[must_use]
    pub fn status(&self) -> CheckpointStatus {
        self.lock().clone()
    }

    pub(super) fn restored(&self, from: RestoredFrom) {
        let mut status = self.lock();
        status.restored = Some(from);
        status.oldest_kept_at = Some(from.taken_at);
    }

    /// The oldest checkpoint that is kept was taken then.
    pub(super) fn keeps_since(&self, taken_at: EventTime) {
        self.lock().oldest_kept_at = Some(taken_at);
    }

    pub(super) fn completed(
        &self,
        checkpoint: u64,
        taken_at: EventTime,
        completed_at: EventTime,
        aligned_ms: i64,
        kept: &Kept,
    ) {
        let mut status = self.lock();
        status.completed += 1;
        status.failures_in_a_row = 0;
        status.failing_since = None;
        status.last = Some(Completed {
            checkpoint,
            taken_at,
            completed_at,
            duration_ms: completed_at.saturating_sub(taken_at),
            aligned_ms,
            full_bytes: kept.full_bytes,
            transferred_bytes: kept.transferred_bytes,
            referenced_bytes: kept.referenced_bytes,
            throughput: kept.throughput(),
        });
    }

    /// There was nothing to save: the last one is as good as a new one.
    pub(super) fn unchanged(&self, at: EventTime) {
        let mut status = self.lock();
        status.completed += 1;
        status.failures_in_a_row = 0;
        status.failing_since = None;
        if let Some(last) = &mut status.last {
            last.completed_at = last.completed_at.max(at);
        }
    }

    pub(super) fn failed(&self, at: EventTime, failure: &Failure) {
        let mut status = self.lock();
        status.failures += 1;
        status.failures_in_a_row += 1;
        status.failing_since.get_or_insert(at);
        status.last_error = Some(told(failure));
        if status.failures_in_a_row == ALERT_AFTER {
            tracing::error!(error = %failure, "{ALERT_AFTER} checkpoints in a row have failed: a restart would go back further and further");
        }
    }

    fn lock(&self) -> MutexGuard<'_, CheckpointStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a tenant is told of a failure: no path, no object and nothing of other jobs.
fn told(failure: &Failure) -> &'static str {
    match failure {
        Failure::Late { .. } => {
            "not every task handed over its state in time: the job is too busy, or a hook takes very long"
        }
        Failure::State(_) => DISK_FAILED,
        Failure::Store(error) => match error {
            CheckpointError::Store { .. } => {
                "the store of checkpoints failed; the platform's log says how, so ask a platform admin"
            }
            CheckpointError::Pointer { .. } => "the platform's metadata could not be written",
            CheckpointError::Fenced { .. } => "a later start of the job has taken over",
            CheckpointError::Local { .. } | CheckpointError::Changed { .. } => DISK_FAILED,
            CheckpointError::Damaged { .. }
            | CheckpointError::Newer { .. }
            | CheckpointError::NoneUsable { .. }
            | CheckpointError::NotNewer { .. }
            | CheckpointError::BrokeOff { .. }
            | CheckpointError::Name(_) => "the platform could not save it; its log says more, so ask a platform admin",
        },
    }
}

const DISK_FAILED: &str = "the platform's disk failed; its log says how, so ask a platform admin";
