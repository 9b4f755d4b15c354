//! What goes wrong with a job's checkpoints: a failure costs one checkpoint, an error ends the run.

use tidegate_checkpoint::CheckpointError;
use tidegate_state::StateError;

/// Why the run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The state of a subtask cannot be written on this machine.
    #[error(transparent)]
    State(#[from] StateError),
    /// A later run has taken over.
    #[error("a later start of the job has taken over")]
    Fenced(#[source] CheckpointError),
    /// Too many checkpoints have failed in a row.
    #[error("{failures} checkpoints in a row have failed")]
    Failed {
        /// How many.
        failures: u32,
        /// The last one's error.
        source: Failure,
    },
}

/// Why a checkpoint came to nothing. Processing goes on.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It cannot be saved.
    #[error(transparent)]
    Store(#[from] CheckpointError),
    /// What a subtask keeps cannot be put into files.
    #[error(transparent)]
    State(#[from] StateError),
    /// Not every task has handed over its state in time.
    #[error(
        "not every task had handed over its state within {seconds} s: the job is too busy, or a hook takes very long"
    )]
    Late {
        /// How long it was waited for.
        seconds: u64,
    },
}
