//! How a state's rows are stored: a row is a bitmap of the fields that are not null, then their values.
//!
//! A bool takes one byte, ints and floats eight, texts and bytes their length (four bytes) and themselves. A row ends by
//! itself, so that rows can stand end to end. Floats keep their bits. A stored format: checkpoints have rows as they lie here.

use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::{StateMisuse, StateResult};
use tidegate_types::stored::{Malformed, Read, Stored};
use tidegate_types::{Column, ColumnBuilder, Field, FieldType, Kind, ValueRef};

/// What an answer's rows cost besides their values.
const ROW_COST: usize = 8;

/// The kinds of a state's fields.
#[derive(Debug)]
pub(super) struct RowShape {
    kinds: Vec<Kind>,
}

impl RowShape {
    pub(super) fn of(fields: &[Field]) -> Self {
        let kind = |field: &Field| match field.field_type {
            FieldType::Typed { kind, .. } => kind,
            FieldType::Dynamic => unreachable!("a plan's state fields are of one kind each"),
        };
        Self { kinds: fields.iter().map(kind).collect() }
    }

    /// Appends one row of columns.
    pub(super) fn encode(&self, columns: &[Column], row: usize, out: &mut Vec<u8>) {
        let bitmap = out.len();
        out.resize(bitmap + self.kinds.len().div_ceil(8), 0);
        for (place, column) in columns.iter().enumerate() {
            let value = column.value(row);
            if value.is_null() {
                continue;
            }
            out[bitmap + place / 8] |= 1 << (place % 8);
            match value {
                ValueRef::Null => {}
                ValueRef::Bool(value) => out.push(u8::from(value)),
                ValueRef::Int(value) => out.extend_from_slice(&value.to_le_bytes()),
                ValueRef::Float(value) => out.extend_from_slice(&value.to_bits().to_le_bytes()),
                ValueRef::Text(value) | ValueRef::Json(value) => encode_bytes(value.as_bytes(), out),
                ValueRef::Bytes(value) => encode_bytes(value, out),
            }
        }
    }

    /// Sees to it that these are so many rows, end to end.
    pub(super) fn check(&self, rows: &[u8], count: u32) -> Read<()> {
        let mut rows = Stored::new(rows);
        // Without fields a row has no bytes.
        for _ in 0..if self.kinds.is_empty() { 0 } else { count } {
            let bitmap = rows.take(self.kinds.len().div_ceil(8))?;
            for (place, kind) in self.kinds.iter().enumerate() {
                if bitmap[place / 8] & (1 << (place % 8)) == 0 {
                    continue;
                }
                match kind {
                    Kind::Bool => drop(rows.byte()?),
                    Kind::Int | Kind::Float => drop(rows.take(8)?),
                    Kind::Text | Kind::Bytes => {
                        let len = rows.take(4)?.try_into().map_err(|_| Malformed::new("4 bytes"))?;
                        let bytes = rows.take(index(u32::from_le_bytes(len)))?;
                        if *kind == Kind::Text && std::str::from_utf8(bytes).is_err() {
                            return Err(Malformed::new("a text"));
                        }
                    }
                }
            }
        }
        rows.end()
    }

    /// Reads one row off the front, into `values`.
    fn decode<'a>(&self, encoded: &mut &'a [u8], values: &mut Vec<ValueRef<'a>>) {
        values.clear();
        let bitmap = take(encoded, self.kinds.len().div_ceil(8));
        for (place, kind) in self.kinds.iter().enumerate() {
            let present = bitmap[place / 8] & (1 << (place % 8)) != 0;
            values.push(if present { decode_value(encoded, *kind) } else { ValueRef::Null });
        }
    }
}

fn encode_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&index32(bytes.len()).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn decode_value<'a>(encoded: &mut &'a [u8], kind: Kind) -> ValueRef<'a> {
    match kind {
        Kind::Bool => ValueRef::Bool(take_array::<1>(encoded)[0] != 0),
        Kind::Int => ValueRef::Int(i64::from_le_bytes(take_array(encoded))),
        Kind::Float => ValueRef::Float(f64::from_bits(u64::from_le_bytes(take_array(encoded)))),
        Kind::Text => {
            let text = std::str::from_utf8(take_bytes(encoded)).expect("texts were UTF-8 when they were stored");
            ValueRef::Text(text)
        }
        Kind::Bytes => ValueRef::Bytes(take_bytes(encoded)),
    }
}

fn take<'a>(encoded: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = encoded.split_at_checked(count).expect("a stored row is whole");
    *encoded = rest;
    taken
}

fn take_array<const N: usize>(encoded: &mut &[u8]) -> [u8; N] {
    take(encoded, N).try_into().expect("as many bytes were taken")
}

fn take_bytes<'a>(encoded: &mut &'a [u8]) -> &'a [u8] {
    let length = u32::from_le_bytes(take_array(encoded));
    take(encoded, index(length))
}

/// What a value takes of an answer's limit.
fn cost(kind: Kind, value: ValueRef<'_>) -> usize {
    match (kind, value) {
        (Kind::Bool, _) => 1,
        (Kind::Int | Kind::Float, _) => 8,
        (_, ValueRef::Text(text)) => text.len(),
        (_, ValueRef::Bytes(bytes)) => bytes.len(),
        _ => 0,
    }
}

/// Builds the columns of an answer, and no more of them than its limit allows.
pub(super) struct AnswerRows<'a> {
    shape: &'a RowShape,
    builders: Vec<ColumnBuilder>,
    rows: usize,
    limit: usize,
    left: usize,
}

impl<'a> AnswerRows<'a> {
    pub(super) fn new(shape: &'a RowShape, limit: usize) -> Self {
        let builders = shape.kinds.iter().map(|kind| ColumnBuilder::of_kind(*kind)).collect();
        Self { shape, builders, rows: 0, limit, left: limit }
    }

    /// Takes so many bytes off the limit.
    pub(super) fn charge(&mut self, bytes: usize) -> StateResult<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(StateMisuse::AnswerTooLarge { limit: self.limit }.into()),
        }
    }

    /// Adds a stored row, or nulls where there is none.
    pub(super) fn push(&mut self, row: Option<&[u8]>) -> StateResult<()> {
        match row {
            Some(mut row) => self.push_first(&mut row),
            None => {
                let values = vec![ValueRef::Null; self.shape.kinds.len()];
                self.push_values(&values)
            }
        }
    }

    /// Adds rows that stand end to end.
    pub(super) fn push_all(&mut self, mut rows: &[u8], count: u32) -> StateResult<()> {
        (0..count).try_for_each(|_| self.push_first(&mut rows))
    }

    fn push_first(&mut self, rows: &mut &[u8]) -> StateResult<()> {
        let mut values = Vec::with_capacity(self.shape.kinds.len());
        self.shape.decode(rows, &mut values);
        self.push_values(&values)
    }

    fn push_values(&mut self, values: &[ValueRef<'_>]) -> StateResult<()> {
        let size: usize = self.shape.kinds.iter().zip(values).map(|(kind, value)| cost(*kind, *value)).sum();
        self.charge(ROW_COST + size)?;
        for (builder, value) in self.builders.iter_mut().zip(values) {
            builder.push(*value);
        }
        self.rows += 1;
        Ok(())
    }

    /// The number of rows so far.
    pub(super) fn len(&self) -> u32 {
        index32(self.rows)
    }

    /// The columns, one per field of the state.
    pub(super) fn finish(mut self) -> Vec<Column> {
        self.builders.iter_mut().map(ColumnBuilder::finish).collect()
    }
}
