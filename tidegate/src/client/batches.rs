//! Cuts lines into the batches that are appended: by count, by size and, for what comes from a pipe, by time.
//!
//! Invariants: a batch has whole lines, in order, and at least one; blank lines belong to none. A file is cut by count and
//! size alone, so the same file always gives the same batches.

use std::io::BufRead;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// Lines that wait to be put into batches.
const WAITING: usize = 4096;

/// Where batches are cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    pub(super) records: usize,
    pub(super) bytes: usize,
    /// How long the first line of a batch waits for others; none: until the batch is full.
    pub(super) linger: Option<Duration>,
}

/// Lines to append in one request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Batch {
    /// Lines with line feeds.
    pub(super) body: Vec<u8>,
    pub(super) records: usize,
}

/// Batches of what a reader gives.
pub(super) struct Batches {
    lines: Receiver<std::io::Result<Vec<u8>>>,
    cut: Cut,
    /// A line that did not fit into the batch before.
    left: Option<Vec<u8>>,
}

impl Batches {
    /// Starts reading, on a thread of its own.
    ///
    /// # Errors
    /// If there is no thread.
    pub(super) fn of(mut input: Box<dyn BufRead + Send>, cut: Cut) -> Result<Self, Failure> {
        let (sender, lines) = sync_channel(WAITING);
        let reading = move || {
            loop {
                let mut line = Vec::new();
                let message = match input.read_until(b'\n', &mut line) {
                    Ok(0) => return,
                    Ok(_) => Ok(line),
                    Err(error) => Err(error),
                };
                let is_last = message.is_err();
                // A receiver that has left wants nothing more.
                if sender.send(message).is_err() || is_last {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("tidegate-append".into()).spawn(reading);
        thread.map_err(|error| Failure::external(format!("no thread to read the records on: {error}")))?;
        Ok(Self { lines, cut, left: None })
    }

    /// The next batch; none at the end.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub(super) fn next(&mut self) -> Result<Option<Batch>, Failure> {
        let mut batch = Batch::default();
        let mut due = None;
        while batch.records < self.cut.records {
            let line = match self.left.take() {
                Some(line) => line,
                None => match self.line(due) {
                    Ok(line) => {
                        line.map_err(|error| Failure::external(format!("the records cannot be read: {error}")))?
                    }
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                },
            };
            let text = line.trim_ascii();
            if text.is_empty() {
                continue;
            }
            if batch.records > 0 && batch.body.len() + text.len() + 1 > self.cut.bytes {
                self.left = Some(line);
                break;
            }
            batch.body.extend_from_slice(text);
            batch.body.push(b'\n');
            batch.records += 1;
            due = due.or_else(|| self.cut.linger.map(|linger| now() + linger));
        }
        Ok((batch.records > 0).then_some(batch))
    }

    fn line(&self, due: Option<Instant>) -> Result<std::io::Result<Vec<u8>>, RecvTimeoutError> {
        match due {
            None => self.lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => self.lines.recv_timeout(due.saturating_duration_since(now())),
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "how long a line waits for others is real time; only batches depend on it"
)]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn cut(text: &'static str, records: usize, bytes: usize) -> Vec<String> {
        let cut = Cut { records, bytes, linger: None };
        let mut batches = Batches::of(Box::new(Cursor::new(text)), cut).unwrap();
        std::iter::from_fn(|| batches.next().unwrap()).map(|batch| String::from_utf8(batch.body).unwrap()).collect()
    }

    #[test]
    fn batches_are_cut_by_count_and_by_size() {
        assert_eq!(cut("a\nb\nc\n", 2, 100), ["a\nb\n", "c\n"]);
        assert_eq!(cut("aaa\nbbb\nc", 10, 8), ["aaa\nbbb\n", "c\n"]);
    }

    #[test]
    fn a_line_longer_than_a_batch_is_a_batch_by_itself() {
        assert_eq!(cut("a\nlonger than that\nb\n", 10, 4), ["a\n", "longer than that\n", "b\n"]);
    }

    #[test]
    fn blank_lines_and_line_ends_of_windows_are_no_records() {
        assert_eq!(cut("\n a \r\n\n\r\nb", 10, 100), ["a\nb\n"]);
        assert!(cut("\n \n", 10, 100).is_empty());
    }

    /// Gives a line, and then no end until it is dropped.
    struct Pipe(Cursor<&'static str>, Receiver<()>);

    impl std::io::Read for Pipe {
        fn read(&mut self, _into: &mut [u8]) -> std::io::Result<usize> {
            unreachable!("lines are read through the buffer")
        }
    }

    impl BufRead for Pipe {
        fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
            if self.0.position() == 2 {
                let _ = self.1.recv();
            }
            self.0.fill_buf()
        }

        fn consume(&mut self, amount: usize) {
            self.0.consume(amount);
        }
    }

    #[test]
    fn a_line_of_a_pipe_waits_for_others_but_not_for_ever() {
        let (more, waits) = std::sync::mpsc::channel();
        let cut = Cut { records: 10, bytes: 100, linger: Some(Duration::from_millis(1)) };
        let mut batches = Batches::of(Box::new(Pipe(Cursor::new("a\nb\n"), waits)), cut).unwrap();
        assert_eq!(batches.next().unwrap().unwrap().body, b"a\n");
        drop(more);
        assert_eq!(batches.next().unwrap().unwrap().body, b"b\n");
        assert_eq!(batches.next().unwrap(), None);
    }
}
