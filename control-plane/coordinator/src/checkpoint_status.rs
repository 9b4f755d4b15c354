//! How a run's checkpoints fare: what the runner fills in, and what follows from it for whoever looks at the job.
//!
//! Plain values. Invariant: what is not known is `None`, never 0, so that nobody takes "not measured" for "nothing".

use serde::{Deserialize, Serialize};
use tidegate_types::EventTime;

/// Failed checkpoints in a row from which on somebody is alerted.
pub const ALERT_AFTER: u64 = 3;

/// How a run's checkpoints fare.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckpointStatus {
    /// The last one that this run completed.
    pub last: Option<CompletedCheckpoint>,
    /// How many this run has completed.
    pub completed: u64,
    /// How many failed since this run began.
    pub failures: u64,
    /// The row of failures that goes on now; none if the last checkpoint was completed, or none has failed.
    pub failing: Option<FailingCheckpoints>,
    /// How long ago the oldest one that is kept was taken, ms.
    pub oldest_kept_age_ms: Option<i64>,
    /// How fast the store took the bytes of the last one, bytes a second.
    pub store_bytes_per_second: Option<u64>,
    /// The one that this run began with; none if it began anew.
    pub restored: Option<RestoredCheckpoint>,
    /// How long ago the oldest transaction was prepared that is not committed yet, ms, over all transactional sinks; none
    /// if there is no such transaction.
    pub oldest_prepared_transaction_ms: Option<i64>,
}

/// A checkpoint that is complete: everything that it names is stored, and the next start begins there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CompletedCheckpoint {
    /// Its number, which grows for the life of the job's version.
    pub id: u64,
    /// When it was complete, ms since the epoch.
    pub completed_at: EventTime,
    /// From its trigger until it was complete, ms.
    pub duration_ms: i64,
    /// From its trigger until its barrier had passed every task, ms.
    pub alignment_ms: i64,
    /// All bytes that it names.
    pub bytes_full: u64,
    /// Those of them that were sent to the store for it.
    pub bytes_transferred: u64,
    /// Those of them that an earlier checkpoint had sent.
    pub bytes_referenced: u64,
}

/// A row of failed checkpoints.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FailingCheckpoints {
    /// How many failed, one after the other.
    pub in_a_row: u64,
    /// When the first of them failed, ms since the epoch.
    pub since: EventTime,
    /// Why the last one did, in words for the tenant.
    pub last_error: String,
}

/// The checkpoint that a run began with, and how long each phase of its restore took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RestoredCheckpoint {
    /// Its number.
    pub id: u64,
    /// When it was taken, ms since the epoch.
    pub taken_at: EventTime,
    /// To find it and to give each task its key groups, ms.
    pub assign_ms: Option<i64>,
    /// To fetch its files, from this host or from the store, ms.
    pub download_ms: Option<i64>,
    /// To open them, ms.
    pub open_ms: Option<i64>,
    /// To give operators their state, ms.
    pub warm_ms: Option<i64>,
    /// To read again what was read after it, ms; none until that is done.
    pub replay_ms: Option<i64>,
}

impl CheckpointStatus {
    /// The newest complete one that is known, and so where a restart begins: this run's last, else the one it began with.
    #[must_use]
    pub fn newest(&self) -> Option<u64> {
        self.last.map(|last| last.id).or(self.restored.map(|restored| restored.id))
    }

    /// When that one was taken or complete, ms since the epoch.
    #[must_use]
    pub fn newest_at(&self) -> Option<EventTime> {
        self.last.map(|last| last.completed_at).or(self.restored.map(|restored| restored.taken_at))
    }

    /// What somebody should know now, in a sentence: [`ALERT_AFTER`] checkpoints or more have failed in a row.
    #[must_use]
    pub fn alert(&self) -> Option<String> {
        let FailingCheckpoints { in_a_row, last_error, .. } = self.failing.as_ref()?;
        if *in_a_row < ALERT_AFTER {
            return None;
        }
        let goes_back = match self.newest() {
            Some(id) => format!("to checkpoint {id}"),
            None => "to the beginning, as none was completed".to_owned(),
        };
        Some(format!(
            "the last {in_a_row} checkpoints failed; the job goes on, and a restart now would go back {goes_back}. The last \
             failure: {last_error}"
        ))
    }
}

#[cfg(test)]
mod tests;
