//! Fills a new database with the entries of some key groups of some snapshots.
//!
//! Invariant: entries are taken namespace by namespace, and of each in the order of the snapshots' key groups, which are
//! disjoint: so they come in the order of their keys, as files of the database's own want it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use rocksdb::{IngestExternalFileOptions, Options, SstFileWriter};
use tidegate_state::{Namespace, StateError, range_of};

use crate::backend::{RocksBackend, range};
use crate::error::failed;
use crate::options::FILE;

/// Bytes of keys and values that go into a file, before compression.
const FILE_CONTENT: usize = 64 << 20;

/// Fills an empty database. The parts are in the order of their key groups.
pub(crate) fn fill(
    into: &RocksBackend,
    options: &Options,
    parts: &[(RocksBackend, Range<u32>)],
) -> Result<(), StateError> {
    let mut namespaces = BTreeSet::new();
    for (part, _) in parts {
        find_namespaces(part, &mut namespaces)?;
    }
    let mut files = Files { into, options, done: Vec::new(), writer: None };
    for namespace in namespaces {
        for (part, groups) in parts {
            let (from, to) = range_of(Namespace(namespace), groups);
            let mut iterator = range(&part.db, &from, to.as_deref());
            while let Some((key, value)) = iterator.item() {
                files.put(key, value)?;
                iterator.next();
            }
            iterator.status().map_err(|error| failed(&part.folder, "read entries", error))?;
        }
    }
    files.finish()
}

/// Steps from the first entry of a namespace to the first behind it.
fn find_namespaces(part: &RocksBackend, found: &mut BTreeSet<u8>) -> Result<(), StateError> {
    let mut iterator = range(&part.db, &[], None);
    while let Some(namespace) = iterator.key().and_then(|key| key.first().copied()) {
        found.insert(namespace);
        match namespace.checked_add(1) {
            Some(next) => iterator.seek([next]),
            None => break,
        }
    }
    iterator.status().map_err(|error| failed(&part.folder, "read entries", error))
}

/// Files that are being written beside the database's, and become its own at the end.
struct Files<'a> {
    into: &'a RocksBackend,
    options: &'a Options,
    done: Vec<PathBuf>,
    writer: Option<(SstFileWriter<'a>, usize)>,
}

impl Files<'_> {
    fn failed(&self, error: rocksdb::Error) -> StateError {
        failed(&self.into.folder, "write entries", error)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), StateError> {
        let (writer, content) = match &mut self.writer {
            Some(open) => open,
            none => {
                let path = self.into.folder.join(format!("restored-{}", self.done.len()));
                let writer = SstFileWriter::create(self.options);
                writer.open(&path).map_err(|error| failed(&path, "write entries", error))?;
                self.done.push(path);
                none.insert((writer, 0))
            }
        };
        *content += key.len() + value.len();
        let full = *content >= FILE_CONTENT || writer.file_size() >= FILE;
        let put = writer.put(key, value);
        put.map_err(|error| self.failed(error))?;
        if full { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> Result<(), StateError> {
        let Some((mut writer, _)) = self.writer.take() else { return Ok(()) };
        writer.finish().map_err(|error| self.failed(error))
    }

    fn finish(mut self) -> Result<(), StateError> {
        self.close()?;
        if self.done.is_empty() {
            return Ok(());
        }
        let mut options = IngestExternalFileOptions::default();
        options.set_move_files(true);
        let paths = std::mem::take(&mut self.done);
        self.into.db.ingest_external_file_opts(&options, paths).map_err(|error| self.failed(error))
    }
}
