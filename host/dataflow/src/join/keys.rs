//! The keys of kept rows: encoded once, known by a small number.
//!
//! Invariant: a key is here exactly as long as a row of it is kept; without keys, no memory is held.

use hashbrown::HashTable;
use tidegate_types::EventTime;
use tidegate_types::batch::{index, index32};

/// A key's number; free again once no row of the key is kept.
pub(super) type KeyId = u32;

#[derive(Debug, Default)]
pub(super) struct KeyTable {
    table: HashTable<KeyId>,
    entries: Vec<KeyEntry>,
    free: Vec<KeyId>,
    /// Bytes of the keys themselves.
    encoded_bytes: u64,
}

#[derive(Debug, Default)]
struct KeyEntry {
    hash: u64,
    encoded: Box<[u8]>,
    rows: u64,
    /// The start of the key's next window to fire: window joins only.
    due: Option<EventTime>,
}

impl KeyTable {
    /// The number of a known key.
    pub(super) fn find(&self, hash: u64, encoded: &[u8]) -> Option<KeyId> {
        self.table.find(hash, |id| &*self.entries[index(*id)].encoded == encoded).copied()
    }

    /// The number of a key, known or new, for one more row of it.
    pub(super) fn add_row(&mut self, hash: u64, encoded: &[u8]) -> KeyId {
        let id = self.find(hash, encoded).unwrap_or_else(|| self.add(hash, encoded));
        self.entries[index(id)].rows += 1;
        id
    }

    fn add(&mut self, hash: u64, encoded: &[u8]) -> KeyId {
        let entry = KeyEntry { hash, encoded: encoded.into(), ..KeyEntry::default() };
        self.encoded_bytes += encoded.len() as u64;
        let id = match self.free.pop() {
            Some(id) => {
                self.entries[index(id)] = entry;
                id
            }
            None => {
                self.entries.push(entry);
                index32(self.entries.len() - 1)
            }
        };
        let entries = &self.entries;
        self.table.insert_unique(hash, id, |id| entries[index(*id)].hash);
        id
    }

    /// A row of the key is kept no longer; the last one takes the key with it.
    pub(super) fn remove_row(&mut self, id: KeyId) {
        let entry = &mut self.entries[index(id)];
        entry.rows -= 1;
        if entry.rows > 0 {
            return;
        }
        let KeyEntry { hash, encoded, due, .. } = std::mem::take(entry);
        debug_assert!(due.is_none(), "a window that is to fire has rows");
        self.encoded_bytes -= encoded.len() as u64;
        if let Ok(found) = self.table.find_entry(hash, |other| *other == id) {
            found.remove();
        }
        self.free.push(id);
        if self.table.is_empty() {
            *self = Self::default();
        }
    }

    /// The key's bytes.
    pub(super) fn encoded(&self, id: KeyId) -> &[u8] {
        &self.entries[index(id)].encoded
    }

    /// The hash of the key's bytes.
    pub(super) fn hash(&self, id: KeyId) -> u64 {
        self.entries[index(id)].hash
    }

    /// The start of the key's next window to fire.
    pub(super) fn due(&self, id: KeyId) -> Option<EventTime> {
        self.entries[index(id)].due
    }

    pub(super) fn set_due(&mut self, id: KeyId, due: Option<EventTime>) {
        self.entries[index(id)].due = due;
    }

    /// The number of keys with kept rows.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Bytes of the keys with kept rows: their entries, their allocations, and a table that is half full.
    pub(super) fn state_bytes(&self) -> u64 {
        let each = size_of::<KeyEntry>() + 16 + 2 * (size_of::<KeyId>() + 1);
        self.encoded_bytes + self.len() as u64 * each as u64
    }
}
