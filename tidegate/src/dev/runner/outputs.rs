//! Where a job's records go: its sink, and the streams of what was late or rejected, made where they are absent.
//!
//! Invariant: what a job writes counts against its tenant's `log_bytes` as what is sent to the API does; the file of the
//! tenant's tables may grow to as many bytes.

use std::sync::Arc;

use tidegate_connectors::{LogResultSink, LogSideSink, ResultSink, SideSink, SinkError};
use tidegate_coordinator::{JobKey, JobStreams, StartError};
use tidegate_log::{ErrorKind, LogError, MAX_RECORD_BYTES, Retention, StreamId, StreamInfo, StreamSpec};
use tidegate_pipeline::Sink;
use tidegate_sink_sqlite::Writer;
use tidegate_tenancy::TenantLimits;
use tidegate_types::{ResultFields, Stamping};
use tidegate_worker::Outputs;

use super::RunnerParts;
use super::reasons::{invalid, lost, stream_refused, table_refused};

/// How long what was late or rejected is kept, and how much of it: enough for a weekend and for one look at everything.
const SIDE_RETENTION: Retention = Retention { bytes: Some(64 << 20), age_ms: Some(7 * 24 * 3600 * 1000) };

/// Opens and checks outputs.
pub(super) struct Opening<'a> {
    pub(super) parts: &'a RunnerParts,
    pub(super) key: &'a JobKey,
    pub(super) sink: &'a Sink,
    pub(super) streams: &'a JobStreams,
    pub(super) limits: &'a TenantLimits,
    /// The input stream.
    pub(super) input: &'a StreamInfo,
    pub(super) fields: &'a ResultFields,
    /// What the results bear, and how new they are.
    pub(super) stamping: Stamping,
}

impl Opening<'_> {
    /// Whether the outputs could be opened. Makes nothing.
    pub(super) fn check(&self) -> Result<(), StartError> {
        match self.sink {
            Sink::UpsertStore { table, key } => {
                let checked = self.parts.tables.check(&self.key.tenant, table, key, self.fields);
                checked.map_err(|error| table_refused(&error))?;
            }
            Sink::Log { .. } => {}
            other => return Err(not_there(other)),
        }
        let mut absent = 0_u32;
        for (path, name) in self.streams.written() {
            match self.parts.log.describe(&self.stream(path, name)?) {
                Ok(info) if info.partitions.iter().all(|partition| partition.sealed) => {
                    return Err(invalid(path, format!("the stream `{name}` is sealed; name another one")));
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => absent += 1,
                Err(error) => return Err(stream_refused(path, &error)),
            }
        }
        self.have_room(absent)
    }

    /// Whether the tenant may have so many more streams.
    fn have_room(&self, absent: u32) -> Result<(), StartError> {
        let there = self.parts.log.list(&self.key.tenant).map_err(|error| stream_refused("sink", &error))?.len();
        let wanted = u32::try_from(there).unwrap_or(u32::MAX).saturating_add(absent);
        if absent == 0 || wanted <= self.limits.streams {
            return Ok(());
        }
        let reason = format!(
            "the job makes {absent} streams for its outputs, and the tenant has {there} of at most {}; name streams that are \
             there, or delete some",
            self.limits.streams
        );
        Err(invalid("dead_letter_output", reason))
    }

    /// Opens the outputs, and makes the streams that are absent.
    pub(super) fn open(&self) -> Result<Outputs, StartError> {
        self.check()?;
        for (path, name) in self.streams.written() {
            self.create(path, name)?;
        }
        Ok(Outputs {
            results: vec![self.panes()?],
            too_late: self.streams.too_late.as_deref().map(|name| self.side("late_side_output", name)).transpose()?,
            // Counted only: no key of the pipeline names a stream for them.
            duplicates: None,
            dead_letters: Some(self.side("dead_letter_output", &self.streams.dead_letters)?),
        })
    }

    fn panes(&self) -> Result<Box<dyn ResultSink>, StartError> {
        match self.sink {
            Sink::UpsertStore { table, key } => {
                let writer = Writer { job: self.key.name.to_string(), stamping: self.stamping };
                let (tenant, limit) = (&self.key.tenant, self.limits.log_bytes);
                let sink = self.parts.tables.sink(tenant, table, key, self.fields, writer, limit);
                Ok(Box::new(sink.map_err(|error| table_refused(&error))?))
            }
            Sink::Log { log } => {
                let stream = self.stream("sink.log", log)?;
                let (parts, producer) = (self.parts, self.producer());
                let (log, clock) = (Arc::clone(&parts.log), Arc::clone(&parts.clock));
                let sink = LogResultSink::open(log, stream, producer, clock, self.fields, self.stamping);
                Ok(Box::new(sink.map_err(|error| sink_refused("sink.log", &error))?.within(self.limits.log_bytes)))
            }
            other => Err(not_there(other)),
        }
    }

    fn side(&self, path: &'static str, name: &str) -> Result<Box<dyn SideSink>, StartError> {
        let (log, clock) = (Arc::clone(&self.parts.log), Arc::clone(&self.parts.clock));
        let sink = LogSideSink::open(log, self.stream(path, name)?, self.producer(), clock);
        Ok(Box::new(sink.map_err(|error| sink_refused(path, &error))?.within(self.limits.log_bytes)))
    }

    fn create(&self, path: &str, name: &str) -> Result<(), StartError> {
        let stream = self.stream(path, name)?;
        let spec = match path {
            // Panes are kept as the input is, and as many readers share them.
            "sink.log" => StreamSpec { max_record_bytes: MAX_RECORD_BYTES, ..self.input.spec.clone() },
            _ => StreamSpec { partitions: 1, retention: SIDE_RETENTION, max_record_bytes: MAX_RECORD_BYTES },
        };
        match self.parts.log.create(&stream, &spec) {
            // Whoever made it chose how; the job writes into any.
            Ok(_) | Err(LogError::Exists { .. }) => Ok(()),
            Err(error) => Err(stream_refused(path, &error)),
        }
    }

    fn stream(&self, path: &str, name: &str) -> Result<StreamId, StartError> {
        let name = name.parse().map_err(|error| invalid(path, error))?;
        Ok(StreamId { tenant: self.key.tenant.clone(), name })
    }

    /// The name that the job's records bear.
    fn producer(&self) -> String {
        format!("job:{}", self.key.name)
    }
}

/// A sink that this release does not have.
fn not_there(sink: &Sink) -> StartError {
    let name = match sink {
        Sink::TransactionalLog { .. } => "transactional_log",
        Sink::Outbox { .. } => "outbox",
        Sink::Parquet { .. } => "parquet",
        Sink::UpsertStore { .. } => "upsert_store",
        Sink::Log { .. } => "log",
    };
    invalid("sink.type", format!("`{name}` is not run yet by this release; use `upsert_store` or `log`"))
}

fn sink_refused(path: &str, error: &SinkError) -> StartError {
    match error {
        SinkError::Log { source, .. } => stream_refused(path, source),
        error => {
            tracing::error!(%error, path, "an output cannot be opened");
            lost("an output cannot be opened")
        }
    }
}
