//! How the databases are set up: many in one process, most of them small, written in one go at each checkpoint.
//!
//! **Merging** decides what a checkpoint uploads. Each one adds a file of what has changed; when [`TRIGGER`] of them have
//! come together, they are merged with what they overlap, and that is uploaded anew. So most checkpoints upload what has
//! changed and no more, one in [`TRIGGER`] much more. A trigger by number does not depend on how much changes, so that the
//! bytes that are kept swing in a period of [`TRIGGER`] checkpoints and do not creep.

use rocksdb::{BlockBasedOptions, Cache, DBCompressionType, LogLevel, Options, WriteBufferManager};

/// What all databases of a process take together.
#[derive(Debug, Clone, Copy)]
pub struct RocksOptions {
    /// Blocks that were read, with the indexes and filters of files; bytes.
    pub cache_bytes: usize,
    /// Changes that are not in a file yet; bytes. Beyond, the database that is written to writes its own out.
    pub write_buffer_bytes: usize,
    /// Threads that write files and merge them. RocksDB has one set of them in a process: the largest number counts.
    pub background_threads: i32,
}

impl Default for RocksOptions {
    fn default() -> Self {
        Self { cache_bytes: 64 << 20, write_buffer_bytes: 128 << 20, background_threads: 2 }
    }
}

/// Files of changes that are merged at a time.
const TRIGGER: i32 = 12;
/// Changes of one database that become a file; bytes. One buffer fills while another is written.
const BUFFER: usize = 32 << 20;
const BUFFERS: i32 = 2;
/// Bytes of a file that merging or restoring writes.
pub(crate) const FILE: u64 = 32 << 20;
/// Bytes of a block: the unit of reading, of compression and of checksums.
const BLOCK: usize = 16 << 10;
/// Files that a database keeps open.
const OPEN_FILES: i32 = 64;
/// The list of files is written anew beyond this, as each checkpoint uploads it; bytes.
const MANIFEST: usize = 16 << 10;
const BLOOM_BITS: f64 = 10.0;
/// What has no setter: a database that is let go need not write what no snapshot has.
const UNNAMED: &str = "avoid_flush_during_shutdown=true";

/// The options of every database. Sharing them shares the cache and the bound on buffers.
pub(crate) fn database(options: &RocksOptions) -> Result<Options, rocksdb::Error> {
    let cache = Cache::new_lru_cache(options.cache_bytes);
    let mut database = Options::default().get_options_from_string(UNNAMED)?;
    database.set_write_buffer_manager(&WriteBufferManager::new_write_buffer_manager(options.write_buffer_bytes, false));
    database.set_max_background_jobs(options.background_threads);
    database.set_max_open_files(OPEN_FILES);
    database.set_max_file_opening_threads(1);
    database.set_skip_stats_update_on_db_open(true);
    database.set_max_manifest_file_size(MANIFEST);
    database.set_bytes_per_sync(1 << 20);
    // Each database would have timers for these.
    database.set_stats_dump_period_sec(0);
    database.set_stats_persist_period_sec(0);
    database.set_log_level(LogLevel::Warn);
    database.set_keep_log_file_num(1);

    database.set_write_buffer_size(BUFFER);
    database.set_max_write_buffer_number(BUFFERS);
    database.set_compression_type(DBCompressionType::Lz4);
    database.set_level_compaction_dynamic_level_bytes(true);
    database.set_level_zero_file_num_compaction_trigger(TRIGGER);
    database.set_level_zero_slowdown_writes_trigger(3 * TRIGGER);
    database.set_level_zero_stop_writes_trigger(5 * TRIGGER);
    database.set_target_file_size_base(FILE);
    database.set_block_based_table_factory(&table(&cache));
    Ok(database)
}

/// Files: a filter over whole keys, and nothing of them in memory outside the cache.
fn table(cache: &Cache) -> BlockBasedOptions {
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    table.set_block_size(BLOCK);
    table.set_bloom_filter(BLOOM_BITS, false);
    table.set_whole_key_filtering(true);
    table.set_cache_index_and_filter_blocks(true);
    table
}
