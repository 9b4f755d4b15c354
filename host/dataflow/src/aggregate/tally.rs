//! Something per distinct value and slot: what `count_distinct` and `top_k` keep.
//!
//! Integers are keys as they are; every other value is a key by its stored encoding, which two values share exactly if
//! they are equal. The hash has a fixed seed, and nothing that is shown depends on the order of a table. Where values can
//! be taken back, one for which the default is held again is dropped.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use tidegate_types::key::{decode_value, encode_value};
use tidegate_types::stored::{Malformed, Read, Stored, put_bytes, put_i64, put_len};
use tidegate_types::{Value, ValueRef};

use super::store::{bytes, bytes_of};

/// A table per slot.
#[derive(Debug)]
pub(super) struct Tallies<T> {
    slots: Vec<Option<Box<Tally<T>>>>,
    held: u64,
    scratch: Vec<u8>,
    /// Whether what is the default again is dropped.
    drops: bool,
}

/// One slot's table.
#[derive(Debug)]
pub(super) struct Tally<T> {
    pub(super) ints: HashMap<i64, T, FixedState>,
    /// By [`encode_value`].
    pub(super) others: HashMap<Box<[u8]>, T, FixedState>,
    key_bytes: u64,
    /// The bytes that are counted as held.
    charged: u64,
}

impl<T> Default for Tallies<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), held: 0, scratch: Vec::new(), drops: false }
    }
}

impl<T> Tallies<T> {
    /// Tables that drop a value once the default is held for it again.
    pub(super) fn dropping() -> Self {
        Self { drops: true, ..Self::default() }
    }
}

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Self { ints: HashMap::default(), others: HashMap::default(), key_bytes: 0, charged: 0 }
    }
}

impl<T: Copy + Default + PartialEq> Tallies<T> {
    pub(super) fn reserve(&mut self, slots: usize) {
        self.slots.resize_with(slots, || None);
    }

    pub(super) fn reset(&mut self, slot: usize) {
        if let Some(tally) = self.slots[slot].take() {
            self.held -= tally.charged;
        }
    }

    /// Changes what a slot holds for a value; it holds the default at first.
    pub(super) fn change(&mut self, slot: usize, value: ValueRef<'_>, change: impl FnOnce(&mut T)) {
        let (tally, scratch) = (self.slots[slot].get_or_insert_default(), &mut self.scratch);
        let before = tally.len();
        match value {
            ValueRef::Int(value) => tally.change_int(value, self.drops, change),
            other => {
                scratch.clear();
                encode_value(scratch, other);
                tally.change_other(scratch, self.drops, change);
            }
        }
        if tally.len() != before {
            tally.charge(&mut self.held);
        }
    }

    /// Brings what `from` holds for each value into what `into` holds for it.
    pub(super) fn merge(&mut self, into: usize, from: usize, mut combine: impl FnMut(&mut T, T)) {
        let Some(source) = self.slots[from].take() else { return };
        let target = self.slots[into].get_or_insert_default();
        for (value, more) in &source.ints {
            target.change_int(*value, self.drops, |held| combine(held, *more));
        }
        for (value, more) in &source.others {
            target.change_other(value, self.drops, |held| combine(held, *more));
        }
        target.charge(&mut self.held);
        self.slots[from] = Some(source);
    }

    /// Appends a slot's table; nothing where there is none. `held` appends what is held for a value.
    pub(super) fn write(&self, slot: usize, out: &mut Vec<u8>, held: impl Fn(&mut Vec<u8>, T)) {
        let Some(tally) = self.get(slot) else { return };
        put_len(out, tally.ints.len());
        for (value, more) in &tally.ints {
            put_i64(out, *value);
            held(out, *more);
        }
        put_len(out, tally.others.len());
        for (value, more) in &tally.others {
            put_bytes(out, value);
            held(out, *more);
        }
    }

    /// Makes a fresh slot's table the one that was written. `held` reads what is held for a value.
    pub(super) fn read(
        &mut self,
        slot: usize,
        stored: &mut Stored<'_>,
        mut held: impl FnMut(&mut Stored<'_>) -> Read<T>,
    ) -> Read<()> {
        if stored.is_empty() {
            return Ok(());
        }
        let mut tally = Tally::default();
        for _ in 0..stored.len()? {
            let value = stored.i64()?;
            tally.ints.insert(value, held(stored)?);
        }
        for _ in 0..stored.len()? {
            let value = stored.bytes()?;
            check(value)?;
            tally.key_bytes += bytes(value.len());
            let before = tally.others.insert(value.into(), held(stored)?);
            if before.is_some() {
                return Err(Malformed::new("values that differ"));
            }
        }
        tally.charge(&mut self.held);
        self.slots[slot] = Some(Box::new(tally));
        Ok(())
    }

    pub(super) fn get(&self, slot: usize) -> Option<&Tally<T>> {
        self.slots[slot].as_deref()
    }

    pub(super) fn bytes(&self) -> u64 {
        bytes_of::<Option<Box<Tally<T>>>>(self.slots.len()) + self.held
    }
}

impl<T: Default + PartialEq> Tally<T> {
    #[inline]
    fn change_int(&mut self, value: i64, drops: bool, change: impl FnOnce(&mut T)) {
        let held = self.ints.entry(value).or_default();
        change(held);
        if drops && *held == T::default() {
            self.ints.remove(&value);
        }
    }

    fn change_other(&mut self, encoded: &[u8], drops: bool, change: impl FnOnce(&mut T)) {
        if let Some(held) = self.others.get_mut(encoded) {
            change(held);
            if drops && *held == T::default() {
                self.others.remove(encoded);
                self.key_bytes -= bytes(encoded.len());
            }
        } else {
            let mut fresh = T::default();
            change(&mut fresh);
            self.key_bytes += bytes(encoded.len());
            self.others.insert(encoded.into(), fresh);
        }
    }
}

impl<T: Copy> Tally<T> {
    /// What is held for a value, if anything.
    pub(super) fn of(&self, value: &Value, scratch: &mut Vec<u8>) -> Option<T> {
        match value {
            Value::Int(value) => self.ints.get(value).copied(),
            other => {
                scratch.clear();
                encode_value(scratch, other.as_ref());
                self.others.get(scratch.as_slice()).copied()
            }
        }
    }
}

impl<T> Tally<T> {
    /// The number of distinct values.
    pub(super) fn len(&self) -> usize {
        self.ints.len() + self.others.len()
    }

    /// Counts the bytes of the table again, in place of those that `held` has of it.
    fn charge(&mut self, held: &mut u64) {
        *held -= self.charged;
        let tables = self.ints.allocation_size() + self.others.allocation_size();
        self.charged = bytes_of::<Self>(1) + bytes(tables) + self.key_bytes;
        *held += self.charged;
    }
}

/// That the bytes are the encoding of one value.
fn check(mut encoded: &[u8]) -> Read<()> {
    let malformed = Malformed::new("the encoding of a value");
    decode_value(&mut encoded).map_err(|_| malformed.clone())?;
    if encoded.is_empty() { Ok(()) } else { Err(malformed) }
}
