//! How keys and identities are stored and spread: order-preserving bytes, and the hash that names their key group.
//!
//! Both are stored formats (checkpoints and the shuffle rely on them): they carry a version and golden vectors hold them.
//! A key is its fields' encodings, one after the other; each is a tag and the value, and ends by itself. Encodings of one
//! kind compare like their values, and numbers stand before text. Two values have one encoding exactly if they are equal.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, BinaryArray};
use xxhash_rust::xxh3::xxh3_64;

use crate::batch::index;
use crate::value::{Value, ValueRef, canonical_float};

/// The version of the encoding and the hash.
pub const KEY_FORMAT_VERSION: u8 = 1;

const NULL: u8 = 0x10;
const BOOL: u8 = 0x20;
const INT: u8 = 0x30;
const FLOAT: u8 = 0x38;
const TEXT: u8 = 0x40;
const BYTES: u8 = 0x48;
const JSON: u8 = 0x50;

/// Inside texts and bytes a zero is followed by this.
const ESCAPE: u8 = 0xFF;
/// A zero and this end texts and bytes.
const END: u8 = 0x01;

/// A key group: the unit in which state moves between tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyGroup(pub u32);

/// The keys of a batch's rows, encoded, with their hashes.
#[derive(Debug, Clone)]
pub struct Keys {
    /// One encoded key per row; no nulls.
    pub encoded: BinaryArray,
    /// [`key_hash`] of each.
    pub hashes: Arc<[u64]>,
}

impl Keys {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.encoded.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.encoded.is_empty()
    }

    /// The keys of the rows at `indices`.
    #[must_use]
    pub fn take(&self, indices: &[u32]) -> Self {
        Self {
            encoded: BinaryArray::from_iter_values(indices.iter().map(|row| self.encoded.value(index(*row)))),
            hashes: indices.iter().map(|row| self.hashes[index(*row)]).collect(),
        }
    }
}

/// The 64-bit XXH3 hash of an encoded key, with seed 0.
#[must_use]
pub fn key_hash(encoded: &[u8]) -> u64 {
    xxh3_64(encoded)
}

/// The key group of a hash: the hash modulo the number of groups.
///
/// # Panics
/// If `max_parallelism` is 0, which validation of a pipeline excludes.
#[must_use]
pub fn key_group(hash: u64, max_parallelism: u32) -> KeyGroup {
    let group = hash % u64::from(max_parallelism);
    KeyGroup(u32::try_from(group).expect("a remainder of a 32-bit divisor fits 32 bits"))
}

/// The subtask that owns a group, where `parallelism` subtasks own contiguous ranges of all groups.
#[must_use]
pub fn subtask_of(group: KeyGroup, max_parallelism: u32, parallelism: u32) -> usize {
    let subtask = u64::from(group.0) * u64::from(parallelism) / u64::from(max_parallelism);
    usize::try_from(subtask).expect("a subtask is below the parallelism")
}

/// The groups that a subtask owns: those of which [`subtask_of`] names it.
#[must_use]
pub fn groups_of(subtask: usize, max_parallelism: u32, parallelism: usize) -> Range<u32> {
    let first = |subtask: usize| {
        let first = (subtask as u64 * u64::from(max_parallelism)).div_ceil(parallelism.max(1) as u64);
        u32::try_from(first).unwrap_or(max_parallelism).min(max_parallelism)
    };
    first(subtask)..first(subtask + 1)
}

/// Appends the encoding of one value.
pub fn encode_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => out.push(NULL),
        ValueRef::Bool(value) => out.extend_from_slice(&[BOOL, u8::from(value)]),
        ValueRef::Int(value) => {
            out.push(INT);
            out.extend_from_slice(&(value.cast_unsigned() ^ (1 << 63)).to_be_bytes());
        }
        ValueRef::Float(value) => {
            out.push(FLOAT);
            out.extend_from_slice(&ordered_bits(value).to_be_bytes());
        }
        ValueRef::Text(value) => encode_bytes(out, TEXT, value.as_bytes()),
        ValueRef::Bytes(value) => encode_bytes(out, BYTES, value),
        ValueRef::Json(value) => encode_bytes(out, JSON, value.as_bytes()),
    }
}

/// Bits that compare as unsigned integers like the floats do; NaN is the greatest.
fn ordered_bits(value: f64) -> u64 {
    let bits = canonical_float(value).to_bits();
    if bits >> 63 == 0 { bits | (1 << 63) } else { !bits }
}

fn float_of_ordered_bits(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

fn encode_bytes(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    let mut rest = bytes;
    while let Some(zero) = rest.iter().position(|byte| *byte == 0) {
        out.extend_from_slice(&rest[..=zero]);
        out.push(ESCAPE);
        rest = &rest[zero + 1..];
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&[0, END]);
}

/// Bytes that are no encoding of a value: state was corrupted or written by an unknown version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("bytes at {0} from the end of an encoded key are no encoding of a value (key format {KEY_FORMAT_VERSION})")]
pub struct CorruptKey(usize);

/// Reads one value off the front.
///
/// # Errors
/// If the bytes are no encoding of a value.
pub fn decode_value(encoded: &mut &[u8]) -> Result<Value, CorruptKey> {
    let corrupt = CorruptKey(encoded.len());
    let (tag, rest) = encoded.split_first().ok_or(corrupt)?;
    *encoded = rest;
    match *tag {
        NULL => Ok(Value::Null),
        BOOL => Ok(Value::Bool(take_array::<1>(encoded).ok_or(corrupt)?[0] != 0)),
        INT => {
            let bits = u64::from_be_bytes(take_array(encoded).ok_or(corrupt)?);
            Ok(Value::Int((bits ^ (1 << 63)).cast_signed()))
        }
        FLOAT => {
            let bits = u64::from_be_bytes(take_array(encoded).ok_or(corrupt)?);
            Ok(Value::Float(float_of_ordered_bits(bits)))
        }
        TEXT => Ok(Value::Text(decode_text(encoded).ok_or(corrupt)?)),
        BYTES => Ok(Value::Bytes(decode_bytes(encoded).ok_or(corrupt)?.into())),
        JSON => Ok(Value::Json(decode_text(encoded).ok_or(corrupt)?)),
        _ => Err(corrupt),
    }
}

fn take_array<const N: usize>(encoded: &mut &[u8]) -> Option<[u8; N]> {
    let (array, rest) = encoded.split_first_chunk::<N>()?;
    *encoded = rest;
    Some(*array)
}

fn decode_text(encoded: &mut &[u8]) -> Option<Box<str>> {
    Some(String::from_utf8(decode_bytes(encoded)?).ok()?.into())
}

fn decode_bytes(encoded: &mut &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let zero = encoded.iter().position(|byte| *byte == 0)?;
        bytes.extend_from_slice(&encoded[..zero]);
        let mark = *encoded.get(zero + 1)?;
        *encoded = &encoded[zero + 2..];
        match mark {
            END => return Some(bytes),
            ESCAPE => bytes.push(0),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests;
