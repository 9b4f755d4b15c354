//! How many appends a second become durable. Not a test: it asserts nothing and prints a table.
//!
//! `cargo test -p tidegate-log-rocksdb --test throughput -- --ignored --nocapture`; `FOLDER=` chooses the disk.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tidegate_log::{AppendBatch, Log, Producer, Retention, StreamId, StreamSpec};
use tidegate_log_rocksdb::{RocksLog, RocksOptions};

const SECONDS: u64 = 4;
const RECORD_BYTES: usize = 200;

#[test]
#[ignore = "measures; takes a minute"]
fn appends_a_second() {
    println!("{:>9} {:>14} {:>12} {:>12} {:>9}", "producers", "records/append", "appends/s", "records/s", "MB/s");
    for (producers, records) in [(1, 1), (8, 1), (64, 1), (1, 100), (8, 100), (64, 100), (1, 1000), (8, 1000)] {
        let appends = measure(producers, records) / SECONDS;
        let total = appends * records as u64;
        let megabytes = total * RECORD_BYTES as u64 / 1_000_000;
        println!("{producers:>9} {records:>14} {appends:>12} {total:>12} {megabytes:>9}");
    }
}

#[expect(clippy::disallowed_methods, reason = "a measurement reads the clock, and its folder from the environment")]
fn measure(producers: u32, records: usize) -> u64 {
    let folder = match std::env::var_os("FOLDER") {
        Some(folder) => tempfile::tempdir_in(folder).unwrap(),
        None => tempfile::tempdir().unwrap(),
    };
    let log = RocksLog::open(folder.path(), &RocksOptions::default()).unwrap();
    let stream = StreamId { tenant: "acme".parse().unwrap(), name: "events".parse().unwrap() };
    let spec = StreamSpec { partitions: 8, retention: Retention::default(), max_record_bytes: 1 << 20 };
    log.create(&stream, &spec).unwrap();
    let (appends, over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for place in 0..producers {
            let (log, stream, appends, over) = (&log, &stream, &appends, &over);
            scope.spawn(move || {
                let record = Bytes::from(vec![b'x'; RECORD_BYTES]);
                let name = format!("producer-{place}");
                for sequence in 0.. {
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                    let partitions = (0_u32..8).cycle().skip(usize::try_from(sequence % 8).unwrap());
                    let records = partitions.take(records).map(|partition| (partition, record.clone())).collect();
                    let producer = Producer { name: name.clone(), sequence: Some(sequence) };
                    log.append(stream, AppendBatch { records, ingest_time: 1, producer }).unwrap();
                    appends.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let end = Instant::now() + Duration::from_secs(SECONDS);
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            std::thread::park_timeout(left);
        }
        over.store(true, Ordering::Relaxed);
    });
    appends.into_inner()
}
