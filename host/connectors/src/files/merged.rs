//! Several files, each a partition, read as one: by arrival, or one line from each in turn.
//!
//! By arrival, the next line is that of the file whose next line has the smallest arrival; of equal ones, that of the file
//! that comes first on the command line. A line without a readable arrival, a blank one included, is read right after the
//! line before it in its file, and at a file's start before anything else. In turn, a blank line takes its turn too.
//! A file ends right after its last line, an empty one at once. Where an input keeps waiting for whoever writes it, what
//! was read of all of them goes on meanwhile.

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
}

struct OpenFile {
    lines: Lines,
    next: Next,
    /// The place of the next line among those of all files: its arrival, or the least for one without.
    due: EventTime,
}

/// What is known of a file's next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Nothing: the file has to be read.
    Unknown,
    /// It is there.
    Found,
    /// There is none.
    None,
}

impl OpenFile {
    /// Whether nobody has written the next line of the input yet, as far as is known without waiting for it.
    fn keeps_waiting(&self) -> bool {
        self.next == Next::Unknown && self.lines.waits() && !self.lines.is_ready()
    }
}

impl MergedFiles {
    pub(super) fn new(files: Vec<Lines>, arrival_field: Option<&str>) -> Self {
        let partitions = (0..).zip(&files).map(|(place, _)| Value::Int(place)).collect();
        let open = |lines| OpenFile { lines, due: EventTime::MIN, next: Next::Unknown };
        Self {
            files: files.into_iter().map(open).collect(),
            partitions,
            arrival: arrival_field.map(FieldReader::new),
            turn: 0,
        }
    }

    /// A file whose next line has to be known before a line of any file is taken.
    ///
    /// By arrival all of them have. In turn, a file's end has to be noted right after its last line, so that of the file
    /// that was read last, and that of the file whose turn it is. A pipe that nothing was read from is not waited for
    /// before its first turn: that it has ended makes no difference before, since it counts as minus infinity.
    fn unknown(&self) -> Option<usize> {
        let is_due = |file: &OpenFile| self.arrival.is_some() || !file.lines.waits() || file.lines.number() > 0;
        let unknown = |file: &OpenFile| file.next == Next::Unknown;
        let due = self.files.iter().position(|file| unknown(file) && is_due(file));
        due.or_else(|| self.next().filter(|place| unknown(&self.files[*place])))
    }

    /// Finds a file's next line, or notes its end.
    fn find(&mut self, place: usize, batch: &mut BatchBuilder) -> Result<(), SourceError> {
        let file = &mut self.files[place];
        if !file.lines.find()? {
            file.next = Next::None;
            batch.end(partition_id(place));
            return Ok(());
        }
        file.next = Next::Found;
        if let Some(field) = &mut self.arrival {
            file.due = field.read(file.lines.line()).and_then(parse_time).unwrap_or(EventTime::MIN);
        }
        Ok(())
    }

    /// The file to read the next line from; none if all have ended.
    fn next(&self) -> Option<usize> {
        let open = |place: &usize| self.files[*place].next != Next::None;
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
        loop {
            if let Some(place) = self.unknown() {
                // What was read should not wait for what is not written yet.
                if !batch.is_empty() && self.files[place].keeps_waiting() {
                    return Ok(batch.finish(false));
                }
                self.find(place, &mut batch)?;
                continue;
            }
            let Some(place) = self.next() else { return Ok(batch.finish(true)) };
            if !batch.has_room() {
                return Ok(batch.finish(false));
            }
            let file = &mut self.files[place];
            let blank = file.lines.is_blank();
            if !blank {
                batch.push(file.lines.line(), Some(partition_id(place)), file.lines.number());
            }
            file.lines.pass();
            file.next = Next::Unknown;
            self.turn = place + 1;
            // Ends at one position of a batch are one instant. An end that follows this line is later than those before it.
            if blank && batch.ends_here() {
                return Ok(batch.finish(false));
            }
        }
    }
}

#[cfg(test)]
mod tests;
