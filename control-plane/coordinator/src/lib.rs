//! The life of jobs: submission, running, restarting, cancelling, status.
//!
//! What to do is decided by pure functions (`decide`); a supervisor per live job carries it out through the [`JobRunner`].
//! A job's record in the metadata store says what should be; it is written before anybody is answered, so that a process
//! that starts again knows its jobs. Where a job goes on is decided by its newest
//! checkpoint, which the runner keeps: the record here says how often it was started, and how its last run ended.

mod checkpoint_status;
mod checkpoints;
mod components;
mod coordinator;
mod decide;
mod error;
mod record;
mod runner;
mod streams;
mod submit;
mod supervisor;
mod view;

pub use checkpoint_status::{
    ALERT_AFTER, CheckpointStatus, CompletedCheckpoint, FailingCheckpoints, RestoredCheckpoint,
};
pub use checkpoints::{CheckpointPlace, CheckpointPointers, KeptCheckpoint, PointerError};
pub use components::{Components, FoundComponent, RegistryDown};
pub use coordinator::{Coordinator, Turn};
pub use decide::RestartPolicy;
pub use error::{JobError, SubmitError};
pub use runner::{
    EndedJob, JobKey, JobRunner, Lag, ResolvedComponent, Run, RunAccount, RunEnd, RunPanes, RunStatus, StartError,
    StartJob,
};
pub use streams::{JobStreams, NamedResult, NamedStream, streams_written};
pub use view::{JobState, JobView};
