//! A kept row's values in one piece of memory: for each a tag and the value.
//!
//! This is no stored format: it lives in memory only, and `stored` has that of checkpoints. Values come back exactly as they went in, in their order.

use tidegate_types::batch::{index, index32};
use tidegate_types::{Column, ValueRef};

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INT: u8 = 3;
const FLOAT: u8 = 4;
const TEXT: u8 = 5;
const BYTES: u8 = 6;
const JSON: u8 = 7;

/// A row's values, wherever it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowValues<'a> {
    /// A row of a batch: these columns, at this place.
    Arriving(&'a [Column], usize),
    /// A kept row.
    Kept(&'a [u8]),
    /// No row: nulls.
    Missing,
}

impl<'a> RowValues<'a> {
    /// Hands over so many values, in order.
    pub(super) fn for_each(self, count: usize, mut take: impl FnMut(usize, ValueRef<'a>)) {
        match self {
            Self::Arriving(columns, row) => {
                columns.iter().enumerate().for_each(|(place, column)| take(place, column.value(row)));
            }
            Self::Kept(packed) => Unpacked(packed).enumerate().for_each(|(place, value)| take(place, value)),
            Self::Missing => (0..count).for_each(|place| take(place, ValueRef::Null)),
        }
    }
}

/// Packs a row of these columns.
pub(super) fn pack(columns: &[Column], row: usize) -> Box<[u8]> {
    pack_values(columns.iter().map(|column| column.value(row)))
}

/// Packs these values.
pub(super) fn pack_values<'a>(values: impl Iterator<Item = ValueRef<'a>> + Clone) -> Box<[u8]> {
    let mut packed = Vec::with_capacity(values.clone().map(packed_len).sum());
    for value in values {
        match value {
            ValueRef::Null => packed.push(NULL),
            ValueRef::Bool(value) => packed.push(if value { TRUE } else { FALSE }),
            ValueRef::Int(value) => push(&mut packed, INT, &value.to_le_bytes()),
            ValueRef::Float(value) => push(&mut packed, FLOAT, &value.to_bits().to_le_bytes()),
            ValueRef::Text(value) => push_long(&mut packed, TEXT, value.as_bytes()),
            ValueRef::Bytes(value) => push_long(&mut packed, BYTES, value),
            ValueRef::Json(value) => push_long(&mut packed, JSON, value.as_bytes()),
        }
    }
    packed.into_boxed_slice()
}

/// How many bytes a value takes, packed or about as many elsewhere.
pub(super) fn packed_len(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Null | ValueRef::Bool(_) => 1,
        ValueRef::Int(_) | ValueRef::Float(_) => 9,
        ValueRef::Text(text) | ValueRef::Json(text) => 5 + text.len(),
        ValueRef::Bytes(bytes) => 5 + bytes.len(),
    }
}

fn push(packed: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    packed.push(tag);
    packed.extend_from_slice(bytes);
}

fn push_long(packed: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    push(packed, tag, &index32(bytes.len()).to_le_bytes());
    packed.extend_from_slice(bytes);
}

/// The values of a packed row, in order.
struct Unpacked<'a>(&'a [u8]);

impl<'a> Unpacked<'a> {
    fn split(&mut self, len: usize) -> &'a [u8] {
        let (front, rest) = self.0.split_at(len);
        self.0 = rest;
        front
    }

    fn eight(&mut self) -> [u8; 8] {
        self.split(8).try_into().expect("eight bytes were split off")
    }

    fn long(&mut self) -> &'a [u8] {
        let len: [u8; 4] = self.split(4).try_into().expect("four bytes were split off");
        self.split(index(u32::from_le_bytes(len)))
    }

    fn text(&mut self) -> &'a str {
        std::str::from_utf8(self.long()).expect("it was packed from text")
    }
}

impl<'a> Iterator for Unpacked<'a> {
    type Item = ValueRef<'a>;

    fn next(&mut self) -> Option<ValueRef<'a>> {
        let (tag, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(match *tag {
            NULL => ValueRef::Null,
            FALSE => ValueRef::Bool(false),
            TRUE => ValueRef::Bool(true),
            INT => ValueRef::Int(i64::from_le_bytes(self.eight())),
            FLOAT => ValueRef::Float(f64::from_bits(u64::from_le_bytes(self.eight()))),
            TEXT => ValueRef::Text(self.text()),
            BYTES => ValueRef::Bytes(self.long()),
            JSON => ValueRef::Json(self.text()),
            _ => unreachable!("`pack` writes no other tag"),
        })
    }
}

#[cfg(test)]
mod tests {
    use tidegate_types::{DynamicArray, Value};

    use super::*;

    #[test]
    fn every_kind_of_value_comes_back_as_it_went_in() {
        let values = vec![
            Value::Null,
            Value::Bool(false),
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Float(-0.5),
            Value::Text("".into()),
            Value::Text("Đà Nẵng\0".into()),
            Value::Bytes([0, 255].as_slice().into()),
            Value::Json("[1]".into()),
        ];
        let columns: Vec<Column> =
            values.iter().map(|value| Column::Dynamic(DynamicArray::new(vec![value.clone()]))).collect();
        let packed = pack(&columns, 0);
        assert_eq!(packed.len(), values.iter().map(|value| packed_len(value.as_ref())).sum::<usize>());
        let mut back = Vec::new();
        RowValues::Kept(&packed).for_each(values.len(), |place, value| back.push((place, value.to_value())));
        assert_eq!(back, values.into_iter().enumerate().collect::<Vec<_>>());
    }
}
