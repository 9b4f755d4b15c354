//! How many appends a second become durable. Not a test: it asserts nothing and prints a table.
//!
//! `cargo test -p tidegate-log-rocksdb --test throughput -- --ignored --nocapture`; `FOLDER=` chooses the disk.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tempfile::TempDir;
use tidegate_log::{AppendBatch, Log, Producer, Retention, StreamId, StreamSpec};
use tidegate_log_rocksdb::{RocksLog, RocksOptions};

const SECONDS: u64 = 4;
const RECORD_BYTES: usize = 200;

#[test]
#[ignore = "measures; takes a minute"]
fn appends_a_second() {
    println!("a plain file of this disk takes {} synced writes a second", plain_syncs() / SECONDS);
    println!("{:>9} {:>14} {:>12} {:>12} {:>9}", "producers", "records/append", "appends/s", "records/s", "MB/s");
    for (producers, records) in [(1, 1), (8, 1), (64, 1), (1, 100), (8, 100), (64, 100), (1, 1000), (8, 1000)] {
        let appends = measure(producers, records) / SECONDS;
        let total = appends * records as u64;
        let megabytes = total * RECORD_BYTES as u64 / 1_000_000;
        println!("{producers:>9} {records:>14} {appends:>12} {total:>12} {megabytes:>9}");
    }
    println!("one reader reads {} records a second", reads() / SECONDS);
}

#[expect(clippy::disallowed_methods, reason = "a measurement's folder comes from the environment")]
fn folder() -> TempDir {
    std::env::var_os("FOLDER").map_or_else(tempfile::tempdir, tempfile::tempdir_in).unwrap()
}

/// When a measurement that begins now is over.
#[expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn left(end: &mut Option<Instant>) -> Option<Duration> {
    let now = Instant::now();
    end.get_or_insert(now + Duration::from_secs(SECONDS)).checked_duration_since(now)
}

/// What the disk can do for a single writer: appends to a file, each synced.
fn plain_syncs() -> u64 {
    let folder = folder();
    let mut file = File::create(folder.path().join("plain")).unwrap();
    let (mut end, mut writes) = (None, 0);
    while left(&mut end).is_some() {
        file.write_all(&[b'x'; RECORD_BYTES]).and_then(|()| file.sync_data()).unwrap();
        writes += 1;
    }
    writes
}

fn stream() -> StreamId {
    StreamId { tenant: "acme".parse().unwrap(), name: "events".parse().unwrap() }
}

/// A log with a stream of 8 partitions.
fn log(folder: &Path) -> RocksLog {
    let log = RocksLog::open(folder, &RocksOptions::default()).unwrap();
    let spec = StreamSpec { partitions: 8, retention: Retention::default(), max_record_bytes: 1 << 20 };
    log.create(&stream(), &spec).unwrap();
    log
}

/// Records that one reader reads, partition by partition in pieces of 256, as a job does.
fn reads() -> u64 {
    let folder = folder();
    let log = log(folder.path());
    for _ in 0..100 {
        let record = Bytes::from(vec![b'x'; RECORD_BYTES]);
        let records = (0..8_000).map(|place| (place % 8, record.clone())).collect();
        let producer = Producer { name: "p".into(), sequence: None };
        log.append(&stream(), AppendBatch { records, ingest_time: 1, producer, room: None }).unwrap();
    }
    let (mut end, mut total, mut next) = (None, 0, [0_u64; 8]);
    while left(&mut end).is_some() {
        for (partition, next) in (0..).zip(&mut next) {
            let count = log.read(&stream(), partition, *next, 256, 64 << 10).unwrap().records.len() as u64;
            total += count;
            *next = if count == 0 { 0 } else { *next + count };
        }
    }
    total
}

fn measure(producers: u32, records: usize) -> u64 {
    let folder = folder();
    let (log, stream) = (log(folder.path()), stream());
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
                    log.append(stream, AppendBatch { records, ingest_time: 1, producer, room: None }).unwrap();
                    appends.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let mut end = None;
        while let Some(left) = left(&mut end) {
            std::thread::park_timeout(left);
        }
        over.store(true, Ordering::Relaxed);
    });
    appends.into_inner()
}
