//! Several files, each a partition, read as one: by arrival, or one line from each in turn.
//!
//! By arrival, the next line is that of the file whose next line has the smallest arrival; of equal ones, that of the file
//! that comes first on the command line. A line without a readable arrival, a blank one included, is read right after the
//! line before it in its file, and at a file's start before anything else. In turn, a blank line takes its turn too.
//! A file ends right after its last line, an empty one at once.

use tidegate_formats::{FieldReader, parse_time};
use tidegate_types::{EventTime, PartitionId, Value};

use super::lines::Lines;
use crate::batch::BatchBuilder;
use crate::source::{Source, SourceBatch, SourceError};

/// Reads several inputs.
pub(super) struct MergedFiles {
    files: Vec<OpenFile>,
    partitions: Vec<Value>,
    arrival: Option<FieldReader>,
    /// The file whose turn it is, when lines are read in turn.
    turn: usize,
    started: bool,
}

struct OpenFile {
    lines: Lines,
    /// The place of the next line among those of all files: its arrival, or the least for one without.
    due: EventTime,
    ended: bool,
}

impl MergedFiles {
    pub(super) fn new(files: Vec<Lines>, arrival_field: Option<&str>) -> Self {
        let partitions = (0..).zip(&files).map(|(place, _)| Value::Int(place)).collect();
        let open = |lines| OpenFile { lines, due: EventTime::MIN, ended: false };
        Self {
            files: files.into_iter().map(open).collect(),
            partitions,
            arrival: arrival_field.map(FieldReader::new),
            turn: 0,
            started: false,
        }
    }

    /// Finds a file's next line, or notes its end.
    fn find(&mut self, place: usize, batch: &mut BatchBuilder) -> Result<(), SourceError> {
        let file = &mut self.files[place];
        if !file.lines.find()? {
            file.ended = true;
            batch.end(partition_id(place));
        } else if let Some(field) = &mut self.arrival {
            file.due = field.read(file.lines.line()).and_then(parse_time).unwrap_or(EventTime::MIN);
        }
        Ok(())
    }

    /// The file to read the next line from; none if all have ended.
    fn next(&self) -> Option<usize> {
        let open = |place: &usize| !self.files[*place].ended;
        if self.arrival.is_some() {
            (0..self.files.len()).filter(open).min_by_key(|place| self.files[*place].due)
        } else {
            (self.turn..self.files.len()).chain(0..self.turn).find(open)
        }
    }
}

fn partition_id(place: usize) -> PartitionId {
    PartitionId(u32::try_from(place).expect("a command line has fewer than 2^32 files"))
}

impl Source for MergedFiles {
    fn partitions(&self) -> &[Value] {
        &self.partitions
    }

    fn read(&mut self, max_rows: usize, max_bytes: usize) -> Result<SourceBatch, SourceError> {
        let mut batch = BatchBuilder::new(max_rows, max_bytes);
        if !self.started {
            self.started = true;
            for place in 0..self.files.len() {
                self.find(place, &mut batch)?;
            }
        }
        let mut next = self.next();
        while let Some(place) = next.filter(|_| batch.has_room()) {
            let lines = &mut self.files[place].lines;
            if !lines.is_blank() {
                batch.push(lines.line(), Some(partition_id(place)), lines.number());
            }
            lines.pass();
            self.turn = place + 1;
            self.find(place, &mut batch)?;
            next = self.next();
        }
        Ok(batch.finish(next.is_none()))
    }
}

#[cfg(test)]
mod tests;
