//! Reads a few fields of single records: what a source must know before records are decoded.

use tidegate_types::Value;

use super::decode::read_object;
use super::fill::Values;
use super::scan::Token;
use super::shape::Shape;
use crate::decoded::MAX_RECORD_BYTES;

/// Reads some fields of one record after the other.
#[derive(Debug)]
pub struct FieldReader {
    shape: Shape,
    slots: Vec<Token>,
    values: Vec<Value>,
    scratch: String,
}

impl FieldReader {
    /// A reader of the fields of these names.
    #[must_use]
    pub fn new(names: &[&str]) -> Self {
        Self {
            shape: Shape::new(names.iter().map(|name| (*name).to_owned()).collect()),
            slots: vec![Token::Absent; names.len()],
            values: Vec::new(),
            scratch: String::new(),
        }
    }

    /// The fields' values, in the order of the names; null where a field is absent.
    ///
    /// None if the record is none that the decoder reads as a JSON object.
    pub fn read(&mut self, record: &[u8]) -> Option<&[Value]> {
        if record.len() > MAX_RECORD_BYTES {
            return None;
        }
        let text = std::str::from_utf8(record).ok()?;
        read_object(&mut self.shape, text, &mut self.slots).ok()?;
        let values = Values { text, slots: &self.slots };
        self.values.clear();
        for slot in 0..self.slots.len() {
            self.values.push(values.get(slot, &mut self.scratch).to_value());
        }
        Some(&self.values)
    }
}
