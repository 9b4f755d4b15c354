//! Lines become records, and each record gets its partition: plain values in, plain values out.
//!
//! Invariant: the partition of a keyed record depends on the record alone, so records of one key keep their order.

use bytes::Bytes;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use tidegate_types::key_hash;

/// What bounds the records of one append.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The most bytes of a record.
    pub(super) record_bytes: usize,
    /// The most records.
    pub(super) records: usize,
}

/// Why lines are no records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadLines {
    /// This line (from 1) is longer than a record may be.
    TooLong { line: u64, bytes: usize },
    /// There are too many.
    TooMany,
    /// There is none.
    Nothing,
}

/// The records of a body: its lines without their ends. A line of white space only is no record. What a record says is not
/// looked at: whether it is JSON is decided where it is read.
pub(super) fn split(body: &Bytes, bounds: Bounds) -> Result<Vec<Bytes>, BadLines> {
    let mut records = Vec::new();
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', body).chain([body.len()]);
    for (line, end) in (1..).zip(ends) {
        let record = &body[start..end];
        if !record.trim_ascii().is_empty() {
            if record.len() > bounds.record_bytes {
                return Err(BadLines::TooLong { line, bytes: record.len() });
            }
            if records.len() == bounds.records {
                return Err(BadLines::TooMany);
            }
            records.push(body.slice(start..end));
        }
        start = end + 1;
    }
    if records.is_empty() { Err(BadLines::Nothing) } else { Ok(records) }
}

/// The partition of a record by a field: the XXH3 hash (64 bits, seed 0) of the value's text, modulo the partitions. Text is
/// hashed without its quotes, other values as JSON writes them. A record that is no JSON object, or has no such field or null
/// there, is dealt by the hash of its bytes.
pub(super) fn partition_by_key(record: &[u8], field: &str, partitions: u32) -> u32 {
    let hash = match value_of(record, field) {
        None | Some(Value::Null) => key_hash(record),
        Some(Value::String(text)) => key_hash(text.as_bytes()),
        Some(other) => key_hash(other.to_string().as_bytes()),
    };
    u32::try_from(hash % u64::from(partitions.max(1))).expect("a remainder is below its u32 divisor")
}

/// The value of an object's field, if the whole record is valid JSON. Where the field stands twice the first counts.
fn value_of(record: &[u8], field: &str) -> Option<Value> {
    let mut json = serde_json::Deserializer::from_slice(record);
    let value = json.deserialize_map(OneField(field)).ok()?;
    json.end().ok()?;
    value
}

/// Keeps one field of an object, and passes over the others without keeping them.
struct OneField<'a>(&'a str);

impl<'de> Visitor<'de> for OneField<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if found.is_none() && name == self.0 {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
