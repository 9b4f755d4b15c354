//! The log in memory keeps the contract.

use super::*;
use crate::contract::{self, Subject};

struct Memory(Arc<MemoryLog>);

impl Subject for Memory {
    fn log(&self) -> Arc<dyn Log> {
        Arc::clone(&self.0) as Arc<dyn Log>
    }

    fn reopen(&mut self) {}
}

fn fresh() -> Box<dyn Subject> {
    Box::new(Memory(Arc::new(MemoryLog::new())))
}

#[test]
fn keeps_the_contract() {
    contract::run_all(&fresh);
}

#[test]
fn does_what_the_model_does() {
    for seed in contract::seeds(60) {
        contract::random(fresh(), seed);
    }
}

#[test]
fn does_with_transactions_what_the_model_does() {
    for seed in contract::seeds(200) {
        contract::random_transactions(fresh(), seed);
    }
}

#[test]
fn a_stream_knows_so_many_producers_and_no_more() {
    let log = MemoryLog::new();
    let stream = StreamId { tenant: "acme".parse().unwrap(), name: "events".parse().unwrap() };
    let spec = StreamSpec { partitions: 1, retention: Retention::default(), max_record_bytes: 1 };
    log.create(&stream, &spec).unwrap();
    let send = |name: String, sequence| {
        let records = vec![(0, Bytes::from_static(b"a"))];
        let producer = Producer { name, sequence: Some(sequence) };
        log.append(&stream, AppendBatch { records, ingest_time: 1, producer, room: None })
    };
    for number in 0..MAX_PRODUCERS {
        send(number.to_string(), 0).unwrap();
    }
    let more = send("one more".into(), 0);
    assert!(matches!(more, Err(LogError::TooManyProducers { .. })), "{more:?}");
    send("0".into(), 1).expect("one that is known goes on");
}
