//! The database: its families, and the one way in which it is written.
//!
//! Invariant: what `write` returned `Ok` for is on the disk. Once it has failed it is never called again (the writer stops):
//! after a failed sync nobody can say what is there.

use std::path::{Path, PathBuf};

use rocksdb::{
    Cache, ColumnFamily, ColumnFamilyDescriptor, DB, DBRawIterator, Options, ReadOptions, WriteBatch, WriteOptions,
};

use crate::error::OpenError;
use crate::format::{FORMAT, keys};
use crate::options::{self, RocksOptions};

const RECORDS: &str = "records";
const METADATA: &str = "metadata";
const PRODUCERS: &str = "producers";
const STAGED: &str = "staged";

/// The database.
pub(crate) struct Store {
    db: DB,
    path: PathBuf,
}

impl Store {
    /// Opens it, or makes it, and checks its format.
    pub(crate) fn open(path: &Path, options: &RocksOptions) -> Result<Self, OpenError> {
        Self::open_with(path, options, &options::database(options))
    }

    fn open_with(path: &Path, options: &RocksOptions, database: &Options) -> Result<Self, OpenError> {
        let failed = |error| OpenError::of_rocksdb(path.to_owned(), error);
        let cache = Cache::new_lru_cache(options.cache_bytes);
        let families = [
            // The database insists on a default family; nothing is in it.
            ColumnFamilyDescriptor::new("default", options::small(&cache)),
            ColumnFamilyDescriptor::new(RECORDS, options::records(options, &cache)),
            ColumnFamilyDescriptor::new(STAGED, options::records(options, &cache)),
            ColumnFamilyDescriptor::new(METADATA, options::small(&cache)),
            ColumnFamilyDescriptor::new(PRODUCERS, options::small(&cache)),
        ];
        let db = DB::open_cf_descriptors(database, path, families).map_err(failed)?;
        let store = Self { db, path: path.to_owned() };
        store.check_format()?;
        Ok(store)
    }

    fn check_format(&self) -> Result<(), OpenError> {
        let path = || self.path.clone();
        let failed = |error| OpenError::of_rocksdb(path(), error);
        match self.db.get_cf(self.metadata(), keys::FORMAT_VERSION).map_err(failed)?.as_deref() {
            Some([FORMAT]) => Ok(()),
            Some([found]) => Err(OpenError::Format { path: path(), found: *found, known: FORMAT }),
            Some(_) => Err(self.corrupt("the format's version", "it is not one byte")),
            None => {
                let mut batch = WriteBatch::default();
                batch.put_cf(self.metadata(), keys::FORMAT_VERSION, [FORMAT]);
                self.write(batch).map_err(failed)
            }
        }
    }

    /// What is damaged, as an error of opening.
    pub(crate) fn corrupt(&self, what: impl Into<String>, detail: impl ToString) -> OpenError {
        OpenError::Corrupt { path: self.path.clone(), what: what.into(), detail: detail.to_string() }
    }

    /// A failure of the database, as an error of opening.
    pub(crate) fn failed(&self, error: rocksdb::Error) -> OpenError {
        OpenError::of_rocksdb(self.path.clone(), error)
    }

    pub(crate) fn records(&self) -> &ColumnFamily {
        self.family(RECORDS)
    }

    pub(crate) fn metadata(&self) -> &ColumnFamily {
        self.family(METADATA)
    }

    pub(crate) fn producers(&self) -> &ColumnFamily {
        self.family(PRODUCERS)
    }

    /// The records of transactions.
    pub(crate) fn staged(&self) -> &ColumnFamily {
        self.family(STAGED)
    }

    fn family(&self, name: &str) -> &ColumnFamily {
        self.db.cf_handle(name).expect("every family was opened")
    }

    /// Writes a batch, whole, and syncs it.
    pub(crate) fn write(&self, batch: WriteBatch) -> Result<(), rocksdb::Error> {
        let mut options = WriteOptions::default();
        options.set_sync(true);
        self.db.write_opt(batch, &options)
    }

    pub(crate) fn get_metadata(&self, key: &[u8]) -> Result<Option<Vec<u8>>, rocksdb::Error> {
        self.db.get_cf(self.metadata(), key)
    }

    /// Everything in a family from `lower` to below `upper`, as it stands now; positioned at the first.
    pub(crate) fn range(&self, family: &ColumnFamily, lower: &[u8], upper: Vec<u8>, keep: bool) -> DBRawIterator<'_> {
        let mut options = ReadOptions::default();
        options.set_iterate_upper_bound(upper);
        options.fill_cache(keep);
        let mut iterator = self.db.raw_iterator_cf_opt(family, options);
        iterator.seek(lower);
        iterator
    }

    /// Gives back the files that hold nothing but records from `lower` to `upper`, which have been deleted.
    pub(crate) fn free_records(&self, lower: &[u8], upper: &[u8]) -> Result<(), rocksdb::Error> {
        self.db.delete_file_in_range_cf(self.records(), lower, upper)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use rocksdb::statistics::Ticker;

    use super::*;

    /// Counts how often the write-ahead log was synced.
    pub(crate) struct Syncs(Options);

    impl Syncs {
        pub(crate) fn count(&self) -> u64 {
            self.0.get_ticker_count(Ticker::WalFileSynced)
        }
    }

    /// A store that counts its syncs.
    pub(crate) fn counting(path: &Path) -> (Store, Syncs) {
        let options = RocksOptions::default();
        let mut database = options::database(&options);
        database.enable_statistics();
        let store = Store::open_with(path, &options, &database).unwrap();
        (store, Syncs(database))
    }

    #[test]
    fn every_write_is_synced() {
        let folder = tempfile::tempdir().unwrap();
        let (store, syncs) = counting(folder.path());
        let before = syncs.count();
        for number in 0..5_u8 {
            let mut batch = WriteBatch::default();
            batch.put_cf(store.metadata(), [b'x', number], [number]);
            store.write(batch).unwrap();
        }
        assert_eq!(syncs.count() - before, 5);
    }
}
