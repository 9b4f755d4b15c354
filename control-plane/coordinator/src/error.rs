//! Why the coordinator refuses.
//!
//! What the tenant can mend says where (the field's path and line) and how; what the platform failed at says so.

use tidegate_store::StoreError;
use tidegate_tenancy::Denied;

/// Why a pipeline is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The pipeline is wrong, or asks for what is not there (422 `invalid-pipeline`).
    #[error("{path}: {reason}")]
    InvalidPipeline {
        /// The field of the pipeline file; empty for the file as a whole.
        path: String,
        /// The line, from 1.
        line: Option<usize>,
        /// What is wrong, and the way out.
        reason: String,
    },
    /// The tenant's registry has no such component (422 `unknown-component`).
    #[error("{path}: {reason}")]
    UnknownComponent {
        /// The field of the pipeline file.
        path: String,
        /// The line, from 1.
        line: Option<usize>,
        /// `name` or `name@version`.
        component: String,
        /// What is wrong, and the way out.
        reason: String,
    },
    /// The version was used, or is lower than the last one (409 `version-not-newer`).
    #[error(
        "job `{job}`: version {given} is not newer than version {latest}, which was submitted before; give `version` a higher number"
    )]
    VersionNotNewer {
        /// The job.
        job: String,
        /// The version of the pipeline.
        given: u64,
        /// The highest version so far.
        latest: u64,
    },
    /// Another version of the job runs, or another job writes the same table with the same precedence (409 `conflict`).
    #[error("{reason}")]
    Conflict {
        /// What is in the way, and the way out.
        reason: String,
    },
    /// The tenant has as many live jobs as it may (429 `quota-exceeded`).
    #[error(
        "the tenant has {limit} jobs that run, as many as its limit `jobs` allows; cancel one, or ask a platform admin for more"
    )]
    Quota {
        /// The limit.
        limit: u32,
    },
    /// The caller may not.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The platform failed. Another try may succeed (503).
    #[error("{reason}")]
    Unavailable {
        /// What failed, in words for the tenant.
        reason: String,
    },
    /// The metadata store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a job is not shown or not cancelled.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The tenant has no such job (404).
    #[error("there is no job `{name}`; list the jobs to see what there is")]
    NotFound {
        /// The name.
        name: String,
    },
    /// A live job uses the stream (409).
    #[error("stream `{stream}`: job `{job}` {does} it; cancel the job first (`tidegate job cancel {job}`)")]
    StreamInUse {
        /// The stream.
        stream: String,
        /// The job.
        job: String,
        /// `reads` or `writes`.
        does: &'static str,
    },
    /// The tenant has live jobs (409).
    #[error("tenant `{tenant}`: {count} of its jobs run, `{job}` among them; cancel them first")]
    JobsRun {
        /// The tenant.
        tenant: String,
        /// One of them.
        job: String,
        /// How many there are.
        count: usize,
    },
    /// The caller may not.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The metadata store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
