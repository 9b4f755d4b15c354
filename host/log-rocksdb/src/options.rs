//! How the database is set up: for a machine that has other things to do.
//!
//! Memory is bounded: the cache, the write buffers (what is not in a file yet), the queue. Two threads work in the background.

use rocksdb::{BlockBasedOptions, Cache, DBCompressionType, DBRecoveryMode, LogLevel, Options};

/// Memory that the log takes.
#[derive(Debug, Clone, Copy)]
pub struct RocksOptions {
    /// Blocks that were read, kept for the next reader; bytes.
    pub cache_bytes: usize,
    /// Records that are in the write-ahead log and not in a sorted file yet; bytes of one buffer. Up to 3 are held, and as many of
    /// records of transactions.
    pub write_buffer_bytes: usize,
    /// Batches that wait for the writer; bytes. Beyond, `append` blocks.
    pub queue_bytes: usize,
}

impl Default for RocksOptions {
    fn default() -> Self {
        Self { cache_bytes: 32 << 20, write_buffer_bytes: 16 << 20, queue_bytes: 32 << 20 }
    }
}

/// Write buffers of the records: one that fills, two that are being written out.
const BUFFERS: i32 = 3;
/// A write buffer of metadata: the same few keys again and again.
const SMALL_BUFFER: usize = 4 << 20;
/// Bytes of a block: the unit of reading, of compression and of checksums.
const BLOCK: usize = 32 << 10;

/// Options of the whole database.
pub(crate) fn database(options: &RocksOptions) -> Options {
    let mut database = Options::default();
    database.create_if_missing(true);
    database.create_missing_column_families(true);
    database.set_max_background_jobs(2);
    database.set_max_open_files(256);
    database.set_bytes_per_sync(1 << 20);
    // A write-ahead log lives until every family that wrote to it has been flushed; this flushes those that write little.
    database.set_max_total_wal_size(4 * options.write_buffer_bytes as u64);
    // What the disk did not confirm may be torn after a crash: reading ends before it. That an older log is whole, which
    // was confirmed, is checked against the manifest.
    database.set_wal_recovery_mode(DBRecoveryMode::PointInTime);
    database.set_track_and_verify_wals_in_manifest(true);
    database.set_log_level(LogLevel::Warn);
    database.set_keep_log_file_num(2);
    database
}

/// Options of the records: large values, written once in the order of their keys, read in that order.
pub(crate) fn records(options: &RocksOptions, cache: &Cache) -> Options {
    let mut family = Options::default();
    family.set_write_buffer_size(options.write_buffer_bytes);
    family.set_max_write_buffer_number(BUFFERS);
    family.set_compression_type(DBCompressionType::Lz4);
    family.set_level_compaction_dynamic_level_bytes(true);
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    table.set_block_size(BLOCK);
    table.set_cache_index_and_filter_blocks(true);
    family.set_block_based_table_factory(&table);
    family
}

/// Options of metadata and producers.
pub(crate) fn small(cache: &Cache) -> Options {
    let mut family = Options::default();
    family.set_write_buffer_size(SMALL_BUFFER);
    family.set_compression_type(DBCompressionType::Lz4);
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    family.set_block_based_table_factory(&table);
    family
}
