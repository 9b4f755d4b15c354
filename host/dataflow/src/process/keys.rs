//! The keys that a processor keeps something of: encoded once, known by a small number.
//!
//! Invariant: between two calls a key is here exactly as long as it holds state or a timer, or its latest time can still
//! matter to a state that it writes later. Without keys, no memory is held.

use hashbrown::HashTable;
use tidegate_types::EventTime;
use tidegate_types::batch::{index, index32};

use super::cell::ALLOCATION;

/// A key's number; free again once the key is forgotten.
pub(super) type KeyId = u32;

/// What is kept of a key besides its state and its timers.
#[derive(Debug, Default)]
pub(super) struct Head {
    hash: u64,
    encoded: Box<[u8]>,
    /// The largest event time of its rows and of its event timers that fired.
    pub(super) latest: Option<EventTime>,
    /// The time under which it stands among the expiries; at or before its next one.
    pub(super) expiry: Option<EventTime>,
    /// The run or the advance that the key takes part in; `group` is its number there.
    pub(super) mark: u64,
    pub(super) group: u32,
}

#[derive(Debug, Default)]
pub(super) struct KeyTable {
    index: HashTable<KeyId>,
    heads: Vec<Head>,
    free: Vec<KeyId>,
    /// Bytes of encoded keys.
    bytes: usize,
}

impl KeyTable {
    /// The number of a key, known or new.
    pub(super) fn find_or_add(&mut self, hash: u64, encoded: &[u8]) -> KeyId {
        let heads = &self.heads;
        let is_it = |id: &KeyId| &*heads[index(*id)].encoded == encoded;
        if let Some(id) = self.index.find(hash, is_it) {
            return *id;
        }
        self.bytes += encoded.len();
        let head = Head { hash, encoded: encoded.into(), ..Head::default() };
        let id = match self.free.pop() {
            Some(id) => {
                self.heads[index(id)] = head;
                id
            }
            None => {
                self.heads.push(head);
                index32(self.heads.len() - 1)
            }
        };
        let heads = &self.heads;
        self.index.insert_unique(hash, id, |id| heads[index(*id)].hash);
        id
    }

    /// Forgets a key.
    pub(super) fn remove(&mut self, id: KeyId) {
        let head = std::mem::take(&mut self.heads[index(id)]);
        self.bytes -= head.encoded.len();
        if let Ok(found) = self.index.find_entry(head.hash, |other| *other == id) {
            found.remove();
        }
        self.free.push(id);
        if self.index.is_empty() {
            *self = Self::default();
        }
    }

    pub(super) fn head(&self, id: KeyId) -> &Head {
        &self.heads[index(id)]
    }

    pub(super) fn head_mut(&mut self, id: KeyId) -> &mut Head {
        &mut self.heads[index(id)]
    }

    /// The hash of the key's bytes.
    pub(super) fn hash(&self, id: KeyId) -> u64 {
        self.head(id).hash
    }

    /// The numbers of all keys.
    pub(super) fn ids(&self) -> impl Iterator<Item = KeyId> {
        self.index.iter().copied()
    }

    /// The key's bytes.
    pub(super) fn encoded(&self, id: KeyId) -> &[u8] {
        &self.head(id).encoded
    }

    /// The number of keys.
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// The number of keys that there is room for, known or free.
    pub(super) fn capacity(&self) -> usize {
        self.heads.len()
    }

    /// The bytes that the keys take in memory, with the room that is kept for more of them.
    pub(super) fn bytes(&self) -> usize {
        let heads = self.heads.capacity() * size_of::<Head>() + self.free.capacity() * size_of::<KeyId>();
        // The table is seven eighths full at most, and has a byte for each place.
        let index = self.index.capacity() * (size_of::<KeyId>() + 1) * 8 / 7;
        self.bytes + self.len() * ALLOCATION + heads + index
    }
}
