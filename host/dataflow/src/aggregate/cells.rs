//! One value of any kind per slot: what `min`, `max`, `first` and `last` keep.
//!
//! Numbers and booleans are kept in place (a tag and 64 bits), so that slots of numbers cost no allocation; other values
//! are in an arena, and the 64 bits say where.

use tidegate_types::stored::{Read, Stored, put_value};
use tidegate_types::{Value, ValueRef};

use super::arena::Arena;
use super::store::{bytes, bytes_of};

/// Values by slot; null until set.
#[derive(Debug, Default)]
pub(super) struct Cells {
    tags: Vec<Tag>,
    bits: Vec<u64>,
    heap: Arena<Value>,
    heap_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Tag {
    #[default]
    Null,
    Bool,
    Int,
    Float,
    Heap,
}

impl Cells {
    pub(super) fn reserve(&mut self, slots: usize) {
        self.tags.resize(slots, Tag::Null);
        self.bits.resize(slots, 0);
    }

    pub(super) fn get(&self, slot: usize) -> ValueRef<'_> {
        let bits = self.bits[slot];
        match self.tags[slot] {
            Tag::Null => ValueRef::Null,
            Tag::Bool => ValueRef::Bool(bits != 0),
            Tag::Int => ValueRef::Int(bits.cast_signed()),
            Tag::Float => ValueRef::Float(f64::from_bits(bits)),
            Tag::Heap => self.heap.get(bits).as_ref(),
        }
    }

    /// The slot's integer, if it holds one.
    #[inline]
    pub(super) fn int(&self, slot: usize) -> Option<i64> {
        (self.tags[slot] == Tag::Int).then(|| self.bits[slot].cast_signed())
    }

    #[inline]
    pub(super) fn is_null(&self, slot: usize) -> bool {
        self.tags[slot] == Tag::Null
    }

    #[inline]
    pub(super) fn set(&mut self, slot: usize, value: ValueRef<'_>) {
        if self.tags[slot] == Tag::Heap {
            self.clear(slot);
        }
        let (tag, bits) = match value {
            ValueRef::Null => (Tag::Null, 0),
            ValueRef::Bool(value) => (Tag::Bool, u64::from(value)),
            ValueRef::Int(value) => (Tag::Int, value.cast_unsigned()),
            ValueRef::Float(value) => (Tag::Float, value.to_bits()),
            ValueRef::Text(_) | ValueRef::Bytes(_) | ValueRef::Json(_) => {
                self.heap_bytes += heap_bytes(value);
                (Tag::Heap, self.heap.insert(value.to_value()))
            }
        };
        self.tags[slot] = tag;
        self.bits[slot] = bits;
    }

    pub(super) fn clear(&mut self, slot: usize) {
        if self.tags[slot] == Tag::Heap {
            let value = self.heap.remove(self.bits[slot]);
            self.heap_bytes -= heap_bytes(value.as_ref());
        }
        self.tags[slot] = Tag::Null;
    }

    /// Appends the slot's value.
    pub(super) fn write(&self, slot: usize, out: &mut Vec<u8>) {
        put_value(out, self.get(slot));
    }

    /// Sets the slot to the value that was written.
    pub(super) fn read(&mut self, slot: usize, stored: &mut Stored<'_>) -> Read<()> {
        let value = stored.value()?;
        self.set(slot, value.as_ref());
        Ok(())
    }

    pub(super) fn bytes(&self) -> u64 {
        bytes_of::<Tag>(self.tags.len())
            + bytes_of::<u64>(self.bits.len())
            + bytes_of::<Value>(self.heap.places())
            + self.heap_bytes
    }
}

fn heap_bytes(value: ValueRef<'_>) -> u64 {
    match value {
        ValueRef::Text(text) | ValueRef::Json(text) => bytes(text.len()),
        ValueRef::Bytes(content) => bytes(content.len()),
        _ => 0,
    }
}
