//! Why a table cannot be written.

use tidegate_connectors::ErrorKind;

/// Why a table cannot be opened for writing. The texts are for the tenant: they hold no path.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A name that SQLite keeps for itself.
    #[error("table `{table}`: names that begin with `sqlite_` are taken; name the table otherwise")]
    ReservedTable {
        /// The table.
        table: String,
    },
    /// A field that cannot be a column.
    #[error("table `{table}`: the field `{field}` {reason}")]
    Field {
        /// The table.
        table: String,
        /// The field of the results.
        field: String,
        /// Why, and the way out.
        reason: String,
    },
    /// The key names no field of the results.
    #[error("table `{table}`: {what} have no field `{field}` to identify a row by; name one of {known}")]
    KeyField {
        /// The table.
        table: String,
        /// Panes or rows.
        what: &'static str,
        /// What the key names.
        field: String,
        /// What it may name.
        known: String,
    },
    /// There is a table of this name with other columns or another key.
    #[error("table `{table}` is there with {has}, and this job writes {wants}; name another table in `sink.table`")]
    OtherLayout {
        /// The table.
        table: String,
        /// What is there.
        has: String,
        /// What the job writes.
        wants: String,
    },
    /// There is a table whose name differs in capitals only.
    #[error(
        "table `{table}` is there as `{other}`, and names that differ in capitals only are one; use that name or another"
    )]
    OtherCase {
        /// The table.
        table: String,
        /// What it is called.
        other: String,
    },
    /// A newer start of the same job has written the table.
    #[error(
        "table `{table}`: start {newer} of job `{job}` has opened it, and this is start {epoch}, whose rows would be older; if \
         the job's count of starts was lost, name another table in `sink.table`"
    )]
    Fenced {
        /// The table.
        table: String,
        /// The job.
        job: String,
        /// The number of this start.
        epoch: u64,
        /// The number of the newest start that opened the table.
        newer: u64,
    },
    /// The tenant's tables together are as large as they may be.
    #[error("{}", full(*limit))]
    Full {
        /// The most bytes.
        limit: u64,
    },
    /// The file was written by a newer release.
    #[error("the tenant's tables have format {found}, and this release reads up to {known}; run the newer release")]
    NewerFormat {
        /// The file's format.
        found: i64,
        /// The newest known.
        known: i64,
    },
    /// The file cannot be used.
    #[error("the tenant's tables cannot be opened now")]
    Database(#[source] rusqlite::Error),
    /// The folder cannot be made.
    #[error("the folder of the tables cannot be made")]
    Folder(#[source] std::io::Error),
}

impl TableError {
    /// Whose fault it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::ReservedTable { .. }
            | Self::Field { .. }
            | Self::KeyField { .. }
            | Self::OtherLayout { .. }
            | Self::OtherCase { .. }
            | Self::Fenced { .. }
            | Self::Full { .. } => ErrorKind::Invalid,
            Self::NewerFormat { .. } | Self::Database(_) | Self::Folder(_) => ErrorKind::External,
        }
    }
}

/// That the tenant's tables have reached their bound.
pub(crate) fn full(limit: u64) -> String {
    format!(
        "the tenant's tables have used up their {limit} bytes (its limit `log_bytes`, which holds for the tables too); write \
         fewer rows, or ask a platform admin for a higher limit"
    )
}
