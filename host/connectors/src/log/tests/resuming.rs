//! Reading that is broken off and resumed gives what reading without a break gives.

use tidegate_log::contract::{Chance, seeds};

use super::several::{named, open_several, put, with_streams};
use super::*;
use crate::SourcePosition;

fn number(chance: &mut Chance, bound: u64) -> usize {
    usize::try_from(chance.below(bound)).unwrap()
}

/// Streams with records of all lengths, some of their partitions sealed, and the names to read.
fn random_log(chance: &mut Chance) -> (Arc<MemoryLog>, Vec<&'static str>) {
    let log = with_streams(&[("a", 1 + u32::try_from(chance.below(4)).unwrap()), ("b", 2)]);
    for name in ["a", "b"] {
        let partitions = log.describe(&named(name)).unwrap().partitions.len();
        for record in 0..chance.below(1500) {
            // Some partitions get most of the records.
            let partition = u32::try_from(number(chance, 1 + chance.clone().below(partitions as u64))).unwrap();
            let filler = "x".repeat(if chance.percent(5) { 900 } else { number(chance, 20) });
            put(&log, name, partition, &format!("{record}{filler}"), 1);
        }
        log.seal(&named(name), None).unwrap();
    }
    (log, if chance.percent(50) { vec!["a", "b"] } else { vec!["b", "a", "b"] })
}

fn resume(log: &Arc<MemoryLog>, names: &[&str], position: &SourcePosition) -> Result<LogSource, SourceError> {
    let streams = names.iter().map(|name| named(name)).collect();
    LogSource::resume(Arc::clone(log) as Arc<dyn Log>, streams, position, Arc::default())
}

/// Reads batches of random sizes to the end; after each the source may be thrown away and resumed.
fn read_with_breaks(log: &Arc<MemoryLog>, names: &[&str], chance: &mut Chance) -> (Everything, u64) {
    let (mut source, _stop) = open_several(log, names);
    let (mut records, mut ends, mut breaks) = (Vec::new(), Vec::new(), 0);
    loop {
        let rows = 1 + if chance.percent(50) { chance.below(40) } else { chance.below(600) };
        let bytes = 1 + if chance.percent(20) { chance.below(500) } else { 1 << 20 };
        let batch = source.read(usize::try_from(rows).unwrap(), usize::try_from(bytes).unwrap()).unwrap();
        ends.extend(batch.ended.iter().map(|(at, id)| (id.0, records.len() + usize::try_from(*at).unwrap())));
        records.extend(texts(&batch));
        let position = batch.after.expect("every batch says where reading goes on");
        assert_eq!(position.next_offsets().unwrap().concat(), source.positions().next());
        if chance.percent(40) {
            source = resume(log, names, &position).unwrap();
            breaks += 1;
        }
        if batch.done {
            let after = source.read(10, 10).unwrap();
            assert!(after.done && after.spans.is_empty() && after.ended.is_empty(), "the end is an end once");
            return ((records, ends), breaks);
        }
    }
}

/// The next offsets of all streams together.
trait Concat {
    fn concat(self) -> Vec<u64>;
}

impl Concat for Vec<(StreamId, Vec<u64>)> {
    fn concat(self) -> Vec<u64> {
        self.into_iter().flat_map(|(_, offsets)| offsets).collect()
    }
}

#[test]
fn reading_with_breaks_gives_what_reading_without_gives() {
    let mut all = 0;
    for seed in seeds(60) {
        println!("seed {seed} (replay: SEED={seed})");
        let chance = &mut Chance::of_seed(seed);
        let (log, names) = random_log(chance);
        let whole = read_all(&mut open_several(&log, &names).0, 10_000, 1 << 24);
        let (with_breaks, breaks) = read_with_breaks(&log, &names, chance);
        assert_eq!(with_breaks, whole, "seed {seed}, {breaks} breaks");
        all += breaks;
    }
    assert!(all > 0, "something was broken off");
}

#[test]
fn a_turn_is_given_out_to_its_end_though_the_log_has_grown() {
    let log = with_streams(&[("a", 2)]);
    for record in 0..300 {
        put(&log, "a", 0, &record.to_string(), 1);
        put(&log, "a", 1, &record.to_string(), 1);
    }
    let (mut source, _stop) = open_several(&log, &["a"]);
    let position = source.read(100, 1 << 20).unwrap().after.unwrap();
    for record in 300..400 {
        put(&log, "a", 0, &record.to_string(), 1);
    }
    let mut resumed = resume(&log, &["a"], &position).unwrap();
    let turns = |source: &mut LogSource| {
        let records = texts(&source.read(300, 1 << 20).unwrap());
        records.chunk_by(|a, b| a.1 == b.1).map(|turn| (turn[0].1, turn[0].2, turn.len())).collect::<Vec<_>>()
    };
    assert_eq!(turns(&mut resumed), [(0, 100, 156), (1, 0, 144)]);
}

#[test]
fn partitions_that_were_added_begin_at_their_oldest_records() {
    let before = with_streams(&[("a", 1), ("b", 1)]);
    let after = with_streams(&[("a", 3), ("b", 1)]);
    for log in [&before, &after] {
        put(log, "a", 0, "1", 1);
        put(log, "a", 0, "2", 1);
        put(log, "b", 0, "3", 1);
    }
    put(&after, "a", 2, "new", 1);
    let position = open_several(&before, &["a", "b"]).0.read(1, 100).unwrap().after.unwrap();
    let mut resumed = resume(&after, &["a", "b"], &position).unwrap();
    assert_eq!(resumed.partitions().len(), 4);
    let records = texts(&resumed.read(100, 1000).unwrap());
    let expected = [("2", 0, 1), ("new", 2, 0), ("3", 3, 0)];
    assert_eq!(records, expected.map(|(text, partition, offset)| (text.to_owned(), partition, offset)));
}

#[test]
fn a_partition_of_which_nothing_was_read_still_begins_at_whatever_is_kept() {
    let log = with_streams(&[("a", 1)]);
    let bounded =
        StreamSpec { partitions: 1, retention: Retention { bytes: Some(1), age_ms: None }, max_record_bytes: 9 };
    log.create(&named("b"), &bounded).unwrap();
    put(&log, "a", 0, "1", 1);
    put(&log, "b", 0, "x", 1);
    let position = open_several(&log, &["a", "b"]).0.read(1, 100).unwrap().after.unwrap();
    put(&log, "b", 0, "y", 1);
    log.retain(1).unwrap();
    let records = texts(&resume(&log, &["a", "b"], &position).unwrap().read(9, 100).unwrap());
    assert_eq!(records, [("y".to_owned(), 1, 1)]);
}

#[test]
fn what_retention_took_from_under_a_position_is_named() {
    let log = log(1, Retention { bytes: Some(2), age_ms: None });
    append(&log, &[(0, "a"), (0, "b"), (0, "c")], 1);
    let position = open(&log, &Start::Earliest).0.read(1, 100).unwrap().after.unwrap();
    append(&log, &[(0, "d"), (0, "e")], 1);
    log.retain(1).unwrap();
    let error = LogSource::resume(log, vec![stream()], &position, Arc::default()).err().unwrap();
    assert!(matches!(error, SourceError::Overtaken { partition: 0, from: 1, start: 3, .. }), "{error}");
}

#[test]
fn a_position_of_other_streams_is_refused_with_a_reason() {
    let log = with_streams(&[("a", 2), ("b", 1), ("empty", 2), ("narrow", 1)]);
    put(&log, "a", 0, "1", 1);
    put(&log, "b", 0, "1", 1);
    let position = open_several(&log, &["a", "b"]).0.read(9, 100).unwrap().after.unwrap();
    let refused = |log: &Arc<MemoryLog>, names: &[&str]| resume(log, names, &position).err().unwrap().to_string();
    for names in [&["a"][..], &["b", "a"], &["a", "b", "b"]] {
        let said = refused(&log, names);
        assert!(said.contains("it is of acme/a, acme/b, and the job reads acme/"), "{said}");
        assert!(said.contains("submit the pipeline again with a higher `version`"), "{said}");
    }
    let said = refused(&with_streams(&[("a", 1), ("b", 1)]), &["a", "b"]);
    assert!(said.contains("stream acme/a had 2 partitions, and has 1: it was made again"), "{said}");
    let said = refused(&with_streams(&[("a", 2), ("b", 1)]), &["a", "b"]);
    assert!(said.contains("stream acme/a, partition 0: was read to offset 1, and ends at 0"), "{said}");
    let error = resume(&log, &["a", "b"], &SourcePosition(vec![9])).err().unwrap();
    assert!(matches!(error, SourceError::Malformed(_)), "{error}");
}
