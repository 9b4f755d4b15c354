//! Streams: made, looked at, sealed, deleted. Their records are another file's.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use serde::{Deserialize, Serialize};
use serde_json::json as value;
use tidegate_log::{Created as Made, Log, LogError, PartitionInfo, Retention, StreamId, StreamInfo, StreamSpec};
use tidegate_tenancy::{AuditEntry, Permission, TenantLimits};
use tidegate_types::{Name, NameError};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::OperationProblems;
use crate::answer::{Created, json, nothing};
use crate::idempotency::Repeatable;
use crate::problem::{Answer, Problem, codes};
use crate::request::{Params, Scope, name_in_path, read_json};
use crate::services::Shared;
use crate::settings::{MIN_RETENTION_AGE_MS, MIN_RETENTION_BYTES};

pub(super) const PROBLEMS: &[OperationProblems] = &[
    (
        "create_stream",
        &[
            codes::ALREADY_EXISTS,
            codes::BODY_TOO_LARGE,
            codes::UNSUPPORTED_MEDIA_TYPE,
            codes::INVALID_REQUEST,
            codes::REQUEST_TIMEOUT,
            codes::QUOTA_EXCEEDED,
            codes::REQUEST_IN_PROGRESS,
            codes::IDEMPOTENCY_KEY_REUSED,
        ],
    ),
    ("list_streams", &[]),
    ("get_stream", &[codes::NOT_FOUND]),
    ("seal_stream", &[codes::NOT_FOUND]),
    ("delete_stream", &[codes::NOT_FOUND, codes::CONFLICT]),
];

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(create_stream, list_streams))
        .routes(routes!(get_stream, delete_stream))
        .routes(routes!(seal_stream))
}

/// A stream to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewStream {
    /// Its name: 1 to 63 letters, digits, `-`, `_` and `.`, first a letter or digit.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
    name: String,
    /// How many partitions it has, for good.
    #[serde(default = "one")]
    #[schema(minimum = 1, default = 1)]
    partitions: u32,
    /// What is kept; left out: everything.
    #[serde(default)]
    retention: RetentionDocument,
    /// The most bytes of a record; left out: the tenant's limit `record_bytes`.
    #[schema(minimum = 1)]
    max_record_bytes: Option<u32>,
}

const fn one() -> u32 {
    1
}

/// What is kept of a stream. Where both are given, both hold.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(as = Retention)]
pub(crate) struct RetentionDocument {
    /// At most so many bytes of records in a partition; null: no bound.
    #[schema(minimum = 32_768)]
    bytes: Option<u64>,
    /// Only records that were taken in at most so many ms ago; null: no bound.
    #[schema(minimum = 1_000)]
    age_ms: Option<u64>,
}

/// A stream.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Stream)]
pub(crate) struct StreamDocument {
    /// Its name.
    name: String,
    /// How many partitions it has.
    partitions: u32,
    /// What is kept.
    retention: RetentionDocument,
    /// The most bytes of a record.
    max_record_bytes: u32,
    /// Whether every partition is sealed.
    sealed: bool,
    /// Records that are kept.
    records: u64,
    /// Bytes of the records that are kept.
    bytes: u64,
    /// Each partition as it stands, in order.
    partition_states: Vec<PartitionDocument>,
}

/// A partition as it stands. It holds the records at the offsets from `start` to below `end`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Partition)]
pub(crate) struct PartitionDocument {
    /// Its number, from 0.
    partition: u32,
    /// The offset of the oldest record that is kept.
    start: u64,
    /// The offset of the next record.
    end: u64,
    /// Bytes of the records that are kept.
    bytes: u64,
    /// Whether nothing can be appended any more.
    sealed: bool,
    /// When the newest record was taken in, ms since the epoch; null if there never was one.
    last_ingest: Option<i64>,
}

impl From<StreamInfo> for StreamDocument {
    fn from(info: StreamInfo) -> Self {
        let StreamInfo { id, spec: StreamSpec { partitions, retention, max_record_bytes }, partitions: states } = info;
        let Retention { bytes, age_ms } = retention;
        Self {
            name: id.name.to_string(),
            partitions,
            retention: RetentionDocument { bytes, age_ms },
            max_record_bytes,
            sealed: states.iter().all(|state| state.sealed),
            records: states.iter().map(PartitionInfo::records).sum(),
            bytes: states.iter().map(|state| state.bytes).sum(),
            partition_states: (0..).zip(states).map(partition_document).collect(),
        }
    }
}

fn partition_document((partition, state): (u32, PartitionInfo)) -> PartitionDocument {
    let PartitionInfo { start, end, bytes, sealed, last_ingest } = state;
    PartitionDocument { partition, start, end, bytes, sealed, last_ingest }
}

/// Make a stream
///
/// A stream of this name with the same settings is given as it is (200); with others it is `already-exists`.
#[utoipa::path(post, path = "/v1/streams", tag = "streams", request_body = NewStream,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat for 24 hours", max_length = 255)),
    responses(
        (status = 200, description = "The stream was there, with these settings", body = StreamDocument),
        (status = 201, description = "The stream", body = StreamDocument, headers(("Location" = String, description = "Its path"))),
    ),
)]
async fn create_stream(scope: Scope, State(api): State<Shared>, again: Repeatable, request: Request) -> Answer {
    scope.may(Permission::CreateStream)?;
    let (new, content): (NewStream, _) = read_json(&api, request).await?;
    let work = async {
        let limits = api.services.tenancy.limits_of(&scope.tenant).await?;
        let (stream, asked) = asked_for(&scope, &new, &limits)?;
        let (log, id) = (Arc::clone(&api.services.log), stream.clone());
        let making = api.places.making(&scope.tenant);
        let work = move || make(&*log, &id, asked, &limits, &making);
        let (made, info) = api.places.call(&scope.tenant, work).await??;
        let created = Created::new(&StreamDocument::from(info), format!("/v1/streams/{}", stream.name))?;
        if made == Made::Existing {
            return Ok(created.existing());
        }
        let detail = value!({ "partitions": new.partitions });
        record(&api, &scope, "stream.create", &stream.name, detail).await?;
        Ok(created)
    };
    again.once(&api, &scope.caller, &[&content], work).await
}

/// What a stream should be.
struct Asked {
    spec: StreamSpec,
    /// Whether the request names `max_record_bytes`; otherwise it is what the tenant's limit is now.
    record_bytes_given: bool,
}

fn asked_for(scope: &Scope, new: &NewStream, limits: &TenantLimits) -> Answer<(StreamId, Asked)> {
    let name: Name = new.name.parse().map_err(|error: NameError| Problem::invalid("name", error.to_string()))?;
    let stream = StreamId { tenant: scope.tenant.clone(), name };
    let RetentionDocument { bytes, age_ms } = new.retention;
    at_least("retention.age_ms", age_ms, MIN_RETENTION_AGE_MS)?;
    at_least("retention.bytes", bytes, MIN_RETENTION_BYTES)?;
    let most = limits.record_bytes.min(tidegate_log::MAX_RECORD_BYTES);
    let spec = StreamSpec {
        partitions: new.partitions,
        retention: Retention { bytes, age_ms },
        max_record_bytes: new.max_record_bytes.unwrap_or(most),
    };
    spec.check(&stream)?;
    Ok((stream, Asked { spec, record_bytes_given: new.max_record_bytes.is_some() }))
}

/// Below these a stream would lose what was just appended.
fn at_least(path: &str, given: Option<u64>, least: u64) -> Answer<()> {
    match given {
        Some(given) if given < least => Err(Problem::invalid(
            path,
            format!("{path} is {given}, at least {least} is needed; leave it out to keep all"),
        )),
        _ => Ok(()),
    }
}

/// Makes the stream if the tenant has room for it. One at a time for each tenant, or two would both see the last room.
fn make(
    log: &dyn Log,
    stream: &StreamId,
    asked: Asked,
    limits: &TenantLimits,
    making: &std::sync::Mutex<()>,
) -> Answer<(Made, StreamInfo)> {
    let _one_at_a_time = making.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let Asked { mut spec, record_bytes_given } = asked;
    match log.describe(stream) {
        // The tenant's limit may have changed since, and whoever sends the same request again means the same stream.
        Ok(found) if !record_bytes_given => spec.max_record_bytes = found.spec.max_record_bytes,
        Ok(_) => {}
        Err(LogError::NotFound { .. }) => {
            let used = u64::try_from(log.list(&stream.tenant)?.len()).unwrap_or(u64::MAX);
            limits.room("streams", used, 1)?;
            limits.room("partitions", 0, u64::from(spec.partitions))?;
            if spec.max_record_bytes > limits.record_bytes {
                let detail = format!(
                    "max_record_bytes: the tenant's limit `record_bytes` is {}; ask for less",
                    limits.record_bytes
                );
                return Err(Problem::invalid("max_record_bytes", detail));
            }
        }
        Err(error) => return Err(error.into()),
    }
    let made = log.create(stream, &spec)?;
    Ok((made, log.describe(stream)?))
}

/// Streams by name.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StreamList {
    streams: Vec<StreamDocument>,
}

/// List streams
///
/// Those that jobs made too.
#[utoipa::path(get, path = "/v1/streams", tag = "streams",
    responses((status = 200, description = "The tenant's streams, ascending by name", body = StreamList)),
)]
async fn list_streams(scope: Scope, State(api): State<Shared>) -> Answer {
    scope.may(Permission::ReadStreams)?;
    let (log, tenant) = (Arc::clone(&api.services.log), scope.tenant.clone());
    let found = api.places.call(&scope.tenant, move || log.list(&tenant)).await??;
    json(&StreamList { streams: found.into_iter().map(StreamDocument::from).collect() })
}

/// Read a stream's state
///
/// Its settings, and each partition's offsets.
#[utoipa::path(get, path = "/v1/streams/{name}", tag = "streams",
    params(("name" = String, Path, description = "The stream's name")),
    responses((status = 200, description = "The stream", body = StreamDocument)),
)]
async fn get_stream(scope: Scope, State(api): State<Shared>, Path(name): Path<String>) -> Answer {
    scope.may(Permission::ReadStreams)?;
    let (_, info) = find(&api, &scope, &name).await?;
    json(&StreamDocument::from(info))
}

/// Which partitions to seal.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SealWhich {
    /// The partition; left out: all.
    partition: Option<u32>,
}

/// Seal a stream
///
/// A sealed partition takes no more records, for ever; a job that has read it to its end closes its windows. Sealing again
/// is no error.
#[utoipa::path(post, path = "/v1/streams/{name}/seal", tag = "streams",
    params(("name" = String, Path, description = "The stream's name"), SealWhich),
    responses((status = 200, description = "The stream", body = StreamDocument)),
)]
async fn seal_stream(
    scope: Scope,
    State(api): State<Shared>,
    Path(name): Path<String>,
    Params(which): Params<SealWhich>,
) -> Answer {
    scope.may(Permission::SealStream)?;
    let stream = stream_in_path(&scope, &name)?;
    let (log, sealed) = (Arc::clone(&api.services.log), stream.clone());
    let seal = move || log.seal(&sealed, which.partition).and_then(|()| log.describe(&sealed));
    let info = api.places.call(&scope.tenant, seal).await??;
    record(&api, &scope, "stream.seal", &stream.name, value!({ "partition": which.partition })).await?;
    json(&StreamDocument::from(info))
}

/// Delete a stream
///
/// With all its records; this cannot be undone. Needs a tenant admin's token. A stream that is made again under the name is
/// another one: its offsets begin at 0. While a live job reads or writes it, it is not deleted (`conflict`, with the job's
/// name).
#[utoipa::path(delete, path = "/v1/streams/{name}", tag = "streams",
    params(("name" = String, Path, description = "The stream's name")),
    responses((status = 204, description = "It is deleted")),
)]
async fn delete_stream(scope: Scope, State(api): State<Shared>, Path(name): Path<String>) -> Answer {
    scope.may(Permission::DeleteStream)?;
    let stream = stream_in_path(&scope, &name)?;
    let _held = api.services.coordinator.hold_stream(&scope.tenant, stream.name.as_str()).await?;
    let (log, gone) = (Arc::clone(&api.services.log), stream.clone());
    api.places.call(&scope.tenant, move || log.delete(&gone)).await??;
    record(&api, &scope, "stream.delete", &stream.name, serde_json::Value::Null).await?;
    Ok(nothing())
}

/// A stream of the caller's tenant, by the name in the path.
pub(super) fn stream_in_path(scope: &Scope, name: &str) -> Answer<StreamId> {
    Ok(StreamId { tenant: scope.tenant.clone(), name: name_in_path("stream", name)? })
}

/// The stream as it stands.
pub(super) async fn find(api: &Shared, scope: &Scope, name: &str) -> Answer<(StreamId, StreamInfo)> {
    let stream = stream_in_path(scope, name)?;
    let (log, asked) = (Arc::clone(&api.services.log), stream.clone());
    let info = api.places.call(&scope.tenant, move || log.describe(&asked)).await??;
    Ok((stream, info))
}

/// The log is not the store, so what was done to a stream is recorded right after it.
async fn record(
    api: &Shared,
    scope: &Scope,
    action: &'static str,
    stream: &Name,
    detail: serde_json::Value,
) -> Answer<()> {
    let entry = AuditEntry { tenant: Some(scope.tenant.clone()), action, target: stream.to_string(), detail };
    Ok(api.services.tenancy.audit(Some(&scope.caller), &entry).await?)
}
