//! State in memory: for tests, and for jobs whose state is small. A snapshot is one file, written anew each time.
//!
//! The file, a stored format: `TGSTATE` and a version, the number of entries, each key and value after its length, and the
//! XXH3-128 of everything before it (little-endian). Nothing of it is used unless that is right.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::ops::{Bound, Range};
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use tidegate_types::stored::{Malformed, Read, Stored, put_bytes, put_len};
use xxhash_rust::xxh3::xxh3_128;

use crate::backend::{SnapshotPart, StateBackend, StateBackends, StateError, StateFile, Visit};
use crate::changes::Changes;
use crate::folder::{empty_folder, sync_folder};
use crate::layout::group_of;
use crate::parts::disjoint;

/// The one file of a snapshot.
const FILE: &str = "entries";
/// What it begins with: its kind and version.
const MAGIC: &[u8; 8] = b"TGSTATE\x01";
const CHECKSUM_BYTES: usize = 16;

/// Keeps state in memory. A backend's folder stays empty.
#[derive(Debug, Default, Clone, Copy)]
pub struct MemoryBackends;

type Entries = BTreeMap<Box<[u8]>, Box<[u8]>>;

#[derive(Debug, Default)]
struct Memory(RwLock<Entries>);

impl StateBackends for MemoryBackends {
    fn create(&self, folder: &Path) -> Result<Box<dyn StateBackend>, StateError> {
        empty_folder(folder)?;
        Ok(Box::new(Memory::default()))
    }

    fn restore(
        &self,
        folder: &Path,
        parts: &[SnapshotPart],
        groups: Range<u32>,
    ) -> Result<Box<dyn StateBackend>, StateError> {
        empty_folder(folder)?;
        let mut entries = Entries::new();
        for (part, groups) in disjoint(parts, &groups)? {
            load(&part.folder.join(FILE), &groups, &mut entries)?;
        }
        Ok(Box::new(Memory(RwLock::new(entries))))
    }
}

impl Memory {
    fn entries(&self) -> RwLockReadGuard<'_, Entries> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StateBackend for Memory {
    fn apply(&self, changes: &Changes) -> Result<(), StateError> {
        let mut entries = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for (key, value) in changes.iter() {
            match value {
                Some(value) => drop(entries.insert(key.into(), value.into())),
                None => drop(entries.remove(key)),
            }
        }
        Ok(())
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.entries().get(key).map(|value| value.to_vec()))
    }

    fn scan(&self, from: &[u8], to: Option<&[u8]>, visit: Visit<'_>) -> Result<(), StateError> {
        if to.is_some_and(|to| to <= from) {
            return Ok(());
        }
        let bounds = (Bound::Included(from), to.map_or(Bound::Unbounded, Bound::Excluded));
        for (key, value) in self.entries().range::<[u8], _>(bounds) {
            if visit(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn snapshot(&self, folder: &Path) -> Result<Vec<StateFile>, StateError> {
        let mut bytes = MAGIC.to_vec();
        {
            let entries = self.entries();
            put_len(&mut bytes, entries.len());
            for (key, value) in entries.iter() {
                put_bytes(&mut bytes, key);
                put_bytes(&mut bytes, value);
            }
        }
        bytes.extend_from_slice(&xxh3_128(&bytes).to_le_bytes());
        if let Some(above) = folder.parent() {
            fs::create_dir_all(above).map_err(|error| StateError::io(above, "make the folder", error))?;
        }
        fs::create_dir(folder).map_err(|error| StateError::io(folder, "make the folder", error))?;
        let path = folder.join(FILE);
        let written = fs::File::create_new(&path).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.sync_all()
        });
        written.map_err(|error| StateError::io(&path, "write the snapshot", error))?;
        sync_folder(folder)?;
        Ok(vec![StateFile { name: FILE.into(), bytes: bytes.len() as u64, shared: false }])
    }

    fn bytes(&self) -> Result<u64, StateError> {
        Ok(self.entries().iter().map(|(key, value)| (key.len() + value.len()) as u64).sum())
    }
}

/// Adds a file's entries that are of these groups.
fn load(path: &Path, groups: &Range<u32>, entries: &mut Entries) -> Result<(), StateError> {
    let bytes = fs::read(path).map_err(|error| StateError::io(path, "read the snapshot", error))?;
    let corrupt = |reason: String| StateError::Corrupt { path: path.to_owned(), reason };
    let whole = bytes.len().checked_sub(CHECKSUM_BYTES).map(|end| bytes.split_at(end));
    let Some((content, checksum)) = whole.filter(|(content, _)| content.starts_with(MAGIC)) else {
        return Err(corrupt("it does not begin as a snapshot of this version does".into()));
    };
    if checksum != xxh3_128(content).to_le_bytes() {
        return Err(corrupt("its checksum is another".into()));
    }
    read_entries(&content[MAGIC.len()..], groups, entries).map_err(|error| corrupt(error.to_string()))
}

fn read_entries(content: &[u8], groups: &Range<u32>, entries: &mut Entries) -> Read<()> {
    let mut stored = Stored::new(content);
    for _ in 0..stored.len()? {
        let (key, value) = (stored.bytes()?, stored.bytes()?);
        let (_, group, _) = group_of(key).map_err(|_| Malformed::new("the key group of an entry"))?;
        if groups.contains(&group.0) {
            entries.insert(key.into(), value.into());
        }
    }
    stored.end()
}

#[cfg(test)]
mod tests;
