//! Reads an input line by line, with the next line known before it is taken.
//!
//! Invariant: the buffer holds at most one block more than the longest record, whatever the lines are: a longer line is
//! cut to [`CUT`] bytes and the rest of it is read past.

use std::io::{self, Read};
use std::ops::Range;

use tidegate_formats::MAX_RECORD_BYTES;

use crate::source::SourceError;

/// So much is asked for in one read.
const BLOCK: usize = 256 << 10;
/// A line is cut to so many bytes: one more than a record may have.
const CUT: usize = MAX_RECORD_BYTES + 1;

/// What some programs put before text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The lines of an input.
pub(super) struct Lines {
    input: String,
    reader: Box<dyn Read + Send>,
    /// Whether reading may wait for whoever writes the input.
    waits: bool,
    buffer: Vec<u8>,
    /// What of the buffer was read and not taken yet.
    unread: Range<usize>,
    /// The next line, without its line feed, and where the one after it starts.
    head: Option<(Range<usize>, usize)>,
    number: u64,
    at_end: bool,
}

impl Lines {
    pub(super) fn new(input: String, reader: Box<dyn Read + Send>, waits: bool) -> Self {
        Self { input, reader, waits, buffer: Vec::new(), unread: 0..0, head: None, number: 0, at_end: false }
    }

    /// As the input is named in messages.
    pub(super) fn input(&self) -> &str {
        &self.input
    }

    /// Whether reading may wait for whoever writes the input, and what was read cannot be read again.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// The number of the next line, from 0.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Whether the next line is known without reading.
    pub(super) fn is_ready(&self) -> bool {
        self.head.is_some() || memchr::memchr(b'\n', &self.buffer[self.unread.clone()]).is_some()
    }

    /// Finds the next line: whether there is one.
    pub(super) fn find(&mut self) -> Result<bool, SourceError> {
        let mut searched = 0;
        while self.head.is_none() {
            let unread = &self.buffer[self.unread.clone()];
            if let Some(len) = memchr::memchr(b'\n', &unread[searched..]) {
                let end = self.unread.start + searched + len;
                self.head = Some((self.unread.start..end, end + 1));
            } else if unread.len() > CUT + 1 {
                // Even without a carriage return the line is longer than the cut.
                self.cut().map_err(|source| self.failed(source))?;
            } else if self.at_end {
                if unread.is_empty() {
                    return Ok(false);
                }
                self.head = Some((self.unread.clone(), self.unread.end));
            } else {
                searched = unread.len();
                self.fill().map_err(|source| self.failed(source))?;
            }
        }
        Ok(true)
    }

    /// The line that was found, without its end, the first without a byte order mark; empty if none was found.
    pub(super) fn line(&self) -> &[u8] {
        let line = self.head.as_ref().map_or(&[][..], |(line, _)| &self.buffer[line.clone()]);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = if self.number == 0 { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        &line[..line.len().min(CUT)]
    }

    /// Whether the line that was found is no record.
    pub(super) fn is_blank(&self) -> bool {
        self.line().iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
    }

    /// Takes the line that was found.
    pub(super) fn pass(&mut self) {
        if let Some((_, next)) = self.head.take() {
            self.unread.start = next;
            self.number += 1;
        }
    }

    fn failed(&self, source: io::Error) -> SourceError {
        SourceError::Read { input: self.input.clone(), line: self.number + 1, source }
    }

    /// Reads one block more.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        self.buffer.resize(self.unread.end + BLOCK, 0);
        let read = read_some(&mut *self.reader, &mut self.buffer[self.unread.end..])?;
        self.at_end = read == 0;
        self.unread.end += read;
        Ok(())
    }

    /// Makes the beginning of a long line the head and reads past its rest.
    fn cut(&mut self) -> io::Result<()> {
        let end = self.unread.start + CUT;
        let mut block = vec![0; BLOCK];
        let mut rest = 0..0;
        while !self.at_end {
            let read = read_some(&mut *self.reader, &mut block)?;
            self.at_end = read == 0;
            if let Some(feed) = memchr::memchr(b'\n', &block[..read]) {
                rest = feed + 1..read;
                break;
            }
        }
        self.buffer.truncate(end);
        self.buffer.extend_from_slice(&block[rest]);
        self.head = Some((self.unread.start..end, end));
        self.unread.end = self.buffer.len();
        Ok(())
    }
}

/// One read that was not interrupted.
fn read_some(reader: &mut dyn Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests;
