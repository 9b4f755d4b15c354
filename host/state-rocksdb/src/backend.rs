//! One database: the entries of one subtask.

use std::fs;
use std::path::{Path, PathBuf};

use rocksdb::checkpoint::Checkpoint;
use rocksdb::{DB, DBRawIterator, ReadOptions, WriteBatch, WriteOptions};
use tidegate_state::{Changes, StateBackend, StateError, StateFile, Visit};

use crate::error::failed;
use crate::listing;

/// A subtask's entries.
pub(crate) struct RocksBackend {
    pub(crate) db: DB,
    pub(crate) folder: PathBuf,
}

impl RocksBackend {
    fn failed(&self, doing: &'static str) -> impl Fn(rocksdb::Error) -> StateError {
        move |error| failed(&self.folder, doing, error)
    }

    fn number(&self, property: &str) -> Result<u64, StateError> {
        let number = self.db.property_int_value(property).map_err(self.failed("ask how large it is"))?;
        Ok(number.expect("RocksDB knows its own properties"))
    }
}

impl StateBackend for RocksBackend {
    fn apply(&self, changes: &Changes) -> Result<(), StateError> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut batch = WriteBatch::default();
        for (key, value) in changes.iter() {
            match value {
                Some(value) => batch.put(key, value),
                None => batch.delete(key),
            }
        }
        let mut options = WriteOptions::default();
        options.disable_wal(true);
        self.db.write_opt(batch, &options).map_err(self.failed("write changes"))
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        self.db.get(key).map_err(self.failed("read an entry"))
    }

    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        let values = self.db.multi_get(keys).into_iter();
        values.map(|value| value.map_err(self.failed("read entries"))).collect()
    }

    fn scan(&self, from: &[u8], to: Option<&[u8]>, visit: Visit<'_>) -> Result<(), StateError> {
        let mut iterator = range(&self.db, from, to);
        while let Some((key, value)) = iterator.item() {
            if visit(key, value).is_break() {
                return Ok(());
            }
            iterator.next();
        }
        iterator.status().map_err(self.failed("read entries"))
    }

    fn snapshot(&self, folder: &Path) -> Result<Vec<StateFile>, StateError> {
        if let Some(above) = folder.parent() {
            fs::create_dir_all(above).map_err(|error| StateError::io(above, "make the folder", error))?;
        }
        let doing = "take a snapshot";
        let checkpoint = Checkpoint::new(&self.db).map_err(|error| failed(folder, doing, error))?;
        checkpoint.create_checkpoint(folder).map_err(|error| failed(folder, doing, error))?;
        listing::write(folder)
    }

    fn bytes(&self) -> Result<u64, StateError> {
        Ok(self.number("rocksdb.live-sst-files-size")? + self.number("rocksdb.size-all-mem-tables")?)
    }
}

/// The entries from `from` up to `to`, positioned at the first. What is read once, in order, is not kept in the cache.
pub(crate) fn range<'a>(db: &'a DB, from: &[u8], to: Option<&[u8]>) -> DBRawIterator<'a> {
    let mut options = ReadOptions::default();
    if let Some(to) = to {
        options.set_iterate_upper_bound(to);
    }
    options.fill_cache(false);
    let mut iterator = db.raw_iterator_opt(options);
    // Bounds in the wrong order hold nothing, which the database takes for granted.
    if to.is_none_or(|to| from < to) {
        iterator.seek(from);
    }
    iterator
}
