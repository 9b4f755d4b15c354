//! The buffers of one column.

use arrow_array::types::ByteArrayType;
use arrow_array::{Array, GenericByteArray};
use arrow_buffer::NullBuffer;
use tidegate_formats::write_value;
use tidegate_types::{Column, Kind};

use crate::bindings::tidegate::job::types::{ColumnParam, ValuesParam, VarBytesParam};
use crate::fields::Wire;

/// What of a column had to be rewritten. Its buffers keep their memory.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    offsets: Vec<u32>,
    bytes: Vec<u8>,
    ints: Vec<i64>,
    floats: Vec<f64>,
    present: Vec<u8>,
    /// Whether the values are in the buffers, not in the column.
    rewritten: bool,
    nulls: bool,
}

impl Prepared {
    /// Rewrites what needs it.
    pub(super) fn fill(&mut self, column: &Column, wire: Wire) {
        self.offsets.clear();
        self.bytes.clear();
        self.ints.clear();
        self.floats.clear();
        self.present.clear();
        self.rewritten = false;
        self.nulls = column.has_nulls();
        if wire.json {
            return self.fill_json(column);
        }
        match column {
            Column::Null(rows) => self.fill_nulls(*rows, wire.kind),
            Column::Bool(array) => self.bytes.extend(array.values().iter().map(u8::from)),
            Column::Int(_) => {}
            Column::Float(array) => self.fill_floats(array.values()),
            Column::Text(array) => self.fill_offsets(array),
            Column::Bytes(array) => self.fill_offsets(array),
            Column::Dynamic(_) => unreachable!("a dynamic column goes out as JSON or not at all"),
        }
        self.fill_present(nulls_of(column), column.len());
    }

    /// Arrow's offsets start anywhere in a slice and are signed; the contract's start at 0 and are not.
    fn fill_offsets<T: ByteArrayType<Offset = i32>>(&mut self, array: &GenericByteArray<T>) {
        let offsets: &[i32] = array.value_offsets();
        let first = offsets[0];
        self.offsets.extend(offsets.iter().map(|offset| offset.wrapping_sub(first).cast_unsigned()));
    }

    fn fill_floats(&mut self, values: &[f64]) {
        let canonical = f64::NAN.to_bits();
        let odd = values.iter().fold(false, |odd, value| odd | (value.is_nan() & (value.to_bits() != canonical)));
        if odd {
            self.rewritten = true;
            self.floats.extend(values.iter().map(|value| if value.is_nan() { f64::NAN } else { *value }));
        }
    }

    fn fill_present(&mut self, nulls: Option<&NullBuffer>, rows: usize) {
        if self.nulls {
            match nulls {
                Some(nulls) => self.present.extend(nulls.iter().map(u8::from)),
                None => self.present.resize(rows, 0),
            }
        }
    }

    /// All rows are null: each kind's plainest value stands for them.
    fn fill_nulls(&mut self, rows: usize, kind: Kind) {
        self.rewritten = true;
        match kind {
            Kind::Bool => self.bytes.resize(rows, 0),
            Kind::Int => self.ints.resize(rows, 0),
            Kind::Float => self.floats.resize(rows, 0.0),
            Kind::Text | Kind::Bytes => self.offsets.resize(rows + 1, 0),
        }
    }

    /// Dynamic values go out as JSON text, nulls as absent.
    fn fill_json(&mut self, column: &Column) {
        self.rewritten = true;
        self.offsets.push(0);
        for row in 0..column.len() {
            let null = column.is_null(row);
            if !null {
                write_value(&mut self.bytes, column.value(row));
            }
            self.offsets.push(u32::try_from(self.bytes.len()).expect("batches are limited far below 4 GiB"));
            if self.nulls {
                self.present.push(u8::from(!null));
            }
        }
    }

    /// The column as an argument.
    pub(super) fn param<'a>(&'a self, column: &'a Column, wire: Wire) -> ColumnParam<'a> {
        let own = VarBytesParam { offsets: &self.offsets, data: &self.bytes };
        let values = match (column, wire.kind) {
            (Column::Bool(_), _) if !wire.json => ValuesParam::Bools(&self.bytes),
            (Column::Int(array), _) if !self.rewritten => ValuesParam::Ints(array.values()),
            (Column::Float(array), _) if !self.rewritten => ValuesParam::Floats(array.values()),
            (Column::Text(array), _) if !self.rewritten => ValuesParam::Texts(self.borrowed(array)),
            (Column::Bytes(array), _) if !self.rewritten => ValuesParam::Bytes(self.borrowed(array)),
            (_, Kind::Bool) => ValuesParam::Bools(&self.bytes),
            (_, Kind::Int) => ValuesParam::Ints(&self.ints),
            (_, Kind::Float) => ValuesParam::Floats(&self.floats),
            (_, Kind::Text) => ValuesParam::Texts(own),
            (_, Kind::Bytes) => ValuesParam::Bytes(own),
        };
        ColumnParam { values, present: self.nulls.then_some(&self.present) }
    }

    fn borrowed<'a, T: ByteArrayType<Offset = i32>>(&'a self, array: &'a GenericByteArray<T>) -> VarBytesParam<'a> {
        let offsets: &[i32] = array.value_offsets();
        let place = |offset: i32| usize::try_from(offset).expect("Arrow's offsets are not negative");
        let span = place(offsets[0])..place(offsets[offsets.len() - 1]);
        VarBytesParam { offsets: &self.offsets, data: &array.value_data()[span] }
    }
}

fn nulls_of(column: &Column) -> Option<&NullBuffer> {
    match column {
        Column::Null(_) | Column::Dynamic(_) => None,
        Column::Bool(array) => array.nulls(),
        Column::Int(array) => array.nulls(),
        Column::Float(array) => array.nulls(),
        Column::Text(array) => array.nulls(),
        Column::Bytes(array) => array.nulls(),
    }
}
