//! Why a store did not do it. The variant says what to do: read again, ask otherwise, or look at the machine.

/// Why a read or a commit failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// A document was not as the commit expected. Nothing was changed.
    #[error("the {kind} `{path}` was changed by somebody else meanwhile: read it again and repeat the change")]
    Conflict {
        /// The document's kind.
        kind: String,
        /// The document's path.
        path: String,
    },
    /// The question or the commit breaks a rule of the store. Nothing was changed.
    #[error("the store takes no such {what}: {reason}")]
    Invalid {
        /// What it was: `kind`, `path`, `body`, `commit`, `page`.
        what: &'static str,
        /// What is wrong and what is allowed.
        reason: String,
    },
    /// The store can not be used now (full disk, read-only folder, locked file). A commit that fails so may have happened:
    /// read before repeating it.
    #[error("the metadata store can not be used: {reason}")]
    Unavailable {
        /// What failed and what mends it.
        reason: String,
    },
    /// What is stored can not be understood.
    #[error("the metadata store holds what this program can not read: {reason}")]
    Corrupt {
        /// What and where.
        reason: String,
    },
}
