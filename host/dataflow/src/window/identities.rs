//! The identities that were accepted, within one key and for a horizon (docs/semantics.md, 3, deduplication).
//!
//! An identity accepted at event time `t0` makes equal ones duplicates while `W < t0 + h`. Identities that the watermark
//! has passed are forgotten; that frees memory and changes nothing.

use std::collections::BTreeMap;

use hashbrown::HashTable;
use tidegate_types::batch::{index, index32};
use tidegate_types::key::encode_value;
use tidegate_types::{EventTime, Millis, ValueRef, Watermark, key_hash};

use super::keys::{KeyId, KeyTable};

#[derive(Debug)]
pub(crate) struct Identities {
    horizon: Millis,
    table: HashTable<u32>,
    entries: Vec<Identity>,
    free: Vec<u32>,
    /// Entries by the time at which they are forgotten; stale where an identity was accepted again.
    due: BTreeMap<EventTime, Vec<u32>>,
    scratch: Vec<u8>,
    /// Bytes of the encoded values.
    encoded_bytes: usize,
}

#[derive(Debug)]
struct Identity {
    hash: u64,
    key: KeyId,
    encoded: Box<[u8]>,
    /// When it is forgotten: `t0 + h`; none for a free entry.
    until: Option<EventTime>,
}

/// What accepting an identity changed, to be undone.
#[derive(Debug)]
pub(crate) struct Accepted {
    entry: u32,
    before: Option<EventTime>,
}

impl Identities {
    pub(crate) fn new(horizon: Millis) -> Self {
        Self {
            horizon,
            table: HashTable::new(),
            entries: Vec::new(),
            free: Vec::new(),
            due: BTreeMap::new(),
            scratch: Vec::new(),
            encoded_bytes: 0,
        }
    }

    /// Whether the value was accepted under this key within the horizon.
    pub(crate) fn is_duplicate(&mut self, key: KeyId, value: ValueRef<'_>, watermark: Watermark) -> bool {
        let (hash, found) = self.look_up(key, value);
        let _ = hash;
        let until = found.and_then(|entry| self.entries[index(entry)].until);
        until.is_some_and(|until| !watermark.reached(until))
    }

    /// Remembers the value as accepted at `time`.
    pub(crate) fn accept(&mut self, keys: &mut KeyTable, key: KeyId, value: ValueRef<'_>, time: EventTime) -> Accepted {
        let until = time.saturating_add(self.horizon.0);
        let (hash, found) = self.look_up(key, value);
        let (entry, before) = match found {
            Some(entry) => (entry, self.entries[index(entry)].until.replace(until)),
            None => {
                keys.retain(key);
                (self.add(hash, key, until), None)
            }
        };
        self.due.entry(until).or_default().push(entry);
        Accepted { entry, before }
    }

    /// Takes an acceptance back; the latest first.
    pub(crate) fn undo(&mut self, keys: &mut KeyTable, accepted: &Accepted) {
        match accepted.before {
            Some(before) => self.entries[index(accepted.entry)].until = Some(before),
            None => self.forget(keys, accepted.entry),
        }
    }

    /// Forgets what the watermark has passed.
    pub(crate) fn expire(&mut self, keys: &mut KeyTable, watermark: Watermark) {
        while let Some(first) = self.due.first_entry().filter(|first| watermark.reached(*first.key())) {
            let (due, entries) = first.remove_entry();
            for entry in entries {
                if self.entries[index(entry)].until == Some(due) {
                    self.forget(keys, entry);
                }
            }
        }
    }

    /// Bytes of the identities, of what finds them and of their timers.
    pub(crate) fn bytes(&self) -> u64 {
        let each = size_of::<Identity>() + 2 * size_of::<u32>();
        (self.encoded_bytes + self.table.len() * each) as u64
    }

    /// The number of identities.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    fn look_up(&mut self, key: KeyId, value: ValueRef<'_>) -> (u64, Option<u32>) {
        self.scratch.clear();
        self.scratch.extend_from_slice(&key.to_le_bytes());
        encode_value(&mut self.scratch, value);
        let hash = key_hash(&self.scratch);
        let encoded = &self.scratch[size_of::<KeyId>()..];
        let found = self.table.find(hash, |entry| {
            let entry = &self.entries[index(*entry)];
            entry.key == key && &*entry.encoded == encoded
        });
        (hash, found.copied())
    }

    /// Adds the value that was looked up last.
    fn add(&mut self, hash: u64, key: KeyId, until: EventTime) -> u32 {
        let encoded: Box<[u8]> = self.scratch[size_of::<KeyId>()..].into();
        self.encoded_bytes += encoded.len();
        let identity = Identity { hash, key, encoded, until: Some(until) };
        let entry = match self.free.pop() {
            Some(entry) => {
                self.entries[index(entry)] = identity;
                entry
            }
            None => {
                self.entries.push(identity);
                index32(self.entries.len() - 1)
            }
        };
        let entries = &self.entries;
        self.table.insert_unique(hash, entry, |entry| entries[index(*entry)].hash);
        entry
    }

    fn forget(&mut self, keys: &mut KeyTable, entry: u32) {
        let identity = &mut self.entries[index(entry)];
        identity.until = None;
        self.encoded_bytes -= std::mem::take(&mut identity.encoded).len();
        let (hash, key) = (identity.hash, identity.key);
        if let Ok(found) = self.table.find_entry(hash, |other| *other == entry) {
            found.remove();
        }
        self.free.push(entry);
        keys.release(key);
    }
}
