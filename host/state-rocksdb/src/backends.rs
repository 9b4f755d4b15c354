//! Makes databases, empty or from snapshots.
//!
//! A snapshot of exactly the wanted key groups is linked: the database goes on with its files. Otherwise the wanted entries
//! are read out of the snapshots and written in order into files of the new database's own.

use std::fs;
use std::ops::Range;
use std::path::Path;

use rocksdb::{DB, Options};
use tidegate_state::{SnapshotPart, StateBackend, StateBackends, StateError, disjoint, empty_folder};

use crate::backend::RocksBackend;
use crate::error::failed;
use crate::fill::fill;
use crate::listing;
use crate::options::{RocksOptions, database};

/// Keeps state in RocksDB. What it makes shares memory and threads; a process has one.
pub struct RocksBackends {
    options: Options,
}

impl RocksBackends {
    /// With so much memory.
    ///
    /// # Panics
    /// If RocksDB does not know one of its options.
    #[must_use]
    pub fn new(options: &RocksOptions) -> Self {
        Self { options: database(options).expect("the options are those of this release of RocksDB") }
    }

    fn open(&self, folder: &Path, new: bool) -> Result<RocksBackend, StateError> {
        let mut options = self.options.clone();
        options.create_if_missing(new);
        options.set_error_if_exists(new);
        let db = DB::open(&options, folder).map_err(|error| failed(folder, "open the database", error))?;
        Ok(RocksBackend { db, folder: folder.to_owned() })
    }
}

impl StateBackends for RocksBackends {
    fn create(&self, folder: &Path) -> Result<Box<dyn StateBackend>, StateError> {
        empty_folder(folder)?;
        Ok(Box::new(self.open(folder, true)?))
    }

    fn restore(
        &self,
        folder: &Path,
        parts: &[SnapshotPart],
        groups: Range<u32>,
    ) -> Result<Box<dyn StateBackend>, StateError> {
        empty_folder(folder)?;
        if let [part] = parts
            && part.groups == groups
        {
            link(&part.folder, folder)?;
            return Ok(Box::new(self.open(folder, false)?));
        }
        let parts = disjoint(parts, &groups)?;
        let backend = self.open(folder, true)?;
        let mut opened = Vec::new();
        for (part, groups) in parts {
            listing::check(&part.folder)?;
            let db = DB::open_for_read_only(&self.options, &part.folder, false);
            let db = db.map_err(|error| failed(&part.folder, "open the snapshot", error))?;
            opened.push((RocksBackend { db, folder: part.folder.clone() }, groups));
        }
        fill(&backend, &self.options, &opened)?;
        Ok(Box::new(backend))
    }
}

/// Makes a snapshot's files those of a folder: tables by links, or by copies where links fail (another file system).
fn link(from: &Path, to: &Path) -> Result<(), StateError> {
    for file in listing::check(from)? {
        let (old, new) = (from.join(&file.name), to.join(&file.name));
        let linked = file.checksum.is_none() && fs::hard_link(&old, &new).is_ok();
        if !linked {
            fs::copy(&old, &new).map_err(|error| StateError::io(&new, "copy a file of the snapshot", error))?;
        }
    }
    Ok(())
}
