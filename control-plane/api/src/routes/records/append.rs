//! Appending: a body of lines becomes one batch, whole or not at all.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::HeaderMap;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tidegate_log::{AppendBatch, Appended, MAX_BATCH_BYTES, OffsetRange, Producer, StreamId, StreamInfo};
use tidegate_tenancy::{Permission, TenantLimits};
use utoipa::{IntoParams, ToSchema};

use super::spread::{BadLines, Bounds, partition_by_key, split};
use crate::answer::json;
use crate::problem::{Answer, Problem, codes};
use crate::request::{Params, Scope, content_type, expected_bytes, one_header, read_body};
use crate::routes::streams::find;
use crate::services::Shared;
use crate::settings::MAX_APPEND_RECORDS;

/// The header with the producer's name.
pub(crate) const PRODUCER: &str = "tidegate-producer";
/// The header with the batch's number in the producer's own count.
pub(crate) const SEQUENCE: &str = "tidegate-sequence";
/// Names that begin so are those of jobs' own sinks: nobody else writes under them, nor counts with them.
const JOBS: &str = "job:";

/// The media types of lines of records.
const RECORD_TYPES: &[&str] =
    &["application/x-ndjson", "application/ndjson", "application/jsonl", "application/octet-stream", "text/plain"];

/// Where the records go.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Where {
    /// All to this partition.
    partition: Option<u32>,
    /// Each by this field's value: XXH3 (64 bits) of the value's text, modulo the partitions. A record that is no JSON
    /// object, or has no value there, goes by the hash of its bytes.
    key: Option<String>,
}

/// What became of an append.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Appended)]
pub(crate) struct AppendedDocument {
    /// The stream.
    stream: String,
    /// How many records were appended.
    records: u64,
    /// The ingest time of all of them, ms since the epoch; of a repeated batch, that of the first time.
    ingest_time: i64,
    /// Whether the batch had been appended before, under the same producer and sequence, and is there once.
    repeated: bool,
    /// One for each partition that got records, ascending.
    ranges: Vec<Range>,
}

/// Offsets that follow each other.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Range {
    /// The partition.
    partition: u32,
    /// The first record's offset.
    first: u64,
    /// The last record's offset.
    last: u64,
    /// How many there are.
    count: u64,
}

/// Append records
///
/// One record a line; a line of white space only is none. A record is any bytes: whether it is JSON is decided by the job
/// that reads it. The answer comes once all are on disk; they are there whole or not at all, in their order within each
/// partition. Without `partition` and `key` the request goes to one partition, in turn. With `Tidegate-Producer` and
/// `Tidegate-Sequence` a repeated request is appended once: send one batch at a time, count up, and repeat the last one as
/// long as its answer is missing.
#[utoipa::path(post, path = "/v1/streams/{name}/records", tag = "streams",
    request_body(content = String, content_type = "application/x-ndjson", description = "Records, one a line"),
    params(
        ("name" = String, Path, description = "The stream's name"), Where,
        ("Tidegate-Producer" = Option<String>, Header, description = "Who appends; left out: the token's subject. It does not begin with `job:`", max_length = 200),
        ("Tidegate-Sequence" = Option<u64>, Header, description = "The batch's number in the producer's own count"),
    ),
    responses((status = 200, description = "The records are on disk", body = AppendedDocument)),
)]
pub(crate) async fn append_records(
    scope: Scope,
    State(api): State<Shared>,
    Path(name): Path<String>,
    Params(place): Params<Where>,
    request: Request,
) -> Answer {
    scope.may(Permission::AppendRecords)?;
    content_type(request.headers(), RECORD_TYPES)?;
    let producer = producer(request.headers(), &scope)?;
    let limits = api.services.tenancy.limits_of(&scope.tenant).await?;
    let (stream, info) = find(&api, &scope, &name).await?;
    let most = usize::try_from(limits.append_bytes).unwrap_or(usize::MAX).min(MAX_BATCH_BYTES);
    let within = api.services.settings.body_timeout;
    let body = request.into_body();
    let _room = api.places.body(&scope.tenant, expected_bytes(&body, most)).await?;
    let body = read_body(body, most, "the tenant's limit `append_bytes`", within).await?;
    let records = records(&body, &limits, &info)?;
    let records = place.deal(&api, &stream, &info, records)?;
    let batch = AppendBatch { records, ingest_time: api.services.clock.now(), producer, room: Some(limits.log_bytes) };
    let (log, id) = (Arc::clone(&api.services.log), stream.clone());
    let appended = api.places.call(&scope.tenant, move || log.append(&id, batch)).await??;
    json(&document(&stream, appended))
}

fn producer(headers: &HeaderMap, scope: &Scope) -> Answer<Producer> {
    let name = one_header(headers, PRODUCER)?;
    let sequence = one_header(headers, SEQUENCE)?.map(str::parse::<u64>).transpose();
    let sequence = sequence.map_err(|_| {
        Problem::invalid("Tidegate-Sequence", "Tidegate-Sequence is no whole number from 0 to 18446744073709551615")
    })?;
    match (name, sequence) {
        (None, Some(_)) => Err(Problem::invalid(
            "Tidegate-Producer",
            "a sequence counts the batches of one producer; name it in Tidegate-Producer",
        )),
        (name, sequence) => {
            let name = name.unwrap_or(&scope.caller.subject);
            if name.starts_with(JOBS) {
                let detail = "names that begin with `job:` are those of jobs; give another in Tidegate-Producer";
                return Err(Problem::invalid("Tidegate-Producer", detail));
            }
            Ok(Producer { name: name.to_owned(), sequence })
        }
    }
}

fn records(body: &Bytes, limits: &TenantLimits, info: &StreamInfo) -> Answer<Vec<Bytes>> {
    let most = info.spec.max_record_bytes.min(limits.record_bytes);
    let record_bytes = usize::try_from(most).unwrap_or(usize::MAX);
    split(body, Bounds { record_bytes, records: MAX_APPEND_RECORDS }).map_err(|bad| match bad {
        BadLines::TooLong { line, bytes } => {
            let detail =
                format!("the record in line {line} has {bytes} bytes, at most {most} are allowed; none was appended");
            Problem::new(codes::RECORD_TOO_LARGE, detail).at_line(Some(line))
        }
        BadLines::TooMany => Problem::new(
            codes::BODY_TOO_LARGE,
            format!("the body has more than {MAX_APPEND_RECORDS} records; send it in parts"),
        ),
        BadLines::Nothing => {
            Problem::invalid("body", "the body has no record; send at least one line that is not blank")
        }
    })
}

impl Where {
    fn deal(
        &self,
        api: &Shared,
        stream: &StreamId,
        info: &StreamInfo,
        records: Vec<Bytes>,
    ) -> Answer<Vec<(u32, Bytes)>> {
        let partitions = info.spec.partitions;
        match (self.partition, &self.key) {
            (Some(_), Some(_)) => {
                Err(Problem::invalid("partition", "`partition` and `key` contradict each other; give one of them"))
            }
            (Some(partition), None) => Ok(records.into_iter().map(|record| (partition, record)).collect()),
            (None, Some(field)) if field.is_empty() => {
                Err(Problem::invalid("key", "`key` names no field; give the field's name, or leave `key` out"))
            }
            (None, Some(field)) => {
                let dealt = records.into_iter().map(|record| (partition_by_key(&record, field, partitions), record));
                Ok(dealt.collect())
            }
            (None, None) => {
                let turn = api.rounds.next(&stream.tenant, &stream.name, partitions);
                Ok(records.into_iter().map(|record| (turn, record)).collect())
            }
        }
    }
}

fn document(stream: &StreamId, appended: Appended) -> AppendedDocument {
    let Appended { ranges, ingest_time, repeated } = appended;
    AppendedDocument {
        stream: stream.name.to_string(),
        records: ranges.iter().map(|range| range.count).sum(),
        ingest_time,
        repeated,
        ranges: ranges.into_iter().map(Range::from).collect(),
    }
}

impl From<OffsetRange> for Range {
    fn from(range: OffsetRange) -> Self {
        let OffsetRange { partition, first, count } = range;
        Self { partition, first, last: (first + count).saturating_sub(1), count }
    }
}
