//! Reads one field of single records: what a source must know before records are decoded.

use tidegate_types::ValueRef;

use super::decode::read_object;
use super::fill::value;
use super::scan::Token;
use super::shape::Shape;
use crate::decoded::MAX_RECORD_BYTES;

/// Reads a field of one record after the other.
#[derive(Debug)]
pub struct FieldReader {
    shape: Shape,
    scratch: String,
}

impl FieldReader {
    /// A reader of the field of this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { shape: Shape::new(vec![name.to_owned()]), scratch: String::new() }
    }

    /// The field's value; null where it is absent.
    ///
    /// None if the record is none that the decoder reads as a JSON object.
    pub fn read<'a>(&'a mut self, record: &'a [u8]) -> Option<ValueRef<'a>> {
        if record.len() > MAX_RECORD_BYTES {
            return None;
        }
        let text = std::str::from_utf8(record).ok()?;
        let mut slots = [Token::Absent];
        read_object(&mut self.shape, text, &mut slots).ok()?;
        Some(value(text, slots[0], &mut self.scratch))
    }
}
