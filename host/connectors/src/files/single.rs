//! A single input, as one partition or dealt to partitions by a field's value.
//!
//! Lines come in the order of the file. With a partition field the set of partitions is the set of values of that field
//! (by type and value, absent is null) over all JSON objects, in order of first appearance; lines that are no JSON object
//! are of no partition. No partition ends before the file does.

use std::collections::BTreeMap;

use tidegate_formats::FieldReader;
use tidegate_types::key::encode_value;
use tidegate_types::{PartitionId, Value};

use super::lines::Lines;
use crate::batch::BatchBuilder;
use crate::source::{Source, SourceBatch, SourceError};

/// Reads one input.
pub(super) struct SingleFile {
    lines: Lines,
    partitions: Vec<Value>,
    dealer: Option<Dealer>,
    done: bool,
}

/// Finds a record's partition.
struct Dealer {
    field: FieldReader,
    /// By the value's encoding.
    known: BTreeMap<Vec<u8>, PartitionId>,
    encoded: Vec<u8>,
}

impl SingleFile {
    /// The whole input as partition 0.
    pub(super) fn whole(lines: Lines) -> Self {
        Self { lines, partitions: vec![Value::Int(0)], dealer: None, done: false }
    }

    /// The records by a field's value; `first_pass` and `lines` read the same file.
    pub(super) fn by_field(mut first_pass: Lines, lines: Lines, field: &str) -> Result<Self, SourceError> {
        let mut dealer = Dealer { field: FieldReader::new(field), known: BTreeMap::new(), encoded: Vec::new() };
        let mut partitions = Vec::new();
        while first_pass.find()? {
            if !first_pass.is_blank() {
                dealer.learn(first_pass.line(), &mut partitions);
            }
            first_pass.pass();
        }
        Ok(Self { lines, partitions, dealer: Some(dealer), done: false })
    }

    /// The partition of the line that was found.
    fn partition(&mut self) -> Result<Option<PartitionId>, SourceError> {
        let Some(dealer) = &mut self.dealer else {
            return Ok(Some(PartitionId(0)));
        };
        dealer.partition(self.lines.line()).map_err(|Unknown| SourceError::Changed {
            input: self.lines.input().to_owned(),
            line: self.lines.number() + 1,
        })
    }
}

/// A value that the first pass did not see.
struct Unknown;

impl Dealer {
    fn learn(&mut self, record: &[u8], partitions: &mut Vec<Value>) {
        let Some(value) = self.field.read(record) else { return };
        self.encoded.clear();
        encode_value(&mut self.encoded, value);
        if !self.known.contains_key(&self.encoded) {
            let next = PartitionId(u32::try_from(partitions.len()).expect("a file has fewer than 2^32 partitions"));
            self.known.insert(self.encoded.clone(), next);
            partitions.push(value.to_value());
        }
    }

    fn partition(&mut self, record: &[u8]) -> Result<Option<PartitionId>, Unknown> {
        let Some(value) = self.field.read(record) else { return Ok(None) };
        self.encoded.clear();
        encode_value(&mut self.encoded, value);
        self.known.get(&self.encoded).copied().map(Some).ok_or(Unknown)
    }
}

impl Source for SingleFile {
    fn partitions(&self) -> &[Value] {
        &self.partitions
    }

    fn read(&mut self, max_rows: usize, max_bytes: usize) -> Result<SourceBatch, SourceError> {
        let mut batch = BatchBuilder::new(max_rows, max_bytes);
        while !self.done && batch.has_room() {
            // What was read should not wait for what is not written yet.
            if self.lines.waits() && !batch.is_empty() && !self.lines.is_ready() {
                break;
            }
            if !self.lines.find()? {
                self.done = true;
                for partition in (0..).zip(&self.partitions).map(|(place, _)| PartitionId(place)) {
                    batch.end(partition);
                }
                break;
            }
            if !self.lines.is_blank() {
                let partition = self.partition()?;
                batch.push(self.lines.line(), partition, self.lines.number());
            }
            self.lines.pass();
        }
        Ok(batch.finish(self.done))
    }
}
