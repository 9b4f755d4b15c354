//! The keys that have state here: encoded once, known by a small number.
//!
//! Invariant: a key is here exactly as long as a window or an identity refers to it.

use std::collections::VecDeque;

use hashbrown::HashTable;

/// A key's number; free again once nothing refers to the key.
pub(crate) type KeyId = u32;

#[derive(Debug, Default)]
pub(crate) struct KeyTable {
    index: HashTable<KeyId>,
    entries: Vec<KeyEntry>,
    free: Vec<KeyId>,
    /// Bytes of the encoded keys.
    encoded_bytes: usize,
}

#[derive(Debug, Default)]
struct KeyEntry {
    hash: u64,
    encoded: Box<[u8]>,
    references: u64,
    /// The key's kept sessions (slots), in order of start, then end.
    sessions: VecDeque<u32>,
}

impl KeyTable {
    /// The number of a known key.
    pub(crate) fn find(&self, hash: u64, encoded: &[u8]) -> Option<KeyId> {
        self.index.find(hash, |id| &*self.entry(*id).encoded == encoded).copied()
    }

    /// The number of a key, known or new. A new one needs a reference.
    pub(crate) fn find_or_add(&mut self, hash: u64, encoded: &[u8]) -> KeyId {
        if let Some(id) = self.find(hash, encoded) {
            return id;
        }
        let entry = KeyEntry { hash, encoded: encoded.into(), references: 0, sessions: VecDeque::new() };
        self.encoded_bytes += encoded.len();
        let id = match self.free.pop() {
            Some(id) => {
                *self.entry_mut(id) = entry;
                id
            }
            None => {
                self.entries.push(entry);
                tidegate_types::batch::index32(self.entries.len() - 1)
            }
        };
        let entries = &self.entries;
        self.index.insert_unique(hash, id, |id| entries[tidegate_types::batch::index(*id)].hash);
        id
    }

    /// Something refers to the key.
    pub(crate) fn retain(&mut self, id: KeyId) {
        self.entry_mut(id).references += 1;
    }

    /// Something refers to the key no longer; the last one takes the key with it.
    pub(crate) fn release(&mut self, id: KeyId) {
        let entry = self.entry_mut(id);
        entry.references -= 1;
        if entry.references > 0 {
            return;
        }
        let (hash, bytes) = (entry.hash, entry.encoded.len());
        *entry = KeyEntry::default();
        self.encoded_bytes -= bytes;
        if let Ok(found) = self.index.find_entry(hash, |other| *other == id) {
            found.remove();
        }
        self.free.push(id);
    }

    /// The key's hash.
    pub(crate) fn hash(&self, id: KeyId) -> u64 {
        self.entry(id).hash
    }

    /// The key's bytes.
    pub(crate) fn encoded(&self, id: KeyId) -> &[u8] {
        &self.entry(id).encoded
    }

    /// The key's kept sessions, in order of start, then end.
    pub(crate) fn sessions(&self, id: KeyId) -> &VecDeque<u32> {
        &self.entry(id).sessions
    }

    /// The key's kept sessions, to be changed.
    pub(crate) fn sessions_mut(&mut self, id: KeyId) -> &mut VecDeque<u32> {
        &mut self.entry_mut(id).sessions
    }

    /// Bytes of the keys with state, and of what finds them.
    pub(crate) fn bytes(&self) -> u64 {
        let each = size_of::<KeyEntry>() + size_of::<KeyId>();
        (self.encoded_bytes + self.index.len() * each) as u64
    }

    /// The number of keys with state.
    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    fn entry(&self, id: KeyId) -> &KeyEntry {
        &self.entries[tidegate_types::batch::index(id)]
    }

    fn entry_mut(&mut self, id: KeyId) -> &mut KeyEntry {
        &mut self.entries[tidegate_types::batch::index(id)]
    }
}
