//! What opening refuses, and what damage looks like.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{read_dir, write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rocksdb::{DB, Options};
use tidegate_log::contract::Chance;
use tidegate_log::{
    AppendBatch, Begin, ErrorKind, Log, LogError, Producer, Retention, StreamId, StreamSpec, TransactionId,
};
use tidegate_log_rocksdb::{OpenError, RocksLog, RocksOptions};

const RECORDS: u64 = 400;

fn stream() -> StreamId {
    StreamId { tenant: "acme".parse().unwrap(), name: "events".parse().unwrap() }
}

/// Small buffers, so that records are in files.
fn open(path: &Path) -> Result<RocksLog, OpenError> {
    RocksLog::open(path, &RocksOptions { write_buffer_bytes: 64 << 10, ..RocksOptions::default() })
}

fn append(log: &RocksLog, records: Vec<(u32, Bytes)>) {
    let producer = Producer { name: "p".into(), sequence: None };
    log.append(&stream(), AppendBatch { records, ingest_time: 1, producer, room: None }).unwrap();
}

/// A log with records of 1,000 bytes that nothing compresses.
fn filled(path: &Path, retention: Retention) -> RocksLog {
    let log = open(path).unwrap();
    log.create(&stream(), &StreamSpec { partitions: 2, retention, max_record_bytes: 1 << 20 }).unwrap();
    let mut chance = Chance::of_seed(1);
    for _ in 0..RECORDS {
        let random: Vec<u8> = (0..125).flat_map(|_| chance.number().to_be_bytes()).collect();
        append(&log, vec![(1, random.into())]);
    }
    log
}

fn files(path: &Path, extension: &str) -> Vec<PathBuf> {
    let all = read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|is| is == extension)).collect();
    files.sort();
    files
}

fn size(path: &Path) -> u64 {
    // A file may go while this looks.
    read_dir(path).unwrap().filter_map(|entry| entry.unwrap().metadata().ok()).map(|file| file.len()).sum()
}

#[test]
fn a_folder_that_is_in_use_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let _log = open(folder.path()).unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    assert!(error.to_string().ends_with("stop that one, or choose another folder"));
}

#[test]
fn another_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    {
        let families = ["default", "records", "staged", "metadata", "producers"];
        let db = DB::open_cf(&Options::default(), folder.path(), families).unwrap();
        db.put_cf(db.cf_handle("metadata").unwrap(), b"f", [2]).unwrap();
    }
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::Format { found: 2, known: 1, .. }), "{error}");
}

#[test]
fn a_log_from_before_transactions_is_read_and_takes_them() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path(), Retention::default()));
    {
        let families = ["default", "records", "staged", "metadata", "producers"];
        let mut db = DB::open_cf(&Options::default(), folder.path(), families).unwrap();
        db.drop_cf("staged").unwrap();
    }
    let log = open(folder.path()).unwrap();
    assert_eq!(log.read(&stream(), 1, 0, 1, 1).unwrap().records.len(), 1);
    let end = log.describe(&stream()).unwrap().partitions[1].end;
    log.begin(&stream(), &Begin { writer: "w".into(), epoch: 1, timeout_ms: None }).unwrap();
    stage(&log, 1, Bytes::from_static(b"new"));
    log.commit_transaction(&stream(), &transaction(1)).unwrap();
    assert_eq!(log.read(&stream(), 1, end, 1, 1).unwrap().records[0].bytes, "new");
}

fn transaction(number: u64) -> TransactionId {
    TransactionId { writer: "w".into(), epoch: 1, number }
}

fn stage(log: &RocksLog, number: u64, record: Bytes) {
    let producer = Producer { name: "p".into(), sequence: None };
    let batch = AppendBatch { records: vec![(1, record)], ingest_time: 1, producer, room: None };
    log.stage(&stream(), &transaction(number), batch).unwrap();
}

#[test]
fn transactions_that_are_aborted_or_dropped_give_their_space_back() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path()).unwrap();
    let retention = Retention { bytes: Some(200_000), age_ms: None };
    log.create(&stream(), &StreamSpec { partitions: 2, retention, max_record_bytes: 1 << 20 }).unwrap();
    log.begin(&stream(), &Begin { writer: "w".into(), epoch: 1, timeout_ms: None }).unwrap();
    let mut chance = Chance::of_seed(1);
    let mut largest = [0, 0];
    for number in 1..=400_u64 {
        let noise: Vec<u8> = (0..12_500).flat_map(|_| chance.number().to_be_bytes()).collect();
        stage(&log, number, noise.into());
        if number % 4 == 0 {
            log.commit_transaction(&stream(), &transaction(number)).unwrap();
        } else {
            log.abort_transaction(&stream(), &transaction(number)).unwrap();
        }
        log.retain(1).unwrap();
        let of_half = &mut largest[usize::from(number > 200)];
        *of_half = size(folder.path()).max(*of_half);
    }
    assert_eq!(log.describe(&stream()).unwrap().partitions[1].bytes, 200_000);
    println!("40 MB went through, at most {largest:?} bytes in each half");
    assert!(largest[1] < 20_000_000 && 10 * largest[1] < 12 * largest[0], "{largest:?} bytes");
}

#[test]
fn a_transaction_whose_records_vanished_is_named() {
    let folder = tempfile::tempdir().unwrap();
    {
        let log = filled(folder.path(), Retention::default());
        log.begin(&stream(), &Begin { writer: "w".into(), epoch: 1, timeout_ms: None }).unwrap();
        for _ in 0..3 {
            stage(&log, 1, Bytes::from_static(b"new"));
        }
        log.commit_transaction(&stream(), &transaction(1)).unwrap();
    }
    {
        let families = ["default", "records", "staged", "metadata", "producers"];
        let db = DB::open_cf(&Options::default(), folder.path(), families).unwrap();
        let staged = db.cf_handle("staged").unwrap();
        let key = |last: u64| [&1_u64.to_be_bytes()[..], &[0; 8], &1_u32.to_be_bytes(), &last.to_be_bytes()].concat();
        assert!(db.get_cf(staged, key(1)).unwrap().is_some(), "one record a key");
        db.delete_cf(staged, key(1)).unwrap();
    }
    let log = open(folder.path()).unwrap();
    let end = log.describe(&stream()).unwrap().partitions[1].end;
    for from in [end - 3, end - 2] {
        let error = log.read(&stream(), 1, from, 100, 1 << 20).unwrap_err();
        assert!(matches!(&error, LogError::Corrupt { partition: 1, offset, .. } if *offset == end - 2), "{error}");
    }
    assert_eq!(log.read(&stream(), 1, end - 1, 1, 1).unwrap().records.len(), 1);
}

#[test]
fn a_missing_partition_is_named() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path(), Retention::default()));
    {
        let families = ["default", "records", "staged", "metadata", "producers"];
        let db = DB::open_cf(&Options::default(), folder.path(), families).unwrap();
        db.delete_cf(db.cf_handle("metadata").unwrap(), b"p\0\0\0\0\0\0\0\x01\0\0\0\x01").unwrap();
    }
    let error = open(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains("stream acme/events, partition 1: stored bytes are damaged (its end is missing)"),
        "{error}"
    );
}

#[test]
fn a_folder_that_is_no_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    write(&file, "x").unwrap();
    let error = open(&file).unwrap_err();
    assert!(matches!(error, OpenError::Storage { .. }), "{error}");
}

#[test]
fn damaged_records_are_named_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path(), Retention::default()));
    let largest = files(folder.path(), "sst").into_iter().max_by_key(|file| file.metadata().unwrap().len()).unwrap();
    let mut bytes = std::fs::read(&largest).unwrap();
    for byte in bytes.iter_mut().skip(10_000).take(100) {
        *byte ^= 0xff;
    }
    write(&largest, bytes).unwrap();
    let log = open(folder.path()).unwrap();
    let mut next = 0;
    let error = loop {
        match log.read(&stream(), 1, next, 10, 1 << 20) {
            Ok(chunk) => next += chunk.records.len() as u64,
            Err(error) => break error,
        }
        assert!(next < RECORDS, "the damage was read over");
    };
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let LogError::Corrupt { partition: 1, offset, .. } = error else { panic!("{error}") };
    assert!((next..next + 10).contains(&offset), "{offset} is near {next}");
}

#[test]
fn records_that_vanished_are_named() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path(), Retention::default()));
    {
        let families = ["default", "records", "staged", "metadata", "producers"];
        let db = DB::open_cf(&Options::default(), folder.path(), families).unwrap();
        let key = |last: u64| [&1_u64.to_be_bytes()[..], &1_u32.to_be_bytes(), &last.to_be_bytes()].concat();
        let records = db.cf_handle("records").unwrap();
        assert!(db.get_cf(records, key(7)).unwrap().is_some(), "one record a key");
        db.delete_cf(records, key(7)).unwrap();
    }
    let log = open(folder.path()).unwrap();
    for from in [0, 7] {
        let error = log.read(&stream(), 1, from, 100, 1 << 20).unwrap_err();
        assert!(matches!(error, LogError::Corrupt { partition: 1, offset: 7, .. }), "{error}");
    }
    assert_eq!(log.read(&stream(), 1, 8, 1, 1).unwrap().records[0].offset, 8);
}

#[test]
fn dropped_records_give_their_space_back() {
    let folder = tempfile::tempdir().unwrap();
    let log = filled(folder.path(), Retention { bytes: Some(20_000), age_ms: None });
    let before = size(folder.path());
    for _ in 0..10 {
        append(&log, vec![(1, Bytes::from(vec![0; 20_000]))]);
        log.retain(1).unwrap();
    }
    for _ in 0..40 {
        let noise: Vec<u8> = {
            let mut chance = Chance::of_seed(2);
            (0..2500).flat_map(|_| chance.number().to_be_bytes()).collect()
        };
        append(&log, vec![(1, noise.into())]);
        log.retain(1).unwrap();
    }
    assert_eq!(log.describe(&stream()).unwrap().partitions[1].bytes, 20_000);
    drop(log);
    drop(open(folder.path()).unwrap());
    let after = size(folder.path());
    assert!(2 * after < before, "{before} bytes with {RECORDS} records, {after} bytes with one");
}

#[test]
fn a_torn_end_of_the_write_ahead_log_costs_whole_batches_only() {
    let folder = tempfile::tempdir().unwrap();
    let options = RocksOptions::default();
    {
        let log = RocksLog::open(folder.path(), &options).unwrap();
        let spec = StreamSpec { partitions: 2, retention: Retention::default(), max_record_bytes: 1 << 20 };
        log.create(&stream(), &spec).unwrap();
        for number in 0..30_u8 {
            append(&log, vec![(0, Bytes::from(vec![number; 100])), (1, Bytes::from(vec![number; 100]))]);
        }
    }
    let newest = files(folder.path(), "log").into_iter().max_by_key(|file| file.metadata().unwrap().len()).unwrap();
    let whole = std::fs::read(&newest).unwrap();
    let mut ends = Vec::new();
    // What a crash may leave: an end that is missing, and one that is there in name only.
    for cut in [1, 2, 60, 150, 400, 3000] {
        for filler in [0, cut] {
            let torn = [&whole[..whole.len() - cut], &vec![0; filler][..]].concat();
            write(&newest, torn).unwrap();
            let copy = tempfile::tempdir().unwrap();
            for file in read_dir(folder.path()).unwrap().map(|entry| entry.unwrap()) {
                std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
            }
            let log = RocksLog::open(copy.path(), &options).unwrap();
            let [zero, one] = log.describe(&stream()).unwrap().partitions[..] else { panic!("two partitions") };
            assert_eq!(zero, one, "a batch is there in both partitions or in none");
            let records = log.read(&stream(), 1, 0, 100, 1 << 20).unwrap().records;
            assert!((0..).zip(&records).all(|(number, record)| *record.bytes == [number; 100]));
            assert_eq!(records.len() as u64, one.end);
            append(&log, vec![(0, Bytes::new())]);
            assert_eq!(log.read(&stream(), 0, zero.end, 1, 1).unwrap().records.len(), 1, "and it goes on from there");
            ends.push(zero.end);
        }
    }
    assert!(ends.iter().is_sorted_by(|a, b| a >= b) && ends[0] == 29 && ends[11] < 25, "{ends:?}");
}

#[test]
fn damage_in_one_stream_does_not_keep_the_records_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let other = StreamId { tenant: "zed".parse().unwrap(), ..stream() };
    {
        let log = open(folder.path()).unwrap();
        let retention = Retention { bytes: Some(1), age_ms: None };
        for id in [&stream(), &other] {
            log.create(id, &StreamSpec { partitions: 1, retention, max_record_bytes: 1 }).unwrap();
            let records = [b"a", b"b"].map(|record| (0, Bytes::from_static(record))).to_vec();
            let producer = Producer { name: "p".into(), sequence: None };
            log.append(id, AppendBatch { records, ingest_time: 1, producer, room: None }).unwrap();
        }
    }
    {
        let families = ["default", "records", "staged", "metadata", "producers"];
        let db = DB::open_cf(&Options::default(), folder.path(), families).unwrap();
        let key = b"\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01";
        assert!(db.get_cf(db.cf_handle("records").unwrap(), key).unwrap().is_some(), "the first stream's only chunk");
        db.put_cf(db.cf_handle("records").unwrap(), key, [0xff]).unwrap();
    }
    let log = open(folder.path()).unwrap();
    let error = log.retain(2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("acme/events"), "{error}");
    let starts = [&stream(), &other].map(|id| log.describe(id).unwrap().partitions[0].start);
    assert_eq!(starts, [0, 1], "the damaged stream keeps what it has, the other one keeps one byte");
}
