//! The file's schema: marked as ours, versioned, and moved forward.
//!
//! Invariant: a program writes only a file whose schema it knows. A file of a newer program is refused before anything is
//! written, and so is a database of another program. Each step forward happens in the transaction that reads the version, so
//! of two programs that start at once one migrates and the other finds it done.

use sqlx::{AssertSqlSafe, Row, SqliteConnection};

/// Marks a file as a metadata store: the bytes `TdGt` in SQLite's application id.
const APPLICATION: i64 = 0x5464_4774;

/// What leads from version n to n + 1, for n = 0, 1, …. Never changed once released; only added to.
const STEPS: [&str; 2] = [FIRST, BOUNDED_TRAILS];

const FIRST: &str = "
    CREATE TABLE documents (
        kind TEXT NOT NULL,
        path TEXT NOT NULL,
        version INTEGER NOT NULL CHECK (version > 0),
        body TEXT NOT NULL,
        PRIMARY KEY (kind, path)
    ) STRICT;
    CREATE TABLE commits (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        number INTEGER NOT NULL
    ) STRICT;
    INSERT INTO commits VALUES (1, 0);
    CREATE TABLE audit (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        trail TEXT NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX audit_trail ON audit (trail, position);
    CREATE TRIGGER audit_is_never_updated BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit trail is never changed'); END;
    CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit trail is never deleted'); END;
";

/// How many entries each trail has, so that a commit knows whether the oldest have to go. The number is
/// [`tidegate_store::MAX_ENTRIES`]; a test compares them.
pub(crate) const BOUNDED_TRAILS: &str = "
    CREATE TABLE trails (
        trail TEXT NOT NULL PRIMARY KEY,
        entries INTEGER NOT NULL
    ) STRICT;
    INSERT INTO trails SELECT trail, count(*) FROM audit GROUP BY trail;
    DROP TRIGGER audit_is_never_deleted;
    CREATE TRIGGER audit_loses_only_its_oldest BEFORE DELETE ON audit
        WHEN coalesce((SELECT entries FROM trails WHERE trail = OLD.trail), 0) <= 100000
            OR EXISTS (SELECT 1 FROM audit WHERE trail = OLD.trail AND position < OLD.position)
        BEGIN SELECT RAISE(ABORT, 'of the audit trail only the oldest entries beyond its bound are deleted'); END;
";

/// Why a file is not used.
#[derive(Debug)]
pub(crate) enum SchemaError {
    /// It is another program's database.
    Foreign,
    /// A newer program wrote it.
    Newer {
        /// Its version.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// SQLite says so.
    Sql(sqlx::Error),
}

impl From<sqlx::Error> for SchemaError {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

/// The version of a file that this program may use; 0 for an empty one. Writes nothing.
pub(crate) async fn examine(connection: &mut SqliteConnection) -> Result<i64, SchemaError> {
    let application = number(connection, "PRAGMA application_id").await?;
    let found = number(connection, "PRAGMA user_version").await?;
    let tables = number(connection, "SELECT count(*) FROM sqlite_schema").await?;
    let is_new = application == 0 && found == 0 && tables == 0;
    if (application != APPLICATION && !is_new) || found < 0 {
        return Err(SchemaError::Foreign);
    }
    if found > known() {
        return Err(SchemaError::Newer { found, known: known() });
    }
    Ok(found)
}

/// Brings the file to the newest schema, within a transaction that the caller has begun and will commit.
pub(crate) async fn migrate(connection: &mut SqliteConnection) -> Result<(), SchemaError> {
    let found = examine(connection).await?;
    if found == known() {
        return Ok(());
    }
    let done = usize::try_from(found).expect("versions are not negative");
    for step in &STEPS[done..] {
        sqlx::raw_sql(*step).execute(&mut *connection).await?;
    }
    set(connection, "application_id", APPLICATION).await?;
    set(connection, "user_version", known()).await?;
    Ok(())
}

fn known() -> i64 {
    i64::try_from(STEPS.len()).expect("a few steps")
}

async fn number(connection: &mut SqliteConnection, question: &'static str) -> Result<i64, sqlx::Error> {
    sqlx::query(question).fetch_one(connection).await?.try_get(0)
}

/// Pragmas take no parameters; the names and numbers are constants of this file.
async fn set(connection: &mut SqliteConnection, pragma: &'static str, value: i64) -> Result<(), sqlx::Error> {
    let statement = AssertSqlSafe(format!("PRAGMA {pragma} = {value}"));
    sqlx::raw_sql(statement).execute(connection).await.map(drop)
}
