//! Writes results into a table within a transaction: each against what the table knows of its key.
//!
//! A retraction leaves behind that its key's row was taken back, and in which version. Without that the table would depend on
//! the order of its writers: a backfill that comes after a retraction would put a row there that newer truth has taken
//! back, and one that comes before it would not. What is left behind is a key and its version, and goes when the key gets a
//! row again.

use rusqlite::{OptionalExtension, Statement, Transaction, params, params_from_iter};
use tidegate_types::{PaneOp, Stamping, Version};

use crate::layout::Layout;
use crate::results::Results;
use crate::row::{self, Written, integer};
use crate::version::{self, Known, Verdict};

/// Writes the results of one start of a job.
pub(crate) struct TableWriter<'a> {
    layout: &'a Layout,
    stamping: Stamping,
    writer: i64,
    /// The number of the last change.
    changed: i64,
    known_row: Statement<'a>,
    upsert: Statement<'a>,
    delete_row: Statement<'a>,
    gone: Option<Gone<'a>>,
}

/// The keys whose row was taken back.
struct Gone<'a> {
    known: Statement<'a>,
    put: Statement<'a>,
    delete: Statement<'a>,
}

impl<'a> TableWriter<'a> {
    pub(crate) fn new(
        transaction: &'a Transaction<'_>,
        layout: &'a Layout,
        stamping: Stamping,
        writer: i64,
        changed: i64,
    ) -> rusqlite::Result<Self> {
        let gone = match layout.known_gone() {
            None => None,
            Some(known) => Some(Gone {
                known: transaction.prepare(&known)?,
                put: transaction.prepare(&layout.put_gone())?,
                delete: transaction.prepare(&layout.delete_gone())?,
            }),
        };
        Ok(Self {
            layout,
            stamping,
            writer,
            changed,
            known_row: transaction.prepare(&layout.known_row())?,
            upsert: transaction.prepare(&layout.upsert())?,
            delete_row: transaction.prepare(&layout.delete_row())?,
            gone,
        })
    }

    /// Writes results in order, and gives the number of the last change.
    pub(crate) fn write(mut self, batches: &[Results]) -> rusqlite::Result<i64> {
        for results in batches {
            for row in 0..results.len() {
                let key = row::key(self.layout, results, row);
                match results.op(row) {
                    PaneOp::Insert => self.insert(results, row, &key)?,
                    PaneOp::Retract => self.retract(results, row, &key)?,
                }
            }
        }
        Ok(self.changed)
    }

    fn insert(&mut self, results: &Results, row: usize, key: &[u8]) -> rusqlite::Result<()> {
        let version = self.stamping.version(results.index(row));
        let known = self.known(results, row, key)?;
        if version::insert(known, version) == Verdict::Yields {
            return Ok(());
        }
        self.changed += 1;
        let written = Written { key, version, changed: self.changed, writer: self.writer };
        let values = row::values(results, row, &written);
        self.upsert.execute(params_from_iter(row::bound(&values)))?;
        match &mut self.gone {
            Some(gone) if known.is_some_and(|known| !known.is_there) => gone.delete.execute([key]).map(drop),
            _ => Ok(()),
        }
    }

    fn retract(&mut self, results: &Results, row: usize, key: &[u8]) -> rusqlite::Result<()> {
        let version = self.stamping.version(results.index(row));
        let known = self.known(results, row, key)?;
        if version::retract(known, version) == Verdict::Yields {
            return Ok(());
        }
        if known.is_some_and(|known| known.is_there) {
            self.delete_row.execute([key])?;
        }
        let Some(gone) = &mut self.gone else { return Ok(()) };
        let (start, end) = row::window(results.window(row));
        let Version { precedence, restore_epoch, pane_index } = version;
        gone.put.execute(params![key, start, end, integer(pane_index), precedence, integer(restore_epoch)]).map(drop)
    }

    /// What the table knows of a key: its row, or that it was taken back.
    fn known(&mut self, results: &Results, row: usize, key: &[u8]) -> rusqlite::Result<Option<Known>> {
        let window = row::window(results.window(row));
        if let Some(known) = asked(&mut self.known_row, key, &window, true)? {
            return Ok(Some(known));
        }
        match &mut self.gone {
            Some(gone) => asked(&mut gone.known, key, &window, false),
            None => Ok(None),
        }
    }
}

fn asked(
    statement: &mut Statement<'_>,
    key: &[u8],
    (start, end): &(Option<String>, Option<String>),
    is_there: bool,
) -> rusqlite::Result<Option<Known>> {
    let read = |row: &rusqlite::Row<'_>| {
        let version = Version {
            precedence: row.get(0)?,
            restore_epoch: u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0),
            pane_index: u64::try_from(row.get::<_, i64>(2)?).unwrap_or(0),
        };
        Ok(Known { version, same_window: row.get(3)?, is_there })
    };
    statement.query_row(params![key, start, end], read).optional()
}
