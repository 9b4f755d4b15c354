//! Drives tasks: a tenant's lanes that step them, the thread that reads a source, the sinks, the thread that takes
//! checkpoints, and the run of a job.
//!
//! A job's tasks run on [`Lanes`], which all jobs of one tenant share and no two tenants do. A run ends when its input has
//! ended and everything has fired, when a task fails, or when its [`RunControl`] stops it; then nothing of it is left on
//! the lanes, and no thread.

mod checkpoints;
mod lane;
mod lanes;
mod pieces;
mod reader;
mod run;
mod sinks;
mod state;

pub use checkpoints::{
    CheckpointBoard, CheckpointSettings, CheckpointStatus, Checkpointing, Completed, Failure, KEPT_CHECKPOINTS,
    KeepError, Places, RestoreError, RestorePhases, Restored, RestoredFrom, remove_folder, restore,
};
pub use lanes::Lanes;
pub use pieces::{PiecesError, PiecesRun, run_in_pieces};
pub use run::{BoundedRun, JobRun, RunEnd, RunError, RunningJob, run_bounded};
pub use sinks::{Observer, Outputs, RunProgress, RunReport};
pub use state::{RunControl, Wake};
