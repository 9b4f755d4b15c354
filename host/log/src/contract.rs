//! The suite that every implementation of [`Log`] passes: cases by name, and random operations against a model.
//!
//! A failing random run names its seed; `SEED=n` replays it, `SEEDS=n` asks for more.

mod cases;
mod chance;
mod concurrent;
mod model;
mod operations;
mod producers;
mod retention;
mod room;
mod staging;
mod transactions;

use std::sync::Arc;

use bytes::Bytes;
use tidegate_types::EventTime;

use crate::{AppendBatch, Appended, Log, LogError, Producer, Retention, StreamId, StreamSpec};

pub use chance::{Chance, seeds};
pub use operations::random;
pub use staging::random_transactions;

/// A log under test.
pub trait Subject {
    /// The log.
    fn log(&self) -> Arc<dyn Log>;
    /// Ends it and starts it on what it kept. Nothing else may hold [`Subject::log`] then.
    fn reopen(&mut self);
}

/// Makes an empty log.
pub type Make<'a> = &'a dyn Fn() -> Box<dyn Subject>;

/// Runs every case, each on an empty log.
pub fn run_all(make: Make<'_>) {
    let lists = [cases::CASES, producers::CASES, retention::CASES, room::CASES, transactions::CASES, concurrent::CASES];
    for (name, case) in lists.into_iter().flatten() {
        println!("case: {name}");
        case(&mut *make());
    }
}

/// A case: its name and what it does.
type Case = (&'static str, fn(&mut dyn Subject));

fn stream(name: &str) -> StreamId {
    StreamId { tenant: "acme".parse().expect("a tenant's name"), name: name.parse().expect("a name") }
}

fn spec(partitions: u32) -> StreamSpec {
    StreamSpec { partitions, retention: Retention::default(), max_record_bytes: 1 << 20 }
}

fn batch(records: &[(u32, &str)], ingest_time: EventTime) -> AppendBatch {
    let records = records.iter().map(|(partition, text)| (*partition, Bytes::copy_from_slice(text.as_bytes())));
    AppendBatch {
        records: records.collect(),
        ingest_time,
        producer: Producer { name: "producer".into(), sequence: None },
        room: None,
    }
}

/// Appends, from a producer that counts.
fn send(log: &dyn Log, to: &StreamId, producer: &str, sequence: u64, text: &str) -> Result<Appended, LogError> {
    let mut batch = batch(&[(0, text)], 5);
    batch.producer = Producer { name: producer.into(), sequence: Some(sequence) };
    log.append(to, batch)
}

/// All that a partition keeps, as texts with their offsets, read in small chunks.
fn texts(log: &dyn Log, of: &StreamId, partition: u32) -> Vec<(u64, String)> {
    let info = log.describe(of).expect("the stream exists").partitions;
    let mut next = info[usize::try_from(partition).expect("a small number")].start;
    let mut texts = Vec::new();
    loop {
        let chunk = log.read(of, partition, next, 3, 1000).expect("what is kept can be read");
        if chunk.records.is_empty() {
            assert_eq!(next, chunk.end, "an empty chunk means the end");
            return texts;
        }
        for record in chunk.records {
            assert_eq!(record.offset, next, "offsets have no gap");
            texts.push((record.offset, String::from_utf8(record.bytes.to_vec()).expect("text went in")));
            next += 1;
        }
    }
}
