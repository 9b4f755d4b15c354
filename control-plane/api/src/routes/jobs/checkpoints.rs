//! How a job's checkpoints fare, as the API shows it. Every field is always there; what is not known is null.

use serde::Serialize;
use tidegate_coordinator::{CheckpointStatus, CompletedCheckpoint, RestoredCheckpoint};
use utoipa::ToSchema;

/// How the checkpoints of a job's present (or last) run fare.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobCheckpoints)]
pub(crate) struct CheckpointsDocument {
    /// The last one that this run completed; null before its first.
    last: Option<CheckpointDocument>,
    /// How many this run has completed.
    completed: u64,
    /// How many failed since this run began.
    failures: u64,
    /// How many failed in a row until now; 0 if the last one was completed.
    failures_in_a_row: u64,
    /// When the first of these failed, ms since the epoch.
    failing_since: Option<i64>,
    /// Why the last of these failed.
    last_error: Option<String>,
    /// What somebody should know now, in a sentence: three or more have failed in a row. Null otherwise.
    alert: Option<String>,
    /// How long ago the oldest one that is kept was taken, ms.
    oldest_kept_age_ms: Option<i64>,
    /// How fast the store took the bytes of the last one, bytes a second.
    store_bytes_per_second: Option<u64>,
    /// The number of the one that this run began with; null if it began anew.
    restored_from: Option<u64>,
    /// How long each phase of the restore took; null if the run began anew.
    restore: Option<RestoreDocument>,
    /// How long ago the oldest transaction was prepared that is not committed yet, ms; null if there is none.
    oldest_prepared_transaction_ms: Option<i64>,
}

/// A complete checkpoint.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobCheckpoint)]
pub(crate) struct CheckpointDocument {
    /// Its number, which grows for the life of the job's version.
    id: u64,
    /// When it was complete, ms since the epoch.
    completed_at: i64,
    /// From its trigger until it was complete, ms.
    duration_ms: i64,
    /// From its trigger until its barrier had passed every task, ms.
    alignment_ms: i64,
    /// Its bytes.
    bytes: CheckpointBytes,
}

/// The bytes of a checkpoint: `full = transferred + referenced`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckpointBytes {
    /// All that it names.
    full: u64,
    /// Those that were sent to the store for it.
    transferred: u64,
    /// Those that an earlier checkpoint had sent.
    referenced: u64,
}

/// The phases of a restore, ms each; null: not known, or not over.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobRestore)]
pub(crate) struct RestoreDocument {
    /// To find the checkpoint and to give each task its share.
    assign_ms: Option<i64>,
    /// To fetch its files.
    download_ms: Option<i64>,
    /// To open them.
    open_ms: Option<i64>,
    /// To give operators their state.
    warm_ms: Option<i64>,
    /// To read again what was read after it.
    replay_ms: Option<i64>,
}

impl From<CheckpointStatus> for CheckpointsDocument {
    fn from(status: CheckpointStatus) -> Self {
        let alert = status.alert();
        let CheckpointStatus {
            last,
            completed,
            failures,
            failing,
            oldest_kept_age_ms,
            store_bytes_per_second,
            restored,
            oldest_prepared_transaction_ms,
        } = status;
        Self {
            last: last.map(Into::into),
            completed,
            failures,
            failures_in_a_row: failing.as_ref().map_or(0, |failing| failing.in_a_row),
            failing_since: failing.as_ref().map(|failing| failing.since),
            last_error: failing.map(|failing| failing.last_error),
            alert,
            oldest_kept_age_ms,
            store_bytes_per_second,
            restored_from: restored.map(|restored| restored.id),
            restore: restored.map(Into::into),
            oldest_prepared_transaction_ms,
        }
    }
}

impl From<CompletedCheckpoint> for CheckpointDocument {
    fn from(completed: CompletedCheckpoint) -> Self {
        let CompletedCheckpoint {
            id,
            completed_at,
            duration_ms,
            alignment_ms,
            bytes_full: full,
            bytes_transferred: transferred,
            bytes_referenced: referenced,
        } = completed;
        let bytes = CheckpointBytes { full, transferred, referenced };
        Self { id, completed_at, duration_ms, alignment_ms, bytes }
    }
}

impl From<RestoredCheckpoint> for RestoreDocument {
    fn from(restored: RestoredCheckpoint) -> Self {
        // The number stands beside this, and when it was taken is `last_checkpoint` until there is a newer one.
        let RestoredCheckpoint { id: _, taken_at: _, assign_ms, download_ms, open_ms, warm_ms, replay_ms } = restored;
        Self { assign_ms, download_ms, open_ms, warm_ms, replay_ms }
    }
}
