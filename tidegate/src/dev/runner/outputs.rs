//! Where a job's records go: its sinks, and the streams of what was late or rejected, made where they are absent.
//!
//! Invariant: what a job writes counts against its tenant's `log_bytes` as what is sent to the API does; the file of the
//! tenant's tables may grow to as many bytes.

use std::sync::Arc;

use tidegate_connectors::{LogResultSink, LogSideSink, ResultSink, SideByOperator, SideSink, SinkError, Transactional};
use tidegate_coordinator::{JobKey, JobStreams, StartError, streams_written};
use tidegate_log::{ErrorKind, LogError, MAX_RECORD_BYTES, Retention, StreamId, StreamInfo, StreamSpec};
use tidegate_pipeline::{Form, Pipeline, Sink, SinkSpec, Upstream};
use tidegate_sink_sqlite::Writer;
use tidegate_tenancy::TenantLimits;
use tidegate_types::{Millis, ResultFields, Stamping};
use tidegate_worker::Outputs;

use super::RunnerParts;
use super::reasons::{invalid, lost, stream_refused, table_refused};

/// How long what was late or rejected is kept, and how much of it: enough for a weekend and for one look at everything.
const SIDE_RETENTION: Retention = Retention { bytes: Some(64 << 20), age_ms: Some(7 * 24 * 3600 * 1000) };

/// Opens and checks outputs.
pub(super) struct Opening<'a> {
    pub(super) parts: &'a RunnerParts,
    pub(super) key: &'a JobKey,
    pub(super) pipeline: &'a Pipeline,
    pub(super) limits: &'a TenantLimits,
    /// The stream of each source.
    pub(super) inputs: &'a [StreamInfo],
    /// The fields of each sink's records.
    pub(super) results: &'a [ResultFields],
    /// The number of this start.
    pub(super) restore_epoch: u64,
}

impl Opening<'_> {
    /// Whether the outputs could be opened. Makes nothing.
    pub(super) fn check(&self) -> Result<(), StartError> {
        for (place, SinkSpec { sink, .. }) in self.pipeline.sinks.iter().enumerate() {
            match sink {
                Sink::UpsertStore { table, key } => {
                    let checked = self.parts.tables.check(&self.key.tenant, table, key, &self.results[place]);
                    checked.map_err(|error| table_refused(&self.pipeline.sink_path(place), &error))?;
                }
                Sink::Log { .. } | Sink::TransactionalLog { .. } => {}
                other => return Err(not_there(&self.pipeline.sink_path(place), other)),
            }
        }
        let mut absent = 0_u32;
        for (path, name) in streams_written(self.pipeline) {
            match self.parts.log.describe(&self.stream(&path, &name)?) {
                Ok(info) if info.partitions.iter().all(|partition| partition.sealed) => {
                    return Err(invalid(path, format!("the stream `{name}` is sealed; name another one")));
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => absent += 1,
                Err(error) => return Err(stream_refused(&path, &error)),
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
        for (path, name) in streams_written(self.pipeline) {
            self.create(&path, &name)?;
        }
        let dead_letters = JobStreams::of(self.pipeline).dead_letters;
        Ok(Outputs {
            results: (0..self.pipeline.sinks.len()).map(|sink| self.result(sink)).collect::<Result<_, _>>()?,
            too_late: self.too_late()?,
            // Counted only: no key of the pipeline names a stream for them.
            duplicates: None,
            dead_letters: Some(self.side("dead_letter_output", &dead_letters)?),
        })
    }

    fn result(&self, place: usize) -> Result<Box<dyn ResultSink>, StartError> {
        let (SinkSpec { sink, stamp, .. }, fields) = (&self.pipeline.sinks[place], &self.results[place]);
        let (precedence, restore_epoch) = (self.pipeline.precedence, self.restore_epoch);
        let stamping = Stamping { stamp: *stamp, precedence, restore_epoch };
        match sink {
            Sink::UpsertStore { table, key } => {
                let writer = Writer { job: self.key.name.to_string(), stamping };
                let (tenant, limit) = (&self.key.tenant, self.limits.log_bytes);
                let sink = self.parts.tables.sink(tenant, table, key, fields, writer, limit);
                Ok(Box::new(sink.map_err(|error| table_refused(&self.pipeline.sink_path(place), &error))?))
            }
            Sink::Log { log } => Ok(Box::new(self.log(place, log, stamping)?)),
            Sink::TransactionalLog { log, transaction_timeout } => {
                let writer = format!("{}/sink-{place}", self.key.name);
                let sink = self.log(place, log, stamping)?;
                Ok(Box::new(sink.transactional(self.transactional(writer, *transaction_timeout))))
            }
            other => Err(not_there(&self.pipeline.sink_path(place), other)),
        }
    }

    /// A stream for results.
    fn log(&self, place: usize, log: &str, stamping: Stamping) -> Result<LogResultSink, StartError> {
        let path = self.log_path(place);
        let stream = self.stream(&path, log)?;
        let (parts, producer) = (self.parts, self.producer());
        let (log, clock) = (Arc::clone(&parts.log), Arc::clone(&parts.clock));
        let sink = LogResultSink::open(log, stream, producer, clock, &self.results[place], stamping);
        Ok(sink.map_err(|error| sink_refused(&path, &error))?.within(self.limits.log_bytes))
    }

    /// Transactions of this start.
    fn transactional(&self, writer: String, timeout: Millis) -> Transactional {
        Transactional { writer, epoch: self.restore_epoch, timeout_ms: u64::try_from(timeout.0).ok() }
    }

    /// How long transactions of side outputs live, which commit as the job's sink does; none: they do not.
    fn sides_commit(&self) -> Option<Millis> {
        let timeouts = self.pipeline.sinks.iter().filter_map(|sink| match &sink.sink {
            Sink::TransactionalLog { transaction_timeout, .. } => Some(*transaction_timeout),
            _ => None,
        });
        timeouts.max()
    }

    /// Where the stream of a sink is named.
    fn log_path(&self, sink: usize) -> String {
        format!("{}.log", self.pipeline.sink_path(sink))
    }

    /// Where too-late records go: to the stream of the operator that they came too late for. The short form has one operator,
    /// which its lines do not name.
    fn too_late(&self) -> Result<Option<Box<dyn SideSink>>, StartError> {
        let operators = self.pipeline.operators.iter().enumerate();
        let named =
            operators.filter_map(|(place, operator)| Some((place, operator.id(), operator.late_side_output()?)));
        let mut outputs = SideByOperator::default();
        let mut any = false;
        for (place, operator, name) in named {
            let output = self.side(&self.pipeline.late_output_path(place), name)?;
            if self.pipeline.form == Form::Short {
                return Ok(Some(output));
            }
            outputs.add(operator.to_owned(), output);
            any = true;
        }
        Ok(any.then(|| Box::new(outputs) as _))
    }

    fn side(&self, path: &str, name: &str) -> Result<Box<dyn SideSink>, StartError> {
        let (log, clock) = (Arc::clone(&self.parts.log), Arc::clone(&self.parts.clock));
        let sink = LogSideSink::open(log, self.stream(path, name)?, self.producer(), clock);
        let sink = sink.map_err(|error| sink_refused(path, &error))?.within(self.limits.log_bytes);
        Ok(Box::new(match self.sides_commit() {
            // The path tells apart several outputs that go to one stream.
            Some(timeout) => sink.transactional(self.transactional(format!("{}/{path}", self.key.name), timeout)),
            None => sink,
        }))
    }

    fn create(&self, path: &str, name: &str) -> Result<(), StartError> {
        let stream = self.stream(path, name)?;
        let spec = match (0..self.pipeline.sinks.len()).find(|sink| self.log_path(*sink) == path) {
            // Results are kept as what they are made of, and as many readers share them.
            Some(sink) => StreamSpec { max_record_bytes: MAX_RECORD_BYTES, ..self.input_of(sink).spec.clone() },
            None => StreamSpec { partitions: 1, retention: SIDE_RETENTION, max_record_bytes: MAX_RECORD_BYTES },
        };
        match self.parts.log.create(&stream, &spec) {
            // Whoever made it chose how; the job writes into any.
            Ok(_) | Err(LogError::Exists { .. }) => Ok(()),
            Err(error) => Err(stream_refused(path, &error)),
        }
    }

    /// The stream that a sink's results are made of; behind a join the left one.
    fn input_of(&self, sink: usize) -> &StreamInfo {
        let mut upstream = Upstream::Operator(self.pipeline.sinks[sink].input);
        loop {
            match upstream {
                Upstream::Source(source) => return &self.inputs[source],
                Upstream::Operator(operator) => upstream = self.pipeline.operators[operator].inputs[0],
            }
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
fn not_there(path: &str, sink: &Sink) -> StartError {
    let name = match sink {
        Sink::TransactionalLog { .. } => "transactional_log",
        Sink::Outbox { .. } => "outbox",
        Sink::Parquet { .. } => "parquet",
        Sink::UpsertStore { .. } => "upsert_store",
        Sink::Log { .. } => "log",
    };
    invalid(
        format!("{path}.type"),
        format!("`{name}` is not run yet by this release; use `upsert_store`, `transactional_log` or `log`"),
    )
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
