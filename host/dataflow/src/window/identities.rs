//! The identities that were accepted, within one key and for a horizon (docs/semantics.md, 3, deduplication).
//!
//! An identity accepted at event time `t0` makes equal ones duplicates while `W < t0 + h`. Identities that the watermark
//! has passed are forgotten; that frees memory and changes nothing.

use std::collections::BTreeMap;

use hashbrown::HashTable;
use tidegate_state::Changes;
use tidegate_types::batch::{index, index32};
use tidegate_types::key::encode_value;
use tidegate_types::stored::{Malformed, Read, put_i64};
use tidegate_types::{EventTime, Millis, ValueRef, Watermark, key_hash};

use super::keys::{KeyId, KeyTable};
use super::stored::{IDENTITY, VERSION};
use super::tracked::{Listed, Mark, Tracker};

#[derive(Debug)]
pub(crate) struct Identities {
    horizon: Millis,
    table: HashTable<u32>,
    entries: Vec<Identity>,
    free: Vec<u32>,
    /// Entries by the time at which they are forgotten; stale where an identity was accepted again.
    due: BTreeMap<EventTime, Vec<u32>>,
    scratch: Vec<u8>,
    changed: Listed<u32>,
    /// Bytes of the encoded values.
    encoded_bytes: usize,
}

#[derive(Debug)]
struct Identity {
    hash: u64,
    key: KeyId,
    /// Whether it is stored as it is.
    mark: Mark,
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

impl Identity {
    fn put(&self, keys: &KeyTable, tracker: &Tracker, changes: &mut Changes) {
        let value = |out: &mut Vec<u8>| {
            out.push(VERSION);
            put_i64(out, self.until.expect("it is there"));
        };
        changes.put(|key| self.put_key(keys, tracker, key), value);
    }

    fn put_key(&self, keys: &KeyTable, tracker: &Tracker, out: &mut Vec<u8>) {
        tracker.put_prefix(out, IDENTITY, keys.hash(self.key));
        out.extend_from_slice(keys.encoded(self.key));
        out.extend_from_slice(&self.encoded);
    }
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
            changed: Listed::default(),
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
    pub(super) fn accept(
        &mut self,
        keys: &mut KeyTable,
        tracker: &mut Tracker,
        key: KeyId,
        value: ValueRef<'_>,
        time: EventTime,
    ) -> Accepted {
        let until = time.saturating_add(self.horizon.0);
        let (hash, found) = self.look_up(key, value);
        let (entry, before) = match found {
            Some(entry) => {
                self.changing(keys, tracker, entry);
                (entry, self.entries[index(entry)].until.replace(until))
            }
            None => {
                keys.retain(key);
                let entry = self.add(hash, key, until);
                let mark = &mut self.entries[index(entry)].mark;
                *mark = tracker.reused(*mark);
                self.changing(keys, tracker, entry);
                (entry, None)
            }
        };
        self.due.entry(until).or_default().push(entry);
        Accepted { entry, before }
    }

    /// Takes an acceptance back; the latest first.
    pub(super) fn undo(&mut self, keys: &mut KeyTable, tracker: &mut Tracker, accepted: &Accepted) {
        match accepted.before {
            Some(before) => self.entries[index(accepted.entry)].until = Some(before),
            None => self.forget(keys, tracker, accepted.entry),
        }
    }

    /// Forgets what the watermark has passed.
    pub(super) fn expire(&mut self, keys: &mut KeyTable, tracker: &mut Tracker, watermark: Watermark) {
        while let Some(first) = self.due.first_entry().filter(|first| watermark.reached(*first.key())) {
            let (due, entries) = first.remove_entry();
            for entry in entries {
                if self.entries[index(entry)].until == Some(due) {
                    self.forget(keys, tracker, entry);
                }
            }
        }
    }

    /// An identity is about to change.
    #[inline]
    fn changing(&mut self, keys: &KeyTable, tracker: &mut Tracker, entry: u32) {
        let identity = &self.entries[index(entry)];
        if !tracker.is_listed(identity.mark) {
            let mark = tracker.change(identity.mark, |tracker, changes| identity.put(keys, tracker, changes));
            self.entries[index(entry)].mark = mark;
            self.changed.push(entry);
        }
    }

    /// What has changed is to be written as it is now.
    pub(super) fn freeze(&mut self) {
        self.changed.freeze();
    }

    /// Writes so many of the frozen identities. Returns how many less it looked at.
    pub(super) fn write(&mut self, keys: &KeyTable, tracker: &Tracker, entries: usize, changes: &mut Changes) -> usize {
        let mut left = entries;
        while left > 0
            && let Some(entry) = self.changed.pop()
        {
            left -= 1;
            let identity = &mut self.entries[index(entry)];
            if tracker.is_frozen(identity.mark) {
                let is_there = identity.until.is_some();
                identity.mark = if is_there { Mark::STORED } else { Mark::default() };
                if is_there {
                    identity.put(keys, tracker, changes);
                }
            }
        }
        left
    }

    /// Whether every frozen identity is written.
    pub(super) fn is_written(&self) -> bool {
        self.changed.is_done()
    }

    /// Remembers an identity that was stored.
    pub(super) fn read(&mut self, keys: &mut KeyTable, key: KeyId, encoded: &[u8], until: EventTime) -> Read<()> {
        self.scratch.clear();
        self.scratch.extend_from_slice(&key.to_le_bytes());
        self.scratch.extend_from_slice(encoded);
        let (hash, found) = self.find(key);
        if found.is_some() {
            return Err(Malformed::new("identities that differ"));
        }
        keys.retain(key);
        let entry = self.add(hash, key, until);
        self.entries[index(entry)].mark = Mark::STORED;
        self.due.entry(until).or_default().push(entry);
        Ok(())
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
        self.find(key)
    }

    /// The hash of what is in the scratch space, and its place.
    fn find(&self, key: KeyId) -> (u64, Option<u32>) {
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
        let mut identity = Identity { hash, key, mark: Mark::default(), encoded, until: Some(until) };
        let entry = match self.free.pop() {
            Some(entry) => {
                identity.mark = self.entries[index(entry)].mark;
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

    fn forget(&mut self, keys: &mut KeyTable, tracker: &mut Tracker, entry: u32) {
        let identity = &self.entries[index(entry)];
        let put = |tracker: &Tracker, changes: &mut Changes| identity.put(keys, tracker, changes);
        let mark = tracker.forget(identity.mark, put, |tracker, out| identity.put_key(keys, tracker, out));
        self.entries[index(entry)].mark = mark;
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
