//! Puts a job's operators together: which fields are decoded, what hooks see, how the chain is keyed.
//!
//! Hooks are opened by the caller in two steps, because what a map hook puts out is what the hooks after it are opened
//! with: `map_input`, open the map hook, `fields_after_map`, open the others, `Job::new`.

use std::sync::Arc;

use tidegate_formats::{DecodeSpec, Decoder};
use tidegate_pipeline::{Aggregate, Format, Pipeline, Strategy, WindowKind, shares_panes};
use tidegate_types::hooks::{AggregateHook, MapHook, MapPlan, WindowHook};
use tidegate_types::{EventTime, Field, FieldType, Kind, PaneFields, Schema, Value};
use tidegate_windows::{ClockStart, SourceWatermarks};

use crate::aggregate::Builtins;
use crate::exchange::Exchange;
use crate::map::MapOperator;
use crate::source::SourceChain;
use crate::window::{CustomWindows, HookedAggregate, WindowConfig, WindowOperator};

/// The field that stands for a record's own bytes.
const RAW: &str = "raw";

/// A pipeline that its hooks do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct JobError {
    /// The field of the pipeline file.
    pub path: String,
    /// What does not fit, and the way out.
    pub reason: String,
}

/// The opened hooks of a job.
#[derive(Default)]
pub struct JobHooks {
    /// The map hook.
    pub map: Option<Box<dyn MapHook>>,
    /// For each subtask of the window operator, its aggregate hooks in the order of the file.
    pub aggregates: Vec<Vec<Box<dyn AggregateHook>>>,
    /// For each subtask, the window hook of custom windows.
    pub windows: Vec<Box<dyn WindowHook>>,
}

/// How a job runs.
#[derive(Debug, Clone)]
pub struct JobOptions {
    /// Subtasks of the window operator.
    pub parallelism: u32,
    /// The most rows that a hook gets in one call.
    pub batch_rows: usize,
    /// What to call each source partition where it is shown.
    pub partitions: Vec<Value>,
    /// The field of the virtual clock.
    pub arrival_field: Option<String>,
    /// The wall clock's reading at the start; none under a virtual clock.
    pub wall_clock: Option<EventTime>,
}

/// The fields that hooks behind the map are opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFields {
    /// The fields of rows: the declared ones, or what the map hook puts out and keeps.
    pub rows: Vec<Field>,
    /// The fields of the key, in the order of `key_by`.
    pub keys: Vec<Field>,
}

/// A job's operators, ready to be driven.
pub struct Job {
    /// The source chain.
    pub source: SourceChain,
    /// From the source chain to the window operator's subtasks.
    pub exchange: Exchange,
    /// The subtasks of the window operator.
    pub windows: Vec<WindowOperator>,
    /// The names of the columns of its panes.
    pub pane_fields: PaneFields,
    /// The most rows of a source batch.
    pub batch_rows: usize,
}

/// The fields that a map hook is opened with: the declared ones, and the record itself under the format `raw`.
#[must_use]
pub fn map_input(pipeline: &Pipeline) -> Vec<Field> {
    match pipeline.source.format {
        Format::Raw => vec![Field::typed(RAW, Kind::Bytes, false)],
        Format::Json | Format::Avro => pipeline.source.schema.clone(),
    }
}

/// The fields behind the map.
///
/// # Errors
/// If the pipeline names a field that the map hook neither puts out nor keeps.
pub fn fields_after_map(pipeline: &Pipeline, map: Option<&MapPlan>) -> Result<JobFields, JobError> {
    let rows = match map {
        None => pipeline.source.schema.clone(),
        Some(plan) => {
            let kept = plan.keep.iter().map(|name| declared(&pipeline.source.schema, name));
            let rows: Vec<Field> = plan.output.iter().cloned().chain(kept).collect();
            for (path, name) in named_fields(pipeline) {
                if !rows.iter().any(|field| field.name == name) {
                    let reason = format!("the map hook neither puts out nor keeps `{name}`; name one of its fields");
                    return Err(JobError { path, reason });
                }
            }
            rows
        }
    };
    let keys = pipeline.key_by.iter().map(|name| declared(&rows, name)).collect();
    Ok(JobFields { rows, keys })
}

/// The fields of a pane's value, in the order of the file: what a window hook is opened with.
///
/// `hooks`: the opened aggregate hooks of one subtask.
#[must_use]
pub fn value_fields(pipeline: &Pipeline, fields: &JobFields, hooks: &[Box<dyn AggregateHook>]) -> Vec<Field> {
    let schema = Schema::new(fields.rows.clone());
    let mut builtins = Builtins::new(&pipeline.aggregates, &schema).output_fields().into_iter();
    let mut hooks = hooks.iter();
    let mut values = Vec::new();
    for aggregate in &pipeline.aggregates {
        match aggregate {
            Aggregate::Builtin { .. } => values.extend(builtins.next()),
            Aggregate::Hook { .. } => values.extend(hooks.next().iter().flat_map(|hook| hook.plan().output.clone())),
        }
    }
    values
}

/// The field of this name as declared, otherwise dynamic.
fn declared(fields: &[Field], name: &str) -> Field {
    fields.iter().find(|field| field.name == name).cloned().unwrap_or_else(|| Field::dynamic(name))
}

/// The fields that the operators behind the map name, with the paths in the file that name them.
fn named_fields(pipeline: &Pipeline) -> Vec<(String, String)> {
    let mut named: Vec<(String, String)> =
        pipeline.key_by.iter().enumerate().map(|(at, name)| (format!("key_by[{at}]"), name.clone())).collect();
    named.extend(pipeline.dedup.iter().map(|dedup| ("dedup.field".to_owned(), dedup.field.clone())));
    for aggregate in &pipeline.aggregates {
        if let Aggregate::Builtin { name, field, condition, .. } = aggregate {
            named.extend(field.iter().map(|field| (format!("aggregate.{name}"), field.clone())));
            let condition = condition.iter();
            named.extend(condition.map(|where_| (format!("aggregate.{name}.where.field"), where_.field.clone())));
        }
    }
    named
}

impl Job {
    /// Puts the operators together.
    ///
    /// # Errors
    /// If the pipeline and its hooks do not fit together.
    pub fn new(pipeline: &Pipeline, hooks: JobHooks, options: JobOptions) -> Result<Self, JobError> {
        let fields = fields_after_map(pipeline, hooks.map.as_ref().map(|map| map.plan()))?;
        let aggregates = hooks.aggregates.first().map_or(&[][..], Vec::as_slice);
        let custom = hooks.windows.first().map(AsRef::as_ref);
        let pane_fields = pane_fields(pipeline, aggregates, custom)?;
        let wanted = match &hooks.map {
            Some(map) => map_reads(pipeline, map.plan()),
            None => row_reads(pipeline, aggregates, custom, &fields.rows),
        };
        let decoded = Arc::new(Schema::new(wanted.clone()));
        let decoder = decoder(pipeline, wanted, &options);
        let map_id: Arc<str> = pipeline.map.as_ref().map_or("map", |hook| hook.uid.as_str()).into();
        let map = hooks.map.map(|hook| MapOperator::new(hook, Arc::clone(&map_id), &decoded, options.batch_rows));
        let schema = map.as_ref().map_or_else(|| Arc::clone(&decoded), |map| Arc::clone(map.schema()));
        let start = options.wall_clock.map_or(ClockStart::FirstArrival, ClockStart::Assignment);
        let source = SourceChain {
            decoder,
            decoded_schema: decoded,
            map,
            timed: pipeline.source.timestamp_field.is_some(),
            watermarks: SourceWatermarks::new(&pipeline.source.watermark, options.partitions.len(), start),
            partition_names: options.partitions,
            key_by: pipeline.key_by.clone(),
            sequence: 0,
            source_id: "source".into(),
            map_id,
        };
        let mut aggregates = hooks.aggregates.into_iter();
        let mut custom = hooks.windows.into_iter();
        let windows = (0..options.parallelism)
            .map(|_| {
                let aggregates = aggregates.next().unwrap_or_default();
                window_operator(pipeline, &schema, aggregates, custom.next(), options.batch_rows)
            })
            .collect();
        let exchange = Exchange::new(pipeline.max_parallelism, options.parallelism);
        Ok(Self { source, exchange, windows, pane_fields, batch_rows: options.batch_rows })
    }

    /// The names of the columns of its panes.
    #[must_use]
    pub fn pane_fields(&self) -> &PaneFields {
        &self.pane_fields
    }
}

fn window_operator(
    pipeline: &Pipeline,
    schema: &Arc<Schema>,
    hooks: Vec<Box<dyn AggregateHook>>,
    custom: Option<Box<dyn WindowHook>>,
    batch_rows: usize,
) -> WindowOperator {
    // The operator's stable id.
    let uid: Arc<str> = match &pipeline.window.kind {
        WindowKind::Custom { hook } => hook.uid.as_str().into(),
        _ => "window".into(),
    };
    let config = WindowConfig {
        kind: pipeline.window.kind.clone(),
        lateness: pipeline.window.allowed_lateness,
        shares_panes: shares_panes(pipeline),
        early: pipeline.trigger.early,
        late: pipeline.trigger.late,
        accumulation: pipeline.accumulation,
        dedup: pipeline.dedup.clone(),
        aggregates: pipeline.aggregates.clone(),
        schema: Arc::clone(schema),
        key_by: pipeline.key_by.clone(),
        operator: Arc::clone(&uid),
    };
    let uids = pipeline.aggregates.iter().filter_map(|aggregate| match aggregate {
        Aggregate::Hook { hook, .. } => Some(Arc::from(hook.uid.as_str())),
        Aggregate::Builtin { .. } => None,
    });
    let hooks = hooks.into_iter().zip(uids).map(|(hook, uid)| HookedAggregate::new(hook, uid, batch_rows)).collect();
    let custom = custom.map(|hook| CustomWindows::new(hook, uid, batch_rows));
    WindowOperator::new(config, hooks, custom)
}

/// The output fields: those of `key_by`, then each aggregate's, or what the window hook emits instead of those. A name
/// that stands twice is refused.
fn pane_fields(
    pipeline: &Pipeline,
    hooks: &[Box<dyn AggregateHook>],
    custom: Option<&dyn WindowHook>,
) -> Result<PaneFields, JobError> {
    let mut fields = PaneFields { keys: pipeline.key_by.clone(), values: Vec::new() };
    if let Some(plan) = custom.map(WindowHook::plan).filter(|plan| plan.emits) {
        let outputs = plan.output.iter().map(|field| &field.name);
        return outputs.into_iter().try_fold(fields, |fields, name| with_output(fields, name, "window.component"));
    }
    let mut hooks = hooks.iter();
    for aggregate in &pipeline.aggregates {
        match aggregate {
            Aggregate::Builtin { name, .. } => fields.values.push(name.clone()),
            Aggregate::Hook { name, .. } => {
                let outputs = hooks.next().map(|hook| hook.plan().output.as_slice()).unwrap_or_default();
                for output in outputs {
                    fields = with_output(fields, &output.name, &format!("aggregate.{name}"))?;
                }
            }
        }
    }
    Ok(fields)
}

/// Adds a hook's output field.
fn with_output(mut fields: PaneFields, name: &str, path: &str) -> Result<PaneFields, JobError> {
    const RESERVED: [&str; 5] = ["window_start", "window_end", "pane", "watermark", "op"];
    if fields.keys.iter().chain(&fields.values).any(|other| other == name) || RESERVED.contains(&name) {
        let reason =
            format!("the hook's output field `{name}` has the name of another field of the result; rename one");
        return Err(JobError { path: path.to_owned(), reason });
    }
    fields.values.push(name.to_owned());
    Ok(fields)
}

/// The fields to decode where a map hook stands behind the decoder: what it reads and what it keeps.
fn map_reads(pipeline: &Pipeline, plan: &MapPlan) -> Vec<Field> {
    let schema = &pipeline.source.schema;
    let mut wanted = Vec::new();
    for field in &plan.reads.columns {
        add(&mut wanted, source_field(pipeline, &field.name, Some(field)));
    }
    for name in &plan.keep {
        add(&mut wanted, declared(schema, name));
    }
    wanted
}

/// The fields to decode where the rows go straight to the window operator.
fn row_reads(
    pipeline: &Pipeline,
    hooks: &[Box<dyn AggregateHook>],
    custom: Option<&dyn WindowHook>,
    rows: &[Field],
) -> Vec<Field> {
    let mut wanted = Vec::new();
    for (_, name) in named_fields(pipeline) {
        add(&mut wanted, declared(rows, &name));
    }
    let reads = hooks.iter().map(|hook| &hook.plan().reads).chain(custom.map(|hook| &hook.plan().reads));
    for field in reads.flat_map(|reads| &reads.columns) {
        add(&mut wanted, source_field(pipeline, &field.name, Some(field)));
    }
    wanted
}

/// A field of the source: as declared; the record itself for an undeclared bytes field `raw`; otherwise dynamic.
fn source_field(pipeline: &Pipeline, name: &str, read: Option<&Field>) -> Field {
    let bytes = |field: &Field| matches!(field.field_type, FieldType::Typed { kind: Kind::Bytes, .. });
    let field = declared(&pipeline.source.schema, name);
    let is_raw = name == RAW && field.field_type == FieldType::Dynamic && read.is_some_and(bytes);
    if is_raw { Field::typed(RAW, Kind::Bytes, false) } else { field }
}

fn add(fields: &mut Vec<Field>, field: Field) {
    if !fields.iter().any(|other| other.name == field.name) {
        fields.push(field);
    }
}

fn decoder(pipeline: &Pipeline, fields: Vec<Field>, options: &JobOptions) -> Decoder {
    let source = &pipeline.source;
    if source.format == Format::Raw {
        return Decoder::raw(fields);
    }
    let undeclared_raw = |field: &Field| {
        field.name == RAW
            && field.field_type == FieldType::Typed { kind: Kind::Bytes, nullable: false }
            && declared(&source.schema, RAW).field_type == FieldType::Dynamic
    };
    let checks =
        source.schema.iter().filter(|field| fields.iter().all(|other| other.name != field.name)).cloned().collect();
    Decoder::json(DecodeSpec {
        raw: fields.iter().position(undeclared_raw),
        checks,
        fields,
        time: source.timestamp_field.clone(),
        punctuation: match &source.watermark.strategy {
            Strategy::Punctuated { field } => Some(field.clone()),
            _ => None,
        },
        arrival: options.arrival_field.clone(),
    })
}
