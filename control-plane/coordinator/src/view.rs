//! What is shown of a job: by the API, and so by the command.

use serde::{Deserialize, Serialize};
use tidegate_types::EventTime;

use crate::checkpoint_status::CheckpointStatus;
use crate::runner::{Lag, ResolvedComponent, RunAccount};
use crate::streams::JobStreams;

/// Where a job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// Accepted, and about to run (or to run again after a fault of the platform).
    Submitted,
    /// Its tasks run.
    Running,
    /// Its input has ended and everything has fired.
    Finished,
    /// It cannot go on; `reason` says why.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
}

impl JobState {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether it runs or will run.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Submitted | Self::Running)
    }
}

/// A job as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobView {
    /// The tenant.
    pub tenant: String,
    /// The job's name.
    pub name: String,
    /// The pipeline's version.
    pub version: u64,
    /// Where it is in its life.
    pub state: JobState,
    /// Why it failed, or why it is about to be restarted.
    pub reason: Option<String>,
    /// Tasks that share the work of the windows; none until it ran in this process.
    pub parallelism: Option<u32>,
    /// Restarts in a row after faults of the platform.
    pub restarts: u32,
    /// When this version was submitted, ms since the epoch.
    pub submitted_at: EventTime,
    /// Who submitted it.
    pub submitted_by: String,
    /// When it last started, ms since the epoch.
    pub started_at: Option<EventTime>,
    /// When it ended for good, ms since the epoch.
    pub ended_at: Option<EventTime>,
    /// When its newest checkpoint was complete, ms since the epoch; none before the first.
    pub last_checkpoint: Option<EventTime>,
    /// How far it is behind its inputs; none until it ran.
    pub lag: Option<Lag>,
    /// The same of each source, in the order of the pipeline; empty until it ran.
    pub source_lags: Vec<Lag>,
    /// The sources' watermark (of several the least), ms since the epoch; none before the first claim and after the end of the input.
    pub watermark: Option<EventTime>,
    /// How far the watermark trails the clock, ms.
    pub watermark_lag_ms: Option<i64>,
    /// How the checkpoints of its present (or last) run fare; none until it ran.
    pub checkpoints: Option<CheckpointStatus>,
    /// What became of the records that the job's version has read: restored with its state, so over all its runs; none until
    /// it ran.
    pub account: Option<RunAccount>,
    /// The streams and tables that it reads and writes.
    pub streams: JobStreams,
    /// The first table that it writes.
    pub table: Option<String>,
    /// The components that it runs.
    pub components: Vec<ResolvedComponent>,
    /// What the job promises across failures, a sentence each.
    pub guarantee: Vec<String>,
    /// Remarks about the pipeline that refuse nothing.
    pub warnings: Vec<String>,
}
