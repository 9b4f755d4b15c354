//! What can go wrong with a checkpoint.
//!
//! The variant says who is to act: an error of the store passes, a damaged checkpoint stays damaged, a fenced run ends.

use std::io;
use std::path::PathBuf;

use crate::place::ManifestId;

/// Why a checkpoint cannot be saved or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The object store. The last good checkpoint is as it was; another try may succeed.
    #[error("the object store failed at {doing} {object}: {source}; the next checkpoint tries again")]
    Store {
        /// What was tried: `writing`, `reading`, `listing`, `deleting`.
        doing: &'static str,
        /// The object, or the folder.
        object: String,
        /// What the store said.
        source: object_store::Error,
    },
    /// What keeps the pointer. The change may have happened.
    #[error("the pointer to the checkpoints can not be {doing}: {reason}; the next checkpoint tries again")]
    Pointer {
        /// What was tried: `read`, `claimed`, `moved`.
        doing: &'static str,
        /// What failed.
        reason: String,
    },
    /// A later run of the job has taken over, or the job was forgotten. This run MUST end.
    #[error("{place}: start {epoch} no longer owns the job's checkpoints, as a later start does; this run must end")]
    Fenced {
        /// The job.
        place: String,
        /// The epoch of the run that is refused.
        epoch: u64,
    },
    /// A file on this machine.
    #[error("{}: {doing}: {source}; check the disk's space and the folder's permissions", path.display())]
    Local {
        /// Where.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A file of a snapshot is not what it was said to be. It MUST NOT change before the checkpoint is saved.
    #[error("{}: has {found} bytes, not {expected}: a snapshot's files must not change; the next checkpoint makes a new one", path.display())]
    Changed {
        /// Where.
        path: PathBuf,
        /// The length that was told.
        expected: u64,
        /// The length that was found.
        found: u64,
    },
    /// What is stored is not what was written.
    #[error("{object} is damaged: {reason}; an earlier checkpoint may be whole")]
    Damaged {
        /// The object.
        object: String,
        /// In what way.
        reason: String,
    },
    /// A manifest of a format that this release does not know.
    #[error("{object} has format {format}, which a newer release of Tidegate wrote: start the job with that release")]
    Newer {
        /// The manifest.
        object: String,
        /// Its format.
        format: u64,
    },
    /// No kept checkpoint is whole.
    #[error(
        "{place}: none of the job's checkpoints can be used: {}; restore the files, or submit the job under a new version to begin anew",
        list(skipped)
    )]
    NoneUsable {
        /// The job.
        place: String,
        /// All of them, the newest first.
        skipped: Vec<Skipped>,
    },
    /// Checkpoints are saved in ascending order, and a failed one is not saved again under its number.
    #[error("checkpoint {checkpoint} is not newer than {newest}, which was tried before; give it a higher number")]
    NotNewer {
        /// The number given.
        checkpoint: u64,
        /// The highest before.
        newest: u64,
    },
    /// A name that is no file name.
    #[error("`{0}` can not be the name of a state file: it must be one plain component of a path")]
    Name(String),
    /// A task of the runtime ended in the middle, as it does when the process ends.
    #[error("a task of the checkpoint broke off: {reason}")]
    BrokeOff {
        /// What the runtime said.
        reason: String,
    },
}

/// A checkpoint that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Which.
    pub id: ManifestId,
    /// What is damaged: the object's name, and how.
    pub reason: String,
}

fn list(skipped: &[Skipped]) -> String {
    let each = skipped.iter().map(|skipped| format!("checkpoint {}: {}", skipped.id.checkpoint, skipped.reason));
    each.collect::<Vec<_>>().join("; ")
}
