//! What the child appends, so that the parent can tell whether it is there.

use bytes::Bytes;
use tidegate_log::contract::Chance;
use tidegate_log::{AppendBatch, Appended, Producer, Retention, StreamId, StreamSpec};

/// What the names of producers begin with that count, and of those that do not.
pub(crate) const COUNTED: &str = "counted";
pub(crate) const UNCOUNTED: &str = "uncounted";
pub(crate) const PARTITIONS: u32 = 3;

/// An acknowledgement, as a line of the child's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ack {
    pub(crate) producer: String,
    pub(crate) sequence: u64,
    pub(crate) repeated: bool,
    /// Partition, first offset, count.
    pub(crate) ranges: Vec<(u32, u64, u64)>,
}

impl Ack {
    pub(crate) fn line(batch: &AppendBatch, sequence: u64, appended: &Appended) -> String {
        let ranges = appended.ranges.iter().map(|range| format!("{}:{}:{}", range.partition, range.first, range.count));
        let ranges = ranges.collect::<Vec<_>>().join(",");
        format!("ack {} {sequence} {} {ranges}\n", batch.producer.name, appended.repeated)
    }

    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("ack ")?.split(' ');
        let mut word = || words.next().expect("a whole line");
        let (producer, sequence, repeated) = (word().to_owned(), word().parse().unwrap(), word() == "true");
        let ranges = word().split(',').map(|range| {
            let mut numbers = range.split(':').map(|number| number.parse::<u64>().unwrap());
            let mut number = || numbers.next().unwrap();
            (u32::try_from(number()).unwrap(), number(), number())
        });
        Some(Self { producer, sequence, repeated, ranges: ranges.collect() })
    }
}

pub(crate) fn stream(name: &str) -> StreamId {
    StreamId { tenant: "acme".parse().unwrap(), name: name.parse().unwrap() }
}

/// The stream that keeps everything.
pub(crate) fn kept() -> StreamSpec {
    StreamSpec { partitions: PARTITIONS, retention: Retention::default(), max_record_bytes: 1 << 20 }
}

/// The stream that retention works on.
pub(crate) fn trimmed() -> StreamSpec {
    StreamSpec { partitions: 1, retention: Retention { bytes: Some(50_000), age_ms: None }, max_record_bytes: 1 << 20 }
}

/// A producer's batch: the same whenever it is asked for. Each record names its producer, sequence and place.
pub(crate) fn batch(producer: &str, sequence: u64) -> AppendBatch {
    let seed = producer.bytes().fold(sequence, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let mut chance = Chance::of_seed(seed);
    let count = if chance.percent(5) { 300 } else { 1 + chance.below(8) };
    let records = (0..count).map(|place| {
        let partition = u32::try_from(chance.below(PARTITIONS.into())).unwrap();
        let filler = "x".repeat(usize::try_from(chance.below(400)).unwrap());
        (partition, Bytes::from(format!("{producer} {sequence} {place} {filler}")))
    });
    let records = records.collect();
    let sequence = producer.starts_with(COUNTED).then_some(sequence);
    AppendBatch { records, ingest_time: 1, producer: Producer { name: producer.to_owned(), sequence }, room: None }
}
