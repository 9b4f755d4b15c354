//! Folders of state: emptied before something is made in them, and durable once a snapshot is.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::backend::StateError;

impl StateError {
    /// What an error of the file system becomes.
    #[must_use]
    pub fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), doing, source }
    }
}

/// Makes a folder that has nothing in it, with what leads to it. What was there is deleted.
///
/// # Errors
/// If it cannot be emptied or made.
pub fn empty_folder(path: &Path) -> Result<(), StateError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(StateError::io(path, "empty the folder", error));
        }
        _ => {}
    }
    fs::create_dir_all(path).map_err(|error| StateError::io(path, "make the folder", error))
}

/// Makes what a folder's files are called durable.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StateError> {
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    synced.map_err(|error| StateError::io(path, "make the folder durable", error))
}
