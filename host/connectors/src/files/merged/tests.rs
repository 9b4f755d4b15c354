//! Several inputs in turn or by arrival: order, ends, and pipes that keep waiting.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// What a source read, one text per record (`1:{…}`) and per end (`end 1`).
fn all(files: &[&str], arrival: Option<&str>, max_rows: usize, max_bytes: usize) -> Vec<String> {
    let open = |text: &&str| Lines::new("input".into(), Box::new(std::io::Cursor::new((*text).to_owned())), false);
    let mut source = MergedFiles::new(files.iter().map(open).collect(), arrival);
    let mut log = Vec::new();
    loop {
        let batch = source.read(max_rows, max_bytes).unwrap();
        let mut ended = batch.ended.iter().peekable();
        for position in 0..=batch.spans.len() {
            while let Some((_, PartitionId(partition))) =
                ended.next_if(|(at, _)| usize::try_from(*at).unwrap() == position)
            {
                log.push(format!("end {partition}"));
            }
            if let Some((start, end)) = batch.spans.get(position) {
                let record = &batch.data[usize::try_from(*start).unwrap()..usize::try_from(*end).unwrap()];
                let PartitionId(partition) = batch.partition[position].unwrap();
                log.push(format!("{partition}.{}:{}", batch.offsets[position], String::from_utf8_lossy(record)));
            }
        }
        assert!(ended.next().is_none());
        if batch.done {
            let after = source.read(max_rows, max_bytes).unwrap();
            assert!(after.done && after.spans.is_empty() && after.ended.is_empty());
            return log;
        }
        assert!(!(batch.spans.is_empty() && batch.ended.is_empty()) && batch.spans.len() <= max_rows);
    }
}

/// Found by seed 9389 of the random scenarios: the second file ends while the first still has a blank line, which is read
/// after that end.
#[test]
fn ends_with_a_blank_line_between_them_are_two_instants() {
    let open = |text: &str| Lines::new("input".into(), Box::new(std::io::Cursor::new(text.to_owned())), false);
    let mut source = MergedFiles::new(vec![open("a\n\r\n"), open("b")], None);
    let first = source.read(100, 1 << 20).unwrap();
    assert_eq!((first.spans.len(), &*first.ended, first.done), (2, &[(2, PartitionId(1))][..], false));
    let second = source.read(100, 1 << 20).unwrap();
    assert_eq!((second.spans.len(), &*second.ended, second.done), (0, &[(0, PartitionId(0))][..], true));
}

/// An input that is written piece by piece; to read more than was written would wait for ever.
struct Pipe(Vec<&'static [u8]>);

impl std::io::Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        assert!(!self.0.is_empty(), "the source waits for an input that keeps waiting");
        let piece = self.0.remove(0);
        into[..piece.len()].copy_from_slice(piece);
        Ok(piece.len())
    }
}

fn pipes(pieces: Vec<Vec<&'static [u8]>>, arrival: Option<&str>) -> MergedFiles {
    let open = |pieces| Lines::new("pipe".into(), Box::new(Pipe(pieces)), true);
    MergedFiles::new(pieces.into_iter().map(open).collect(), arrival)
}

/// The partition and offset of each record.
type Places = Vec<(u32, u64)>;

/// The records, the ends, and whether nothing follows.
fn read(source: &mut MergedFiles) -> (Places, Vec<(u32, PartitionId)>, bool) {
    let batch = source.read(100, 1 << 20).unwrap();
    let partitions = batch.partition.iter().map(|id| id.unwrap().0);
    (partitions.zip(batch.offsets).collect(), batch.ended, batch.done)
}

#[test]
fn what_was_read_does_not_wait_for_a_silent_input() {
    let mut source = pipes(vec![vec![b"a\nb\n"], vec![]], None);
    assert_eq!(read(&mut source), (vec![(0, 0)], vec![], false), "it is the turn of the second, which is silent");

    let mut source = pipes(vec![vec![b"a\nb\n", b"c\n", b""], vec![b"x\n", b""]], None);
    assert_eq!(read(&mut source), (vec![(0, 0)], vec![], false));
    assert_eq!(read(&mut source), (vec![(1, 0)], vec![], false), "whether the second has ended is not known yet");
    assert_eq!(read(&mut source), (vec![(0, 1)], vec![(0, PartitionId(1))], false));
    assert_eq!(read(&mut source), (vec![(0, 2)], vec![], false));
    assert_eq!(read(&mut source), (vec![], vec![(0, PartitionId(0))], true));
}

#[test]
fn by_arrival_what_was_read_does_not_wait_either() {
    let mut source = pipes(vec![vec![b"{\"at\":1}\n{\"at\":2}\n"], vec![b"{\"at\":9}\n"]], Some("at"));
    assert_eq!(read(&mut source), (vec![(0, 0), (0, 1)], vec![], false));
}

#[test]
fn without_an_arrival_field_files_take_turns() {
    let log = all(&["a\n\nb\nc\n", "", "d\ne"], None, 100, 1 << 20);
    assert_eq!(log, ["end 1", "0.0:a", "2.0:d", "2.1:e", "end 2", "0.2:b", "0.3:c", "end 0"]);
}

#[test]
fn a_file_of_blank_lines_takes_its_turns_and_ends_with_the_last() {
    let log = all(&["\n\n", "a\nb\nc"], None, 100, 1 << 20);
    assert_eq!(log, ["1.0:a", "end 0", "1.1:b", "1.2:c", "end 1"]);
}

#[test]
fn lines_are_merged_by_arrival_and_ties_go_by_the_command_line() {
    let first = "{\"at\":10}\n{\"at\":\"1970-01-01T00:00:00.030Z\"}\n";
    let second = "{\"at\":5}\n{\"at\":10}\n{\"at\":30}\n{\"at\":20}\n";
    let log = all(&[first, second], Some("at"), 100, 1 << 20);
    let expected = [
        "1.0:{\"at\":5}",
        "0.0:{\"at\":10}",
        "1.1:{\"at\":10}",
        "0.1:{\"at\":\"1970-01-01T00:00:00.030Z\"}",
        "end 0",
        "1.2:{\"at\":30}",
        "1.3:{\"at\":20}",
        "end 1",
    ];
    assert_eq!(log, expected);
}

#[test]
fn a_line_without_a_readable_arrival_follows_its_predecessor() {
    let first = "x\n{\"at\":9}\n{\"at\":\"soon\"}\n\n[]\n{\"at\":12}\n";
    let second = "{\"at\":1}\ny\n{\"at\":10}\nz";
    let log = all(&[first, second], Some("at"), 100, 1 << 20);
    let expected = [
        "0.0:x",
        "1.0:{\"at\":1}",
        "1.1:y",
        "0.1:{\"at\":9}",
        "0.2:{\"at\":\"soon\"}",
        "0.4:[]",
        "1.2:{\"at\":10}",
        "1.3:z",
        "end 1",
        "0.5:{\"at\":12}",
        "end 0",
    ];
    assert_eq!(log, expected);
}

proptest! {
    #[test]
    fn where_batches_are_cut_does_not_matter(
        files in vec(vec(prop_oneof![
            (0..9).prop_map(|at| format!("{{\"at\":{at}}}")),
            Just(String::new()),
            Just("x".to_owned()),
        ], 0..6), 1..4),
        by_arrival: bool,
        max_rows in 1_usize..4,
        max_bytes in 1_usize..20,
    ) {
        let files: Vec<String> = files.iter().map(|lines| lines.join("\n")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let arrival = by_arrival.then_some("at");
        prop_assert_eq!(all(&files, arrival, max_rows, max_bytes), all(&files, arrival, 1_000, 1 << 20));
    }
}
