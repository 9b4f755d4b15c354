//! The log on RocksDB keeps the contract of logs, also over restarts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use tidegate_log::Log;
use tidegate_log::contract::{self, Subject};
use tidegate_log_rocksdb::{RocksLog, RocksOptions};

/// A log in a folder of its own, with buffers so small that files are written and merged all the time.
struct Rocks {
    folder: tempfile::TempDir,
    log: Option<Arc<RocksLog>>,
}

fn open(path: &Path) -> RocksLog {
    let options = RocksOptions { cache_bytes: 64 << 10, write_buffer_bytes: 64 << 10, queue_bytes: 1 << 20 };
    RocksLog::open(path, &options).unwrap()
}

impl Subject for Rocks {
    fn log(&self) -> Arc<dyn Log> {
        Arc::clone(self.log.as_ref().unwrap()) as Arc<dyn Log>
    }

    fn reopen(&mut self) {
        assert_eq!(self.log.as_ref().map(Arc::strong_count), Some(1), "nobody else holds the log");
        self.log = None;
        self.log = Some(Arc::new(open(self.folder.path())));
    }
}

fn fresh() -> Box<dyn Subject> {
    let folder = tempfile::tempdir().unwrap();
    let log = Some(Arc::new(open(folder.path())));
    Box::new(Rocks { folder, log })
}

#[test]
fn keeps_the_contract() {
    contract::run_all(&fresh);
}

#[test]
fn does_what_the_model_does_over_restarts() {
    for seed in contract::seeds(12) {
        contract::random(fresh(), seed);
    }
}

#[test]
fn does_with_transactions_what_the_model_does_over_restarts() {
    for seed in contract::seeds(12) {
        contract::random_transactions(fresh(), seed);
    }
}
