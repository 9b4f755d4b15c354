//! Why the log cannot be opened, and what errors of the database become.

use std::path::PathBuf;

use tidegate_log::LogError;

/// Why the log cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("log {path}: is in use by another process; stop that one, or choose another folder")]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// It was written in another format.
    #[error("log {path}: has format {found}, this version reads format {known}; use the version that wrote it")]
    Format {
        /// The folder.
        path: PathBuf,
        /// The format that is there.
        found: u8,
        /// The one that this version knows.
        known: u8,
    },
    /// What it keeps about its streams is damaged.
    #[error("log {path}, {what}: stored bytes are damaged ({detail}); restore a copy of the folder")]
    Corrupt {
        /// The folder.
        path: PathBuf,
        /// What is damaged.
        what: String,
        /// What is wrong.
        detail: String,
    },
    /// The database cannot be opened.
    #[error("log {path}: cannot be opened ({detail}); check the folder, its permissions and the disk")]
    Storage {
        /// The folder.
        path: PathBuf,
        /// What the database said.
        detail: String,
    },
    /// The writer's thread cannot be started.
    #[error("log {path}: its writer cannot be started; the machine is out of processes or memory")]
    Thread {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl OpenError {
    pub(crate) fn of_rocksdb(path: PathBuf, error: rocksdb::Error) -> Self {
        let kind = error.kind();
        let detail = error.into_string();
        // The database tells a held lock from other failures in its text only.
        if detail.contains("lock hold by current process") || detail.contains("While lock file") {
            return Self::InUse { path };
        }
        match kind {
            rocksdb::ErrorKind::Corruption => Self::Corrupt { path, what: "the database".into(), detail },
            _ => Self::Storage { path, detail },
        }
    }
}

/// What an error of the database becomes.
pub(crate) fn storage(action: &'static str, error: rocksdb::Error) -> LogError {
    LogError::Storage { action, detail: error.into_string() }
}
