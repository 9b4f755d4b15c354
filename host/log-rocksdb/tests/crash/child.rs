//! The child: several producers, one of them with retention after each append, until somebody kills it.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use bytes::Bytes;
use tidegate_log::{AppendBatch, Log, Producer};
use tidegate_log_rocksdb::{RocksLog, RocksOptions};

use super::transactions::{Checkpoints, write_on};
use super::work::{Ack, COUNTED, UNCOUNTED, batch, kept, stream, trimmed};

const PRODUCERS: u32 = 4;

/// The command that runs this binary again as the child.
pub(crate) fn command(folder: &Path, round: u32, next: &BTreeMap<String, u64>, checkpoints: &Checkpoints) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child", "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("LOG_FOLDER", folder).env("ROUND", round.to_string());
    let next: Vec<String> = next.iter().map(|(producer, sequence)| format!("{producer}={sequence}")).collect();
    command.env("NEXT", next.join(",")).env("SAVED", checkpoints.last());
    command
}

#[expect(clippy::disallowed_methods, reason = "a child of a test is told what to do by its environment")]
pub(crate) fn told(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

pub(crate) fn run() {
    let folder = PathBuf::from(told("LOG_FOLDER"));
    if folder.as_os_str().is_empty() {
        // Somebody ran all ignored tests: there is nothing to do.
        return;
    }
    // The test harness has begun a line.
    say("\n");
    // Until somebody kills it; where the disk is to be full, until it must have been.
    let (write_buffer_bytes, batches) =
        if told("FULL_DISK").is_empty() { (64 << 10, u64::MAX) } else { (16 << 20, 500) };
    let log = RocksLog::open(&folder, &RocksOptions { write_buffer_bytes, ..RocksOptions::default() }).unwrap();
    let round = told("ROUND");
    let start = round.parse().unwrap();
    let fault = told("FAULT");
    if !fault.is_empty() {
        // One writer alone, so that the point is reached by it.
        tidegate_faults::arm(&fault).unwrap();
        return write_on(&log, start);
    }
    log.create(&stream("kept"), &kept()).unwrap();
    log.create(&stream("trimmed"), &trimmed()).unwrap();
    let next = told("NEXT");
    let next: BTreeMap<&str, u64> = next.split(',').filter_map(|pair| pair.split_once('=')).map(number).collect();
    std::thread::scope(|scope| {
        for place in 0..PRODUCERS {
            let (log, counted) = (&log, format!("{COUNTED}{place}"));
            let first = next.get(counted.as_str()).copied().unwrap_or(0);
            scope.spawn(move || append_on(log, &counted, first..batches));
            // Who does not count takes another name in each round: what is in doubt is never sent again.
            let uncounted = format!("{UNCOUNTED}{round}.{place}");
            scope.spawn(move || append_on(log, &uncounted, 0..batches));
        }
        scope.spawn(|| trim_on(&log, batches));
        scope.spawn(|| write_on(&log, start));
    });
}

fn number<'a>((producer, sequence): (&'a str, &str)) -> (&'a str, u64) {
    (producer, sequence.parse().unwrap())
}

/// Appends and says what was acknowledged, until the log fails.
fn append_on(log: &RocksLog, producer: &str, sequences: Range<u64>) {
    for sequence in sequences {
        let batch = batch(producer, sequence);
        match log.append(&stream("kept"), batch.clone()) {
            Ok(appended) => say(&Ack::line(&batch, sequence, &appended)),
            Err(error) => {
                say(&format!("error {error}\n"));
                let again = log.append(&stream("kept"), batch).expect_err("nothing is written after a failure");
                say(&format!("error {again}\n"));
                return;
            }
        }
    }
}

/// One write, so that a line is there whole.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).expect("the parent reads");
}

fn trim_on(log: &RocksLog, times: u64) {
    let producer = Producer { name: "trimmed".into(), sequence: None };
    for _ in 0..times {
        let records = vec![(0, Bytes::from(vec![b'y'; 5_000]))];
        let appended = log.append(
            &stream("trimmed"),
            AppendBatch { records, ingest_time: 1, producer: producer.clone(), room: None },
        );
        if appended.and_then(|_| log.retain(1)).is_err() {
            return;
        }
    }
}
