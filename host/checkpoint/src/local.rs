//! Where a snapshot's files stand on this machine, and what tells that two names are one file.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::CheckpointError;
use crate::hashing::local;
use crate::place::encoded;

/// The folder of a subtask's snapshot below a job's local folder: where [`CheckpointStore::fetch`] looks for files that need
/// not be downloaded, `chk-<checkpoint>/<operator>-<subtask>`.
///
/// [`CheckpointStore::fetch`]: crate::CheckpointStore::fetch
#[must_use]
pub fn snapshot_folder(folder: &Path, checkpoint: u64, operator: &str, subtask: u32) -> PathBuf {
    checkpoint_folder(folder, checkpoint).join(format!("{}-{subtask}", encoded(operator)))
}

/// The folder of all of a checkpoint's snapshots below a job's local folder.
#[must_use]
pub fn checkpoint_folder(folder: &Path, checkpoint: u64) -> PathBuf {
    folder.join(format!("chk-{checkpoint}"))
}

/// A file under whatever name: hard links of a file that nobody writes to have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) bytes: u64,
    pub(crate) modified: (i64, i64),
}

impl Identity {
    /// Of a file that is there.
    pub(crate) fn of(path: &Path) -> Result<Self, CheckpointError> {
        let found = std::fs::metadata(path).map_err(local(path, "can not be looked at"))?;
        let modified = (found.mtime(), found.mtime_nsec());
        Ok(Self { device: found.dev(), inode: found.ino(), bytes: found.len(), modified })
    }
}
