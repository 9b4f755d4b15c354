//! Reading: a page of a partition's records as lines, at once or when there are some.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::HeaderName;
use axum::response::Response;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use tidegate_log::{Chunk, Log, LogError, Stored, StreamId};
use tidegate_tenancy::Permission;
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};

use crate::answer::{lines, set};
use crate::places::run;
use crate::problem::{Answer, Problem};
use crate::request::{Params, Scope};
use crate::routes::streams::stream_in_path;
use crate::services::Shared;
use crate::settings::{DEFAULT_READ_RECORDS, MAX_READ_BYTES, MAX_READ_RECORDS, MAX_WAIT_MS};

/// The header with the offset to go on from.
pub(crate) const NEXT_OFFSET: HeaderName = HeaderName::from_static("tidegate-next-offset");
/// The header with the first offset that is kept.
pub(crate) const START_OFFSET: HeaderName = HeaderName::from_static("tidegate-start-offset");
/// The header with the next record's offset at the moment of reading.
pub(crate) const END_OFFSET: HeaderName = HeaderName::from_static("tidegate-end-offset");
/// The header that says whether the partition is sealed: `true` or `false`.
pub(crate) const SEALED: HeaderName = HeaderName::from_static("tidegate-sealed");

/// A waiting thread looks up so often whether its reader is still there.
const WAIT_SLICE: Duration = Duration::from_secs(1);

/// Which records.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// The partition; 0 unless told.
    #[serde(default)]
    partition: u32,
    /// The first offset; left out: the oldest record that is kept.
    from: Option<u64>,
    /// So many records at most: 1 to 10000, 1000 unless told. A page also ends after 1 MiB of records.
    #[param(minimum = 1, maximum = 10000)]
    limit: Option<usize>,
    /// If there is no record, wait for one so long, ms: at most 30000, 0 unless told.
    #[serde(default)]
    #[param(maximum = 30000)]
    wait_ms: u32,
}

/// One line of the answer. The schema of lines that are written by hand, because a record is embedded as it is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Record)]
pub(crate) struct RecordLine {
    /// The partition.
    partition: u32,
    /// The record's offset.
    offset: u64,
    /// When it was taken in, ms since the epoch.
    ingest_time: i64,
    /// Who appended it.
    producer: String,
    /// The record: JSON of any kind as it was appended, other bytes as text (with U+FFFD where they are no UTF-8).
    record: serde_json::Value,
}

/// Read records
///
/// One JSON object a line, in the order of the offsets. An empty answer means that there is nothing at `from` yet; if the
/// partition is sealed and `Tidegate-Next-Offset` equals `Tidegate-End-Offset`, there never will be.
#[utoipa::path(get, path = "/v1/streams/{name}/records", tag = "streams",
    params(("name" = String, Path, description = "The stream's name"), Which),
    responses((status = 200, description = "Records", body = RecordLine, content_type = "application/x-ndjson", headers(
        ("Tidegate-Next-Offset" = u64, description = "The offset to go on from"),
        ("Tidegate-Start-Offset" = u64, description = "The first offset that is kept"),
        ("Tidegate-End-Offset" = u64, description = "The next record's offset when this was read"),
        ("Tidegate-Sealed" = bool, description = "Whether the partition is sealed, so that the end is final"),
    ))),
)]
pub(crate) async fn read_records(
    scope: Scope,
    State(api): State<Shared>,
    Path(name): Path<String>,
    Params(which): Params<Which>,
) -> Answer {
    scope.may(Permission::ReadStreams)?;
    let stream = stream_in_path(&scope, &name)?;
    let limit = which.limit.unwrap_or(DEFAULT_READ_RECORDS);
    if !(1..=MAX_READ_RECORDS).contains(&limit) {
        return Err(Problem::invalid("limit", format!("{limit} is not from 1 to {MAX_READ_RECORDS}")));
    }
    if which.wait_ms > MAX_WAIT_MS {
        return Err(Problem::invalid("wait_ms", format!("{} is more than {MAX_WAIT_MS}", which.wait_ms)));
    }
    let reader = Reader { api, stream, partition: which.partition, limit };
    let mut page = reader.read(which.from).await?;
    if page.is_empty() && !page.chunk.sealed && which.wait_ms > 0 {
        let wait = Duration::from_millis(which.wait_ms.into());
        // Given up in the middle, a wait changes nothing: its thread ends with its slice.
        if let Ok(waited) = timeout(wait, reader.wait(page.from, wait.min(WAIT_SLICE))).await {
            page = waited?.unwrap_or(page);
        }
    }
    Ok(answer(which.partition, &page))
}

/// Reads one partition.
struct Reader {
    api: Shared,
    stream: StreamId,
    partition: u32,
    limit: usize,
}

struct Page {
    from: u64,
    chunk: Chunk,
}

impl Page {
    fn is_empty(&self) -> bool {
        self.chunk.records.is_empty()
    }
}

impl Reader {
    async fn read(&self, from: Option<u64>) -> Answer<Page> {
        let (log, stream) = (Arc::clone(&self.api.services.log), self.stream.clone());
        let (partition, limit) = (self.partition, self.limit);
        let read = move || read_from(&*log, &stream, partition, from, limit);
        Ok(self.api.places.call(&self.stream.tenant, read).await??)
    }

    /// Reads again whenever something happened to the stream, until there is a record or there never will be. None: the
    /// process is to end.
    async fn wait(&self, from: u64, slice: Duration) -> Answer<Option<Page>> {
        let mut places = self.api.places.wait(&self.stream.tenant)?;
        let (log, stream) = (Arc::clone(&self.api.services.log), self.stream.clone());
        let watch = self.api.places.call(&self.stream.tenant, move || log.watch(&stream)).await??;
        loop {
            // Noted before looking, so that what happens in between is not waited for.
            let seen = watch.version();
            let page = self.read(Some(from)).await?;
            if !page.is_empty() || page.chunk.sealed {
                return Ok(Some(page));
            }
            let watched = Arc::clone(&watch);
            // The wait hands its places back with its end: given up in the middle, they are held until then.
            let waited = run((), move || {
                watched.wait_past(seen, slice);
                places
            });
            let mut stop = self.api.services.stop.clone();
            places = tokio::select! {
                biased;
                // Cancel-safe: a wish to stop stays readable. A sender that is gone wants nothing.
                Ok(_) = stop.wait_for(|stop| *stop) => {
                    // The thread that waits looks up.
                    watch.wake();
                    return Ok(None);
                }
                waited = waited => waited?,
            };
        }
    }
}

fn read_from(
    log: &dyn Log,
    stream: &StreamId,
    partition: u32,
    from: Option<u64>,
    limit: usize,
) -> Result<Page, LogError> {
    let asked = from.unwrap_or(0);
    match log.read(stream, partition, asked, limit, MAX_READ_BYTES) {
        Ok(chunk) => Ok(Page { from: asked, chunk }),
        // Who names no offset wants the oldest record there is.
        Err(LogError::Gone { start, .. }) if from.is_none() => {
            let chunk = log.read(stream, partition, start, limit, MAX_READ_BYTES)?;
            Ok(Page { from: start, chunk })
        }
        Err(error) => Err(error),
    }
}

fn answer(partition: u32, page: &Page) -> Response {
    let Chunk { records, start, end, sealed } = &page.chunk;
    let next = records.last().map_or(page.from, |last| last.offset + 1);
    let mut body = Vec::with_capacity(records.iter().map(|record| record.bytes.len() + 128).sum());
    for record in records {
        write_line(&mut body, partition, record);
    }
    let mut response = lines(body);
    for (name, offset) in [(NEXT_OFFSET, next), (START_OFFSET, *start), (END_OFFSET, *end)] {
        set(&mut response, name, &offset.to_string());
    }
    set(&mut response, SEALED, if *sealed { "true" } else { "false" });
    response
}

/// One record as a line. JSON goes in as it was appended: not reordered, no digit changed.
fn write_line(out: &mut Vec<u8>, partition: u32, stored: &Stored) {
    let Stored { offset, ingest_time, producer, bytes } = stored;
    let head = format!(r#"{{"partition":{partition},"offset":{offset},"ingest_time":{ingest_time},"producer":"#);
    out.extend_from_slice(head.as_bytes());
    write_text(out, producer);
    out.extend_from_slice(br#","record":"#);
    // A line's end within a record would break the answer's lines: such a record (no append makes one) goes as text.
    let is_json = !bytes.contains(&b'\n') && serde_json::from_slice::<IgnoredAny>(bytes).is_ok();
    if is_json {
        out.extend_from_slice(bytes.trim_ascii());
    } else {
        write_text(out, &String::from_utf8_lossy(bytes));
    }
    out.extend_from_slice(b"}\n");
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a text is written to memory");
}

#[cfg(test)]
mod tests;
