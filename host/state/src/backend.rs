//! The contract of what keeps a subtask's entries.

use std::io;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use crate::changes::Changes;

/// All entries of one subtask of an operator.
///
/// 1. `apply` is atomic and ordered: after it every read sees all of it.
/// 2. `snapshot` makes everything that was applied durable in files that never change afterwards, whatever is applied later.
/// 3. Several threads may read while one applies. A scan shows the entries of one moment.
/// 4. After an error of `apply` or `snapshot` nothing of the call counts; it may be tried again, on a backend opened anew
///    from a snapshot if it fails again.
pub trait StateBackend: Send + Sync {
    /// Applies changes.
    ///
    /// # Errors
    /// If they cannot be written.
    fn apply(&self, changes: &Changes) -> Result<(), StateError>;

    /// The value of an entry.
    ///
    /// # Errors
    /// If it cannot be read.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError>;

    /// The values of entries, in the order of `keys`.
    ///
    /// # Errors
    /// If one cannot be read.
    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        keys.iter().map(|key| self.get(key)).collect()
    }

    /// Shows the entries from `from` up to `to` (not included; none: to the end), in order of their keys, until `visit` breaks.
    ///
    /// # Errors
    /// If one cannot be read.
    fn scan(&self, from: &[u8], to: Option<&[u8]>, visit: Visit<'_>) -> Result<(), StateError>;

    /// Puts everything that was applied into files of this folder, which MUST NOT exist yet. Files that an earlier snapshot of this
    /// backend has under the same name have the same content, unless they are not [`StateFile::shared`].
    ///
    /// # Errors
    /// If they cannot be written; the folder may be there then.
    fn snapshot(&self, folder: &Path) -> Result<Vec<StateFile>, StateError>;

    /// About how many bytes the entries take on disk or in memory.
    ///
    /// # Errors
    /// If nobody can say.
    fn bytes(&self) -> Result<u64, StateError>;
}

/// Takes an entry's key and value, and says whether to go on.
pub type Visit<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>;

/// Makes backends.
pub trait StateBackends: Send + Sync {
    /// An empty one in a folder, which is emptied first if there is something in it.
    ///
    /// # Errors
    /// If it cannot be made.
    fn create(&self, folder: &Path) -> Result<Box<dyn StateBackend>, StateError>;

    /// One in a folder (emptied first), with the entries of these snapshots that are of `groups`. No two of them may have
    /// a key group in common. The snapshots are left as they are. If there is one part and `groups` is all of it, nothing
    /// is copied where a link does, and that snapshot counts as an earlier one of the backend: a [`StateFile::shared`] file
    /// that has the name of one of its files has its content.
    ///
    /// # Errors
    /// If a part cannot be read or the backend not be made. Damage that is not found here is found by the read that meets it.
    fn restore(
        &self,
        folder: &Path,
        parts: &[SnapshotPart],
        groups: Range<u32>,
    ) -> Result<Box<dyn StateBackend>, StateError>;
}

/// A file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFile {
    /// Its name in the snapshot's folder.
    pub name: String,
    /// Its length, bytes.
    pub bytes: u64,
    /// Whether every snapshot of the backend that has this name has this content, so that it need be kept once only.
    pub shared: bool,
}

/// A snapshot in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotPart {
    /// Where its files are.
    pub folder: PathBuf,
    /// The key groups of the subtask that made it.
    pub groups: Range<u32>,
}

/// Why state cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A file or folder.
    #[error("{}: cannot {doing}; check the disk's space and the folder's permissions", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The store below.
    #[error("{}: cannot {doing}: {reason}; start the job again, it goes on from its last checkpoint", path.display())]
    Store {
        /// Where.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What it said.
        reason: String,
    },
    /// What is there is not what was written.
    #[error("{}: is damaged ({reason}); an earlier checkpoint may be whole", path.display())]
    Corrupt {
        /// Where.
        path: PathBuf,
        /// In what way.
        reason: String,
    },
}
