//! Lines of an input: where they end, how long they may be, what is blank.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;

/// Gives its bytes in pieces of this size, now and then interrupted.
struct Pieces {
    bytes: Cursor<Vec<u8>>,
    size: usize,
    interrupted: bool,
}

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = into.len().min(self.size);
        self.bytes.read(&mut into[..len])
    }
}

fn lines_of(bytes: impl Into<Vec<u8>>, size: usize) -> Vec<Vec<u8>> {
    let reader = Pieces { bytes: Cursor::new(bytes.into()), size, interrupted: false };
    let mut lines = Lines::new("input".into(), Box::new(reader), false);
    let mut read = Vec::new();
    while lines.find().unwrap() {
        assert_eq!(lines.number(), u64::try_from(read.len()).unwrap());
        read.push(lines.line().to_vec());
        lines.pass();
        assert!(lines.buffer.len() <= CUT + 2 + 2 * BLOCK);
    }
    assert!(!lines.find().unwrap());
    read
}

#[test]
fn a_last_line_needs_no_line_feed() {
    assert_eq!(lines_of("a\nb", 1), [b"a", b"b"]);
    assert_eq!(lines_of("a\nb\n", 1), [b"a", b"b"]);
    assert_eq!(lines_of("\n\n", 9), [b"", b""]);
    assert!(lines_of("", 9).is_empty());
}

#[test]
fn a_carriage_return_before_a_line_feed_is_not_the_records() {
    assert_eq!(lines_of("a\r\nb\r\r\nc\rd\r", 3), [&b"a"[..], b"b\r", b"c\rd"]);
}

#[test]
fn a_byte_order_mark_at_the_start_belongs_to_no_record() {
    let mark = "\u{feff}";
    assert_eq!(lines_of(format!("{mark}a\n{mark}b"), 2), [b"a".to_vec(), format!("{mark}b").into_bytes()]);
    let mut lines = Lines::new("input".into(), Box::new(mark.as_bytes()), false);
    assert!(lines.find().unwrap() && lines.is_blank());
}

#[test]
fn blank_lines_are_no_records() {
    let mut lines = Lines::new("input".into(), Box::new(&b" \t\r\n\x0c\n"[..]), false);
    assert!(lines.find().unwrap() && lines.is_blank());
    lines.pass();
    assert!(lines.find().unwrap() && !lines.is_blank());
}

#[test]
fn long_lines_are_cut_and_what_follows_is_whole() {
    for len in [MAX_RECORD_BYTES - 1, MAX_RECORD_BYTES, CUT, CUT + 1, CUT + 2, CUT + BLOCK, 5 * CUT] {
        for (end, size) in [("\n", BLOCK), ("\r\n", 100_001), ("\r\n", 7 * BLOCK)] {
            let text = format!("a\n{}{end}b\n{}", "x".repeat(len), "y".repeat(len));
            let read = lines_of(text, size);
            assert_eq!(
                read.iter().map(Vec::len).collect::<Vec<_>>(),
                [1, len.min(CUT), 1, len.min(CUT)],
                "{len} {end:?}"
            );
            assert_eq!(read[2], b"b");
        }
    }
}

#[test]
fn a_failed_read_names_the_input_and_the_line() {
    struct Broken(bool);
    impl Read for Broken {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0 {
                return Err(io::Error::other("the disk is gone"));
            }
            self.0 = true;
            into[..3].copy_from_slice(b"a\nb");
            Ok(3)
        }
    }
    let mut lines = Lines::new("events.ndjson".into(), Box::new(Broken(false)), false);
    assert!(lines.find().unwrap());
    lines.pass();
    assert_eq!(lines.find().unwrap_err().to_string(), "--input events.ndjson, line 2: cannot be read");
}

proptest! {
    #[test]
    fn the_size_of_reads_does_not_matter(text in "[ab\r\n]{0,40}", size in 1_usize..8) {
        let mut meant: Vec<&str> = text.split('\n').collect();
        if meant.last() == Some(&"") {
            meant.pop();
        }
        let meant: Vec<_> = meant.iter().map(|line| line.strip_suffix('\r').unwrap_or(line).as_bytes().to_vec()).collect();
        prop_assert_eq!(lines_of(text.as_str(), size), meant);
    }
}
