//! The types that a row's fields may have, and how each is laid into its column.
//!
//! A [`Scalar`] also knows what to write for a null row, which makes `Option` of it a field, and keeps `Option<Option<_>>` out.

use super::{FieldType, ReadField, WriteField};
use crate::columns::{Column, Fault, Kind, Texts, Values, VarBytes, range};

/// A field type that is not itself an `Option`.
pub trait Scalar: WriteField {
    /// Writes what stands in a null row.
    fn put_null(writer: &mut Self::Writer);
}

/// Implements the traits for a type whose column is one plain list.
macro_rules! plain {
    ($type:ty, $kind:ident, $variant:ident, $stored:ty, $open:ident, $get:expr, $put:expr) => {
        impl FieldType for $type {
            const KIND: Kind = Kind::$kind;
            const NULLABLE: bool = false;
        }

        impl<'a> ReadField<'a> for $type {
            type Reader = &'a [$stored];

            #[inline]
            fn reader(column: &'a Column) -> Result<Self::Reader, Fault> {
                column.$open()
            }

            #[inline(always)]
            fn get(reader: &Self::Reader, row: usize) -> Self {
                $get(reader[row])
            }
        }

        impl WriteField for $type {
            type Writer = Vec<$stored>;

            #[inline]
            fn writer(rows: usize) -> Self::Writer {
                Vec::with_capacity(rows)
            }

            #[inline(always)]
            fn put(self, writer: &mut Self::Writer) {
                writer.push($put(self));
            }

            #[inline]
            fn finish(writer: Self::Writer) -> Column {
                Column::new(Values::$variant(writer))
            }
        }

        impl Scalar for $type {
            #[inline(always)]
            fn put_null(writer: &mut Self::Writer) {
                writer.push(Default::default());
            }
        }
    };
}

plain!(i64, Int, Ints, i64, as_ints, |value| value, |value| value);
plain!(f64, Float, Floats, f64, as_floats, |value| value, |value| value);
plain!(bool, Bool, Bools, u8, as_bools, |value| value != 0, u8::from);

/// Implements the traits for a type whose column is rows of bytes laid end to end.
macro_rules! var_bytes {
    ([$($generics:tt)*], $type:ty, $kind:ident, $variant:ident, $lifetime:lifetime, $reader:ty, $open:ident, $get:expr, $bytes:expr) => {
        impl<$($generics)*> FieldType for $type {
            const KIND: Kind = Kind::$kind;
            const NULLABLE: bool = false;
        }

        impl<$lifetime> ReadField<$lifetime> for $type {
            type Reader = $reader;

            #[inline]
            fn reader(column: &$lifetime Column) -> Result<Self::Reader, Fault> {
                column.$open()
            }

            #[inline(always)]
            fn get(reader: &Self::Reader, row: usize) -> Self {
                $get(reader.get(row))
            }
        }

        impl<$($generics)*> WriteField for $type {
            type Writer = VarBytes;

            #[inline]
            fn writer(rows: usize) -> Self::Writer {
                VarBytes::with_capacity(rows)
            }

            #[inline(always)]
            fn put(self, writer: &mut Self::Writer) {
                writer.push($bytes(&self));
            }

            #[inline]
            fn finish(writer: Self::Writer) -> Column {
                Column::new(Values::$variant(writer))
            }
        }

        impl<$($generics)*> Scalar for $type {
            #[inline(always)]
            fn put_null(writer: &mut Self::Writer) {
                writer.push(&[]);
            }
        }
    };
}

var_bytes!(['a], &'a str, Text, Texts, 'a, Texts<'a>, as_texts, |text| text, |text: &&'a str| text.as_bytes());
var_bytes!([], String, Text, Texts, 'a, Texts<'a>, as_texts, str::to_owned, String::as_bytes);
var_bytes!(['a], &'a [u8], Bytes, Bytes, 'a, &'a VarBytes, as_bytes, |bytes| bytes, |bytes: &&'a [u8]| *bytes);
var_bytes!([], Vec<u8>, Bytes, Bytes, 'a, &'a VarBytes, as_bytes, <[u8]>::to_vec, Vec::as_slice);

impl<T: Scalar> FieldType for Option<T> {
    const KIND: Kind = T::KIND;
    const NULLABLE: bool = true;
}

impl<'a, T: ReadField<'a> + Scalar> ReadField<'a> for Option<T> {
    type Reader = (T::Reader, Option<&'a [u8]>);

    #[inline]
    fn reader(column: &'a Column) -> Result<Self::Reader, Fault> {
        Ok((T::reader(column)?, column.present.as_deref()))
    }

    #[inline(always)]
    fn get((values, present): &Self::Reader, row: usize) -> Self {
        match present {
            Some(present) if present[row] == 0 => None,
            _ => Some(T::get(values, row)),
        }
    }
}

/// A column that may have nulls, growing.
#[derive(Debug)]
pub struct NullableWriter<W> {
    values: W,
    present: Vec<u8>,
    any_null: bool,
}

impl<T: Scalar> WriteField for Option<T> {
    type Writer = NullableWriter<T::Writer>;

    #[inline]
    fn writer(rows: usize) -> Self::Writer {
        NullableWriter { values: T::writer(rows), present: Vec::with_capacity(rows), any_null: false }
    }

    #[inline(always)]
    fn put(self, writer: &mut Self::Writer) {
        writer.present.push(u8::from(self.is_some()));
        match self {
            Some(value) => value.put(&mut writer.values),
            None => {
                writer.any_null = true;
                T::put_null(&mut writer.values);
            }
        }
    }

    #[inline]
    fn finish(writer: Self::Writer) -> Column {
        Column { present: writer.any_null.then_some(writer.present), ..T::finish(writer.values) }
    }
}

/// A number that arrays are made of, stored little-endian.
pub trait Element: Copy {
    /// Bytes per number.
    const SIZE: usize;

    /// Reads `SIZE` bytes.
    fn from_bytes(bytes: &[u8]) -> Self;

    /// Adds `SIZE` bytes.
    fn append(self, out: &mut Vec<u8>);
}

macro_rules! element {
    ($($type:ty),*) => {$(
        impl Element for $type {
            const SIZE: usize = size_of::<$type>();

            #[inline(always)]
            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("cut to the element's size"))
            }

            #[inline(always)]
            fn append(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

element!(u32, i64, f64);

impl<T: Element, const N: usize> FieldType for [T; N] {
    const KIND: Kind = Kind::Bytes;
    const NULLABLE: bool = false;
}

impl<'a, T: Element, const N: usize> ReadField<'a> for [T; N] {
    type Reader = &'a VarBytes;

    fn reader(column: &'a Column) -> Result<Self::Reader, Fault> {
        let bytes = column.as_bytes()?;
        let wrong = (0..bytes.rows())
            .map(|row| range(&bytes.offsets, row).len())
            .enumerate()
            .find(|(row, length)| *length != N * T::SIZE && column.is_present(*row));
        match wrong {
            Some((row, length)) => {
                Err(Fault::new(format!("row {row} has {length} bytes where an array of {N} has {}", N * T::SIZE)))
            }
            None => Ok(bytes),
        }
    }

    fn get(reader: &Self::Reader, row: usize) -> Self {
        let bytes = reader.get(row);
        std::array::from_fn(|i| T::from_bytes(&bytes[i * T::SIZE..(i + 1) * T::SIZE]))
    }
}

impl<T: Element, const N: usize> WriteField for [T; N] {
    type Writer = VarBytes;

    fn writer(rows: usize) -> Self::Writer {
        let mut writer = VarBytes::with_capacity(rows);
        writer.data.reserve(rows * N * T::SIZE);
        writer
    }

    fn put(self, writer: &mut Self::Writer) {
        self.into_iter().for_each(|element| element.append(&mut writer.data));
        writer.push(&[]);
    }

    fn finish(writer: Self::Writer) -> Column {
        Column::new(Values::Bytes(writer))
    }
}

impl<T: Element, const N: usize> Scalar for [T; N] {
    fn put_null(writer: &mut Self::Writer) {
        writer.push(&[]);
    }
}
