//! The bytes of what is stored: state in checkpoints is written with these, and read back with the checks that bytes from
//! outside need.
//!
//! A stored format: numbers are little-endian base-128 (7 bits a byte, the lowest first), signed ones zigzag before that;
//! bytes and texts follow their length; a value is a tag and its content. What changes here changes every stored state.

use crate::value::{Value, ValueRef};

/// Stored bytes that are none of ours, or of a newer release.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("stored state cannot be read: {what}; it was written by another release, or is damaged")]
pub struct Malformed {
    /// What was looked for.
    pub what: &'static str,
}

impl Malformed {
    /// What was looked for is not there.
    #[must_use]
    pub fn new(what: &'static str) -> Self {
        Self { what }
    }
}

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INT: u8 = 3;
const FLOAT: u8 = 4;
const TEXT: u8 = 5;
const BYTES: u8 = 6;
const JSON: u8 = 7;

/// Appends a number.
pub fn put_u64(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = u8::try_from(value & 0x7F).expect("seven bits");
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Appends a signed number.
pub fn put_i64(out: &mut Vec<u8>, value: i64) {
    put_u64(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

/// Appends a signed number of 128 bits, in 16 bytes.
pub fn put_i128(out: &mut Vec<u8>, value: i128) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a double, bit for bit, in 8 bytes.
pub fn put_f64(out: &mut Vec<u8>, value: f64) {
    out.extend_from_slice(&value.to_bits().to_le_bytes());
}

/// Appends a truth value.
pub fn put_bool(out: &mut Vec<u8>, value: bool) {
    out.push(u8::from(value));
}

/// Appends a length.
pub fn put_len(out: &mut Vec<u8>, len: usize) {
    put_u64(out, len as u64);
}

/// Appends bytes after their length.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_len(out, bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends a value, bit for bit (unlike the encoding of a key, which makes equal floats equal bytes).
pub fn put_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => out.push(NULL),
        ValueRef::Bool(value) => out.push(if value { TRUE } else { FALSE }),
        ValueRef::Int(value) => {
            out.push(INT);
            put_i64(out, value);
        }
        ValueRef::Float(value) => {
            out.push(FLOAT);
            put_f64(out, value);
        }
        ValueRef::Text(value) => {
            out.push(TEXT);
            put_bytes(out, value.as_bytes());
        }
        ValueRef::Bytes(value) => {
            out.push(BYTES);
            put_bytes(out, value);
        }
        ValueRef::Json(value) => {
            out.push(JSON);
            put_bytes(out, value.as_bytes());
        }
    }
}

/// Reads what was put, in the same order.
#[derive(Debug, Clone, Copy)]
pub struct Stored<'a>(&'a [u8]);

/// What reading gives.
pub type Read<T> = Result<T, Malformed>;

impl<'a> Stored<'a> {
    /// All of these bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether everything was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Everything that is left.
    #[must_use]
    pub fn rest(self) -> &'a [u8] {
        self.0
    }

    /// Everything MUST have been read.
    ///
    /// # Errors
    /// If something is left.
    pub fn end(self) -> Read<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed::new("the end of an entry")) }
    }

    /// So many bytes.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn take(&mut self, len: usize) -> Read<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(len).ok_or(Malformed::new("so many bytes"))?;
        self.0 = rest;
        Ok(front)
    }

    /// One byte.
    ///
    /// # Errors
    /// If none is left.
    pub fn byte(&mut self) -> Read<u8> {
        Ok(self.take(1)?[0])
    }

    /// See [`put_u64`].
    ///
    /// # Errors
    /// If there is no number.
    pub fn u64(&mut self) -> Read<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let low = u64::from(byte & 0x7F);
            if shift == 63 && low > 1 {
                break;
            }
            value |= low << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed::new("a number of 64 bits"))
    }

    /// A number of 32 bits, put as [`put_u64`].
    ///
    /// # Errors
    /// If there is none.
    pub fn u32(&mut self) -> Read<u32> {
        u32::try_from(self.u64()?).map_err(|_| Malformed::new("a number of 32 bits"))
    }

    /// See [`put_i64`].
    ///
    /// # Errors
    /// If there is no number.
    pub fn i64(&mut self) -> Read<i64> {
        let value = self.u64()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// See [`put_i128`].
    ///
    /// # Errors
    /// If there is no number.
    pub fn i128(&mut self) -> Read<i128> {
        let bytes = self.take(16)?.try_into().map_err(|_| Malformed::new("16 bytes"))?;
        Ok(i128::from_le_bytes(bytes))
    }

    /// See [`put_f64`].
    ///
    /// # Errors
    /// If there is no double.
    pub fn f64(&mut self) -> Read<f64> {
        let bytes = self.take(8)?.try_into().map_err(|_| Malformed::new("8 bytes"))?;
        Ok(f64::from_bits(u64::from_le_bytes(bytes)))
    }

    /// See [`put_bool`].
    ///
    /// # Errors
    /// If there is no truth value.
    pub fn bool(&mut self) -> Read<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed::new("a truth value")),
        }
    }

    /// See [`put_len`]. Of things that take at least a byte each: no more than are left.
    ///
    /// # Errors
    /// If there is no length, or so much cannot follow.
    pub fn len(&mut self) -> Read<usize> {
        let len = usize::try_from(self.u64()?).map_err(|_| Malformed::new("a length"))?;
        if len > self.0.len() { Err(Malformed::new("as much as a length says")) } else { Ok(len) }
    }

    /// See [`put_bytes`].
    ///
    /// # Errors
    /// If there are no such bytes.
    pub fn bytes(&mut self) -> Read<&'a [u8]> {
        let len = self.len()?;
        self.take(len)
    }

    /// Bytes that are text.
    ///
    /// # Errors
    /// If there is no text.
    pub fn text(&mut self) -> Read<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed::new("a text"))
    }

    /// See [`put_value`].
    ///
    /// # Errors
    /// If there is no value.
    pub fn value(&mut self) -> Read<Value> {
        Ok(match self.byte()? {
            NULL => Value::Null,
            FALSE => Value::Bool(false),
            TRUE => Value::Bool(true),
            INT => Value::Int(self.i64()?),
            FLOAT => Value::Float(self.f64()?),
            TEXT => Value::Text(self.text()?.into()),
            BYTES => Value::Bytes(self.bytes()?.into()),
            JSON => Value::Json(self.text()?.into()),
            _ => return Err(Malformed::new("a value")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_values_come_back_bit_for_bit() {
        let values = [
            Value::Null,
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Float(-0.0),
            Value::Float(f64::NAN),
            Value::Text("Đà\0".into()),
            Value::Bytes([0, 255].as_slice().into()),
            Value::Json("[1]".into()),
        ];
        let mut out = Vec::new();
        for number in [0, 1, 127, 128, u64::MAX] {
            put_u64(&mut out, number);
        }
        for number in [0, -1, i64::MIN, i64::MAX] {
            put_i64(&mut out, number);
        }
        put_i128(&mut out, i128::MIN);
        values.iter().for_each(|value| put_value(&mut out, value.as_ref()));
        let mut stored = Stored::new(&out);
        for number in [0, 1, 127, 128, u64::MAX] {
            assert_eq!(stored.u64(), Ok(number));
        }
        for number in [0, -1, i64::MIN, i64::MAX] {
            assert_eq!(stored.i64(), Ok(number));
        }
        assert_eq!(stored.i128(), Ok(i128::MIN));
        for value in &values {
            let back = stored.value().expect("a value");
            match (value, &back) {
                (Value::Float(one), Value::Float(two)) => assert_eq!(one.to_bits(), two.to_bits()),
                _ => assert_eq!(*value, back),
            }
        }
        assert_eq!(stored.end(), Ok(()));
    }

    #[test]
    fn what_is_cut_or_foreign_is_refused() {
        let mut out = Vec::new();
        put_bytes(&mut out, b"abc");
        assert!(Stored::new(&out[..3]).bytes().is_err());
        assert!(Stored::new(&[0xFF; 10]).u64().is_err(), "more than 64 bits");
        assert!(Stored::new(&[9]).value().is_err());
        assert!(Stored::new(&[2]).bool().is_err());
        assert!(Stored::new(&[0]).end().is_err());
    }
}
