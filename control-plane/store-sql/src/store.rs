//! The store: each question one statement, each commit one transaction.
//!
//! Invariant: a commit begins with `BEGIN IMMEDIATE`, so it holds the write lock before its first comparison; no other commit
//! happens between its comparisons and its end.

use std::collections::BTreeMap;
use std::path::Path;

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};
use tidegate_store::{
    Change, Document, Entry, Expect, MAX_ENTRIES, MetaStore, StoreError, check_changes, check_entries, check_list,
    check_name,
};

use crate::fault::store_error;
use crate::open::{OpenError, Pools, open};

/// The metadata store in one SQLite file. Several handles, also of several processes, may use a file at once.
pub struct SqlStore {
    pools: Pools,
}

impl SqlStore {
    /// Opens the file, or makes it (mode 0600); moves an older schema forward.
    ///
    /// # Errors
    /// [`OpenError`]: the file can not be used, is another program's, or a newer Tidegate's.
    pub async fn open(path: &Path) -> Result<Self, OpenError> {
        Ok(Self { pools: open(path, None).await? })
    }

    /// Opens a file that can not grow beyond so many pages of 4 KiB.
    #[cfg(test)]
    pub(crate) async fn open_bounded(path: &Path, max_pages: u32) -> Result<Self, OpenError> {
        Ok(Self { pools: open(path, Some(max_pages)).await? })
    }

    /// Ends all connections; what is asked later is `Unavailable`. Commits are durable without it.
    pub async fn close(&self) {
        self.pools.readers.close().await;
        self.pools.writer.close().await;
    }
}

#[async_trait]
impl MetaStore for SqlStore {
    async fn get(&self, kind: &str, path: &str) -> Result<Option<Document>, StoreError> {
        check_name(kind, path)?;
        let row = sqlx::query("SELECT path, version, body FROM documents WHERE kind = ? AND path = ?")
            .bind(kind)
            .bind(path)
            .fetch_optional(&self.pools.readers)
            .await
            .map_err(|error| store_error(&error))?;
        row.as_ref().map(document).transpose()
    }

    async fn list(
        &self,
        kind: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Document>, StoreError> {
        check_list(kind, prefix, limit)?;
        // Paths are printable ASCII: everything with the prefix lies below the prefix and DEL.
        let rows = sqlx::query(
            "SELECT path, version, body FROM documents \
             WHERE kind = ? AND path >= ? AND path < ? AND path > ? ORDER BY path LIMIT ?",
        )
        .bind(kind)
        .bind(prefix)
        .bind(format!("{prefix}\u{7f}"))
        .bind(after.unwrap_or(""))
        .bind(row_count(limit))
        .fetch_all(&self.pools.readers)
        .await
        .map_err(|error| store_error(&error))?;
        rows.iter().map(document).collect()
    }

    async fn commit(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        check_changes(&changes)?;
        let sql = |error| store_error(&error);
        let mut transaction = self.pools.writer.begin_with("BEGIN IMMEDIATE").await.map_err(sql)?;
        let number = next_number(&mut transaction).await.map_err(sql)?;
        for change in &changes {
            // On an error the transaction is dropped, which rolls it back.
            make(&mut transaction, change, number).await?;
        }
        for (trail, added) in added(&changes) {
            bound(&mut transaction, trail, added).await.map_err(sql)?;
        }
        transaction.commit().await.map_err(sql)
    }

    async fn entries(&self, trail: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        check_entries(trail, limit)?;
        // No entry has a position beyond what SQLite can hold.
        let Ok(after) = i64::try_from(after) else { return Ok(Vec::new()) };
        let rows =
            sqlx::query("SELECT position, body FROM audit WHERE trail = ? AND position > ? ORDER BY position LIMIT ?")
                .bind(trail)
                .bind(after)
                .bind(row_count(limit))
                .fetch_all(&self.pools.readers)
                .await
                .map_err(|error| store_error(&error))?;
        rows.iter().map(entry).collect()
    }
}

/// The number of this commit.
async fn next_number(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    sqlx::query("UPDATE commits SET number = number + 1 RETURNING number").fetch_one(connection).await?.try_get(0)
}

async fn make(connection: &mut SqliteConnection, change: &Change, number: i64) -> Result<(), StoreError> {
    let statement = match change {
        Change::Put { kind, path, body, expect } => {
            check(connection, kind, path, *expect).await?;
            sqlx::query("INSERT OR REPLACE INTO documents (kind, path, version, body) VALUES (?, ?, ?, ?)")
                .bind(kind)
                .bind(path)
                .bind(number)
                .bind(body.to_string())
        }
        Change::Delete { kind, path, expect } => {
            check(connection, kind, path, *expect).await?;
            sqlx::query("DELETE FROM documents WHERE kind = ? AND path = ?").bind(kind).bind(path)
        }
        Change::Append { trail, body } => {
            sqlx::query("INSERT INTO audit (trail, body) VALUES (?, ?)").bind(trail).bind(body.to_string())
        }
    };
    statement.execute(connection).await.map(drop).map_err(|error| store_error(&error))
}

/// How many entries each trail gets.
fn added(changes: &[Change]) -> BTreeMap<&str, i64> {
    let mut added = BTreeMap::new();
    for change in changes {
        if let Change::Append { trail, .. } = change {
            *added.entry(trail.as_str()).or_default() += 1;
        }
    }
    added
}

/// Counts the entries that a trail got, and drops as many of its oldest as are too many. Each delete leaves the count as it
/// was before: the file's own trigger compares it.
async fn bound(connection: &mut SqliteConnection, trail: &str, added: i64) -> Result<(), sqlx::Error> {
    const COUNT: &str = "INSERT INTO trails (trail, entries) VALUES (?, ?) \
                         ON CONFLICT (trail) DO UPDATE SET entries = entries + excluded.entries RETURNING entries";
    const DROP: &str = "DELETE FROM audit WHERE trail = ? AND position <= \
                        (SELECT position FROM audit WHERE trail = ? ORDER BY position LIMIT 1 OFFSET ?)";
    let count = |change: i64| sqlx::query(COUNT).bind(trail).bind(change);
    let entries: i64 = count(added).fetch_one(&mut *connection).await?.try_get(0)?;
    let excess = entries - row_count(MAX_ENTRIES);
    if excess <= 0 {
        return Ok(());
    }
    sqlx::query(DROP).bind(trail).bind(trail).bind(excess - 1).execute(&mut *connection).await?;
    count(-excess).fetch_one(connection).await.map(drop)
}

/// Compares what is there with what a change expects.
async fn check(connection: &mut SqliteConnection, kind: &str, path: &str, expect: Expect) -> Result<(), StoreError> {
    if expect == Expect::Any {
        return Ok(());
    }
    let row = sqlx::query("SELECT version FROM documents WHERE kind = ? AND path = ?")
        .bind(kind)
        .bind(path)
        .fetch_optional(connection)
        .await
        .map_err(|error| store_error(&error))?;
    let version = row.as_ref().map(|row| whole(row, "version")).transpose()?;
    if expect.meets(version) {
        return Ok(());
    }
    Err(StoreError::Conflict { kind: kind.to_owned(), path: path.to_owned() })
}

fn document(row: &SqliteRow) -> Result<Document, StoreError> {
    let path: String = column(row, "path")?;
    let body = json(row, || format!("the document `{path}`"))?;
    Ok(Document { version: whole(row, "version")?, body, path })
}

fn entry(row: &SqliteRow) -> Result<Entry, StoreError> {
    let position = whole(row, "position")?;
    Ok(Entry { position, body: json(row, || format!("the entry at position {position}"))? })
}

fn json(row: &SqliteRow, what: impl Fn() -> String) -> Result<serde_json::Value, StoreError> {
    let text: &str = column(row, "body")?;
    serde_json::from_str(text)
        .map_err(|error| StoreError::Corrupt { reason: format!("{} is no JSON: {error}", what()) })
}

fn whole(row: &SqliteRow, name: &'static str) -> Result<u64, StoreError> {
    let number: i64 = column(row, name)?;
    u64::try_from(number).map_err(|_| StoreError::Corrupt { reason: format!("the {name} {number} is negative") })
}

fn column<'r, T>(row: &'r SqliteRow, name: &'static str) -> Result<T, StoreError>
where
    T: sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
{
    row.try_get(name).map_err(|error| store_error(&error))
}

fn row_count(limit: usize) -> i64 {
    i64::try_from(limit).expect("the limit was checked")
}

#[cfg(test)]
mod tests;
