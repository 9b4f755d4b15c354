//! The seam to what runs jobs: the coordinator decides, a [`JobRunner`] acts.
//!
//! The control plane knows neither the sandbox nor the log nor a table. Contract of a runner:
//! 1. `check` creates nothing and starts nothing; what it refuses, `start` refuses too.
//! 2. `start` returns once the job's tasks run, or says why they cannot. One job runs once: a second start of the same
//!    key before the first has ended is a platform fault.
//! 3. The run's end is told exactly once, through the [`Run`] that `start` returned, and only after every thread of the run
//!    has ended and its sinks are flushed or have failed.
//! 4. `stop` asks and returns; the end follows as [`RunEnd::Stopped`], unless the run came to another end before.
//! 5. `status` may block, as it asks the log: it is called on threads that may. It answers from `start` on, and until the job
//!    is started again or `forget` is called, which follows its end once what it showed is written down.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tidegate_pipeline::Parsed;
use tidegate_types::{EventTime, Name, TenantId};
use tokio::sync::oneshot;

use crate::checkpoint_status::CheckpointStatus;

/// A job of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobKey {
    /// The tenant.
    pub tenant: TenantId,
    /// The job's name, unique within the tenant.
    pub name: Name,
}

impl std::fmt::Display for JobKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.tenant, self.name)
    }
}

/// A component that a pipeline names, with the version and bytes that it had at submission: these run, always.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedComponent {
    /// Where the pipeline names it: `map`, `window`, `aggregate.<name>`.
    pub path: String,
    /// The artifact's name.
    pub name: String,
    /// The artifact's version.
    pub version: String,
    /// The SHA-256 of the component's bytes, hex.
    pub digest: String,
}

/// What to run.
#[derive(Debug, Clone)]
pub struct StartJob {
    /// The job.
    pub key: JobKey,
    /// The pipeline's version.
    pub version: u64,
    /// The number of this start among all starts of a job of this name, from 1: of two starts the later has the higher.
    /// 0 for a check.
    pub restore_epoch: u64,
    /// The pipeline.
    pub pipeline: Arc<Parsed>,
    /// Its components, one for each hook.
    pub components: Vec<ResolvedComponent>,
}

/// A run that was started.
#[derive(Debug)]
pub struct Run {
    /// Tells the run's end. Dropped by the runner without a word: a platform fault.
    pub ended: oneshot::Receiver<RunEnd>,
}

/// Why a job cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The pipeline asks for what is not there or does not fit: the tenant can mend it.
    #[error("{path}: {reason}")]
    Invalid {
        /// The field of the pipeline file.
        path: String,
        /// What is wrong, and the way out.
        reason: String,
    },
    /// The platform cannot start it now. Another try may succeed.
    #[error("{reason}")]
    Platform {
        /// What failed, in words for the tenant.
        reason: String,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// The input ended (every partition is sealed) and everything has fired.
    Finished,
    /// It was asked to stop.
    Stopped,
    /// The job cannot go on, and would not after a restart either.
    TenantFault {
        /// What happened, in words for the tenant.
        reason: String,
    },
    /// The platform failed the job. It is restarted.
    PlatformFault {
        /// What happened, in words for the tenant.
        reason: String,
    },
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunStatus {
    /// Tasks that share the work of the windows.
    pub parallelism: u32,
    /// What is in the input streams and not read yet.
    pub lag: Lag,
    /// The same of each source, in the order of the pipeline.
    #[serde(default)]
    pub source_lags: Vec<Lag>,
    /// The sources' watermark (of several the least), ms since the epoch; none for both infinities.
    pub watermark: Option<EventTime>,
    /// How far the watermark trails the clock, ms; negative if it is ahead.
    pub watermark_lag_ms: Option<i64>,
    /// What became of every record read.
    pub account: RunAccount,
    /// How its checkpoints fare; none of a run that takes none.
    #[serde(default)]
    pub checkpoints: Option<CheckpointStatus>,
}

/// How far a run is behind its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lag {
    /// Records appended and not read, over all partitions.
    pub records: u64,
    /// How long the oldest of these has waited since it was appended, ms; 0 if there is none.
    pub age_ms: i64,
}

/// What became of records: `read + expanded + forwarded = accepted + filtered + too_late + duplicate + rejected`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunAccount {
    /// Records read from the sources.
    pub read: u64,
    /// Rows that map hooks added.
    pub expanded: u64,
    /// Rows that operators handed to others; none of a pipeline in the short form, which has one operator.
    #[serde(default)]
    pub forwarded: Option<u64>,
    /// Rows that an operator took: accumulated into a window, joined, processed, or written to a sink.
    pub accepted: u64,
    /// Records that a map hook dropped on purpose.
    pub filtered: u64,
    /// Rows all of whose windows were gone.
    pub too_late: u64,
    /// Rows whose identity was accepted before.
    pub duplicate: u64,
    /// Records and rows in the dead-letter output.
    pub rejected: u64,
    /// Accepted rows some of whose windows were gone.
    pub partly_late: u64,
    /// Accepted rows that no pane showed.
    pub unshown: u64,
    /// Panes by timing; retractions are not among them.
    pub panes: RunPanes,
    /// Retractions of panes.
    pub retractions: u64,
    /// Rows that are no panes, written to sinks; none of a pipeline in the short form.
    #[serde(default)]
    pub emitted: Option<u64>,
}

/// Panes by timing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunPanes {
    /// Early panes.
    #[serde(rename = "EARLY")]
    pub early: u64,
    /// On-time panes.
    #[serde(rename = "ON_TIME")]
    pub on_time: u64,
    /// Late panes.
    #[serde(rename = "LATE")]
    pub late: u64,
}

/// A job that has ended for good, and what of it is not needed any more.
#[derive(Debug, Clone)]
pub struct EndedJob {
    /// Which job.
    pub key: JobKey,
    /// The version that ran.
    pub version: u64,
    /// The number of its last start; 0: it was never started.
    pub starts: u64,
    /// What it was.
    pub pipeline: Arc<Parsed>,
    /// Whether its checkpoints stay: somebody may want to look into a job that has failed.
    pub keeps_checkpoints: bool,
}

/// Runs jobs. The module's documentation is its contract.
#[async_trait]
pub trait JobRunner: Send + Sync + 'static {
    /// Whether the job could be started.
    ///
    /// # Errors
    /// What is wrong with it.
    async fn check(&self, job: &StartJob) -> Result<(), StartError>;

    /// Starts the job from the newest checkpoint of its version, or from the beginning of its input where there is none.
    ///
    /// # Errors
    /// Why it does not run.
    async fn start(&self, job: StartJob) -> Result<Run, StartError>;

    /// Asks a running job to stop. A job that does not run is left alone.
    fn stop(&self, job: &JobKey);

    /// How far the job's run is, or was when it ended; none if this process has not run it, or has forgotten it. May block.
    fn status(&self, job: &JobKey) -> Option<RunStatus>;

    /// Forgets the run of a job that has ended for good. A job that runs is left alone.
    fn forget(&self, _job: &JobKey) {}

    /// Lets go of what a job has left that has ended for good: what it holds of its input, what it had not committed, and its
    /// checkpoints. May be asked again: what is gone already is no error. Not asked while the job runs.
    async fn discard(&self, _job: EndedJob) -> Result<(), StartError> {
        Ok(())
    }
}
