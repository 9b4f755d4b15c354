//! The API's own bounds. What a tenant may is in the tenant's record; these protect the process.

use std::time::Duration;

/// How much the API takes on at once, and how long it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiSettings {
    /// How long a request's body may take to arrive.
    pub body_timeout: Duration,
    /// How long a request may take altogether. What a POST, PATCH or DELETE began goes on after it.
    pub answer_timeout: Duration,
    /// Requests worked on at once, over all tenants.
    pub requests: usize,
    /// Requests worked on at once of one tenant.
    pub requests_per_tenant: usize,
    /// Requests worked on at once that bring no token which the platform signed (health checks among them).
    pub strangers: usize,
    /// Bytes of the large bodies (appends, uploads) held at once of one tenant.
    pub body_bytes_per_tenant: usize,
    /// The same over all tenants.
    pub body_bytes: usize,
    /// Blocking calls (log, tables) at once of one tenant.
    pub calls_per_tenant: usize,
    /// The same over all tenants. Together with `waits` no more than the runtime has blocking threads (512 unless told).
    pub calls: usize,
    /// How long a call waits for such a place.
    pub queue_timeout: Duration,
    /// Reads that wait for records at once of one tenant. Each holds a thread.
    pub waits_per_tenant: usize,
    /// The same over all tenants.
    pub waits: usize,
}

impl Default for ApiSettings {
    fn default() -> Self {
        Self {
            body_timeout: Duration::from_secs(30),
            answer_timeout: Duration::from_secs(90),
            requests: 512,
            requests_per_tenant: 64,
            strangers: 64,
            body_bytes_per_tenant: 128 * 1024 * 1024,
            body_bytes: 1024 * 1024 * 1024,
            calls_per_tenant: 32,
            calls: 384,
            queue_timeout: Duration::from_secs(1),
            waits_per_tenant: 16,
            waits: 128,
        }
    }
}

/// The longest JSON body of a request, bytes.
pub const MAX_JSON_BYTES: usize = 64 * 1024;
/// The longest pipeline file, bytes.
pub const MAX_PIPELINE_BYTES: usize = 256 * 1024;
/// What an upload may have beyond the component itself: the signature, the parts' heads.
pub const MAX_UPLOAD_EXTRA_BYTES: usize = 128 * 1024;
/// The most records of one append.
pub const MAX_APPEND_RECORDS: usize = 100_000;
/// The most records of one read.
pub const MAX_READ_RECORDS: usize = 10_000;
/// The records of one read unless told.
pub const DEFAULT_READ_RECORDS: usize = 1_000;
/// The bytes of records after which a read ends. It has at least one record if there is one.
pub const MAX_READ_BYTES: usize = 1024 * 1024;
/// The longest time that a read waits for records, ms.
pub const MAX_WAIT_MS: u32 = 30_000;
/// The rows of one page of a table unless told.
pub const DEFAULT_ROWS: usize = 1_000;
/// The shortest time that a stream's retention may keep records, ms.
pub const MIN_RETENTION_AGE_MS: u64 = 1_000;
/// The fewest bytes that a stream's retention may keep in a partition: what the log holds in one piece.
pub const MIN_RETENTION_BYTES: u64 = 32 * 1024;
