//! Opening the file: made by its owner only, set up for durability, and refused if it is not ours to write.

use std::fs::{self, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::fault;
use crate::schema::{SchemaError, examine, migrate};

/// How long a statement waits for the lock that another connection or process holds.
const BUSY: Duration = Duration::from_secs(10);
/// How often the file is tried again that another program is making, and how long after the last time.
const TURNS: u32 = 100;
const TURN: Duration = Duration::from_millis(50);
/// How long a caller waits for one of the store's connections.
const ACQUIRE: Duration = Duration::from_secs(30);
/// Connections that read at once. Writers stand in one queue anyway.
const READERS: u32 = 4;

/// Why a store can not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file can not be made or its mode set.
    #[error(
        "the metadata store {path:?} can not be made: {source}; name a file in a folder that this user may write to"
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// SQLite can not use it.
    #[error("the metadata store {path:?} can not be opened: {reason}")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What failed and what mends it.
        reason: String,
    },
    /// It is another program's database.
    #[error("{path:?} is a database of another program: name another file")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A newer program wrote it.
    #[error(
        "the metadata store {path:?} has schema {found}, written by a newer Tidegate; this one knows schema {known}: \
         use the newer program, or restore the copy that was made before the update"
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The file's schema.
        found: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
}

/// The pools of one file.
pub(crate) struct Pools {
    /// One connection: commits of this process stand in a queue here and not in SQLite's.
    pub(crate) writer: SqlitePool,
    pub(crate) readers: SqlitePool,
}

/// Opens or makes the file, and brings it to the newest schema.
///
/// `max_pages` bounds the file (4 KiB a page), as a full disk would.
pub(crate) async fn open(path: &Path, max_pages: Option<u32>) -> Result<Pools, OpenError> {
    let io = |source| OpenError::Io { path: path.to_owned(), source };
    make(path).map_err(io)?;
    look(path).await.map_err(|error| refused(path, error))?;
    own(path).map_err(io)?;
    let options = options(path, max_pages);
    prepare_in_turn(&options).await.map_err(|error| refused(path, error))?;
    let writer = pool(1).before_acquire(|connection, _| Box::pin(is_idle(connection)));
    Ok(Pools { writer: writer.connect_lazy_with(options.clone()), readers: pool(READERS).connect_lazy_with(options) })
}

fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

/// Whether a connection has ended its last transaction. Where SQLite has rolled one back by itself (a full disk), sqlx
/// still counts it as open and refuses to begin another; such a connection is closed and a new one opened.
async fn is_idle(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    // Behind the rollback that a dropped transaction has queued.
    connection.ping().await?;
    Ok(!connection.is_in_transaction())
}

/// Makes the file if it is missing. SQLite gives its side files the same mode.
fn make(path: &Path) -> io::Result<()> {
    OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path).map(drop)
}

/// Whether the file is ours to write; another's is not touched, not even its journal mode.
async fn look(path: &Path) -> Result<(), SchemaError> {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY).disable_statement_logging();
    let mut connection = SqliteConnection::connect_with(&options).await?;
    // One transaction, so that a file that another program is making is seen before or after, not in between.
    let mut transaction = connection.begin().await?;
    examine(&mut transaction).await?;
    transaction.rollback().await?;
    Ok(connection.close().await?)
}

/// Lets only the owner read the file, whoever made it.
fn own(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o077 == 0 { Ok(()) } else { fs::set_permissions(path, Permissions::from_mode(0o600)) }
}

fn options(path: &Path, max_pages: Option<u32>) -> SqliteConnectOptions {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY)
        .disable_statement_logging();
    match max_pages {
        Some(pages) => options.pragma("max_page_count", pages.to_string()),
        None => options,
    }
}

/// A change of the journal mode does not wait for the lock as statements do: several programs that make the file at once are
/// waited for here.
async fn prepare_in_turn(options: &SqliteConnectOptions) -> Result<(), SchemaError> {
    for _ in 0..TURNS {
        match prepare(options).await {
            Err(SchemaError::Sql(error)) if fault::is_busy(&error) => tokio::time::sleep(TURN).await,
            done => return done,
        }
    }
    prepare(options).await
}

async fn prepare(options: &SqliteConnectOptions) -> Result<(), SchemaError> {
    let mut connection = SqliteConnection::connect_with(options).await?;
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    migrate(&mut transaction).await?;
    transaction.commit().await?;
    Ok(connection.close().await?)
}

fn refused(path: &Path, error: SchemaError) -> OpenError {
    let path = path.to_owned();
    match error {
        SchemaError::Foreign => OpenError::Foreign { path },
        SchemaError::Newer { found, known } => OpenError::NewerSchema { path, found, known },
        SchemaError::Sql(error) => OpenError::Unusable { path, reason: fault::reason(&error) },
    }
}
