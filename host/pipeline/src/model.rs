//! What a pipeline file says, as plain values with every default filled in.
//!
//! The engine, the planner and the API read a pipeline only through these types; `parse` is the only thing that makes
//! them from text. Invariant: a `Pipeline` that came from `parse` holds no contradiction of docs/pipeline-file.md, so
//! nothing downstream checks one again. Durations are milliseconds, never negative but for the bounds of an interval join, at
//! most 10,000 years each, so that sums of a record's time and a few of them cannot overflow 64 bits.

mod joins;
mod windows;

use tidegate_types::{Field, Millis};

pub use tidegate_types::Stamp;

pub use joins::{Join, JoinKind, JoinOutput, JoinSide, Matching, Selected};
pub use windows::{
    Accumulation, Aggregate, Condition, Dedup, Early, Function, Late, Trigger, Window, WindowKind, Windowed,
};

/// A whole job: sources, operators and sinks, as a directed graph without cycles.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// The job's name, unique in its tenant.
    pub job: String,
    /// The version of the pipeline; grows with every submission.
    pub version: u64,
    /// Which job's rows win in a table that several write: the greater. 0 where the file says nothing.
    pub precedence: i32,
    /// Which form the file has: paths in messages follow it.
    pub form: Form,
    /// Where records come from, in the order of the file; never empty, every one read by an operator.
    pub sources: Vec<Source>,
    /// What is done with them, each after its inputs; never empty.
    pub operators: Vec<Operator>,
    /// Where results go, in the order of the file; never empty.
    pub sinks: Vec<SinkSpec>,
    /// The log for rejected records; `None`: kept by the platform.
    pub dead_letter_output: Option<String>,
    /// How often and how state is saved, as the file says; what a deployed job does is [`Pipeline::checkpointing`].
    pub checkpoint: Option<Checkpoint>,
    /// How many tasks share the work; `None`: the platform decides. At least 1, at most `max_parallelism`.
    pub parallelism: Option<u32>,
    /// The number of key groups, fixed for the life of the job's state. From 1 to 32,768; 1,024 where the file says nothing.
    pub max_parallelism: u32,
}

/// The two forms of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One source, one window operator, one sink, at the top of the file.
    Short,
    /// Lists of named sources, operators and sinks.
    Long,
}

/// Where records come from and how they are decoded.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Its name in the file, and its id; `source` in the short form.
    pub name: String,
    /// The name of the input log.
    pub log: String,
    /// The format of the records.
    pub format: Format,
    /// The field that holds the event time (integer milliseconds or RFC 3339 text); `None`: the map hook gives it.
    pub timestamp_field: Option<String>,
    /// The declared fields, in the order of the file. Every other field is dynamic.
    pub schema: Vec<Field>,
    /// How the watermark follows from the records.
    pub watermark: WatermarkSpec,
    /// The map hook, run on every decoded record.
    pub map: Option<Hook>,
}

/// What an operator reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Upstream {
    /// A source, by its place in [`Pipeline::sources`].
    Source(usize),
    /// An operator, by its place in [`Pipeline::operators`], which is before the reader's.
    Operator(usize),
}

/// A named operator.
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    /// Its name in the file, which inputs, sinks and the ids of its parts say; in the short form `window`, or the `uid` of a
    /// custom window's hook. Its stable id is [`Operator::id`].
    pub name: String,
    /// Its place in the file's list, from 0, which paths in messages show.
    pub place: usize,
    /// What it reads: one input, or a join's left and right.
    pub inputs: Vec<Upstream>,
    /// What it does.
    pub kind: OperatorSpec,
}

/// What an operator does.
#[derive(Debug, Clone, PartialEq)]
pub enum OperatorSpec {
    /// Runs a map hook: stateless.
    Map(Hook),
    /// Aggregates rows by key and window.
    Window(Windowed),
    /// Joins two inputs by key.
    Join(Join),
    /// Runs a process hook: a keyed function with state and timers.
    Process(Process),
}

/// Runs a process hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// The fields that make the key, in order; empty: every record has the same key.
    pub key_by: Vec<String>,
    /// The hook.
    pub hook: Hook,
}

/// Where an operator's results go.
#[derive(Debug, Clone, PartialEq)]
pub struct SinkSpec {
    /// Its name: as the file gives it, else its input's; `sink` in the short form.
    pub name: String,
    /// The operator whose results it takes, by its place in [`Pipeline::operators`].
    pub input: usize,
    /// Where they go.
    pub sink: Sink,
    /// What records say besides their fields.
    pub stamp: Stamp,
}

/// The format of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON object.
    Json,
    /// An Avro record.
    Avro,
    /// Bytes as they are, in the one field `raw`; the map hook decodes them.
    Raw,
}

/// How a partition's watermark follows from its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatermarkSpec {
    /// What a record claims.
    pub strategy: Strategy,
    /// Processing time without a record after which a partition leaves the minimum; `None`: never. Above zero.
    pub idle_partition_timeout: Option<Millis>,
    /// How far in event time a partition may be ahead of the slowest active one; `None`: any distance. Above zero.
    pub max_drift: Option<Millis>,
}

/// What a record claims about the records after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strategy {
    /// No later record is more than `max_delay` older.
    BoundedOutOfOrderness {
        /// The largest disorder, zero or more.
        max_delay: Millis,
    },
    /// No later record is older.
    Ascending,
    /// The named field of a record makes the claim: `true` (the record's own time) or a time.
    Punctuated {
        /// The field that claims.
        field: String,
    },
    /// Nothing is ever claimed before the end of the input.
    None,
}

/// A tenant's hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    /// The stable id of the operator that it is: as the file gives it, else as docs/pipeline-file.md says (`map`, `window`,
    /// `aggregate.<name>`, in the long form what begins with the operator's name).
    pub uid: String,
    /// The component that holds the hook.
    pub component: ComponentRef,
    /// The hook's configuration; an empty object where the file says nothing.
    pub config: serde_json::Value,
}

/// A component of the tenant's registry, written `name@version`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComponentRef {
    /// The component's name.
    pub name: String,
    /// The exact version; `None`: whichever the registry or the command line gives.
    pub version: Option<String>,
}

/// Where panes go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sink {
    /// A table where a newer pane replaces the row of the same key.
    UpsertStore {
        /// The table.
        table: String,
        /// The output fields that identify a row; never empty.
        key: Vec<String>,
    },
    /// A log, exactly once: two-phase commit with the checkpoint.
    TransactionalLog {
        /// The log.
        log: String,
        /// How long a transaction may stay open before the log may drop it; 15 minutes where the file says nothing. Above zero.
        transaction_timeout: Millis,
    },
    /// A log, at least once.
    Log {
        /// The log.
        log: String,
    },
    /// Effects outside the platform, from a ledger of stable ids.
    Outbox {
        /// The table of effects; `None`: the platform names it.
        table: Option<String>,
    },
    /// Parquet files on object storage.
    Parquet {
        /// The table whose files they are; `None`: named after the job.
        table: Option<String>,
    },
}

/// How often and how state is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// The processing time between two checkpoints, above zero.
    pub interval: Millis,
    /// How barriers pass queued elements.
    pub mode: CheckpointMode,
    /// How long alignment may take before the checkpoint turns unaligned; only with `Aligned`. Above zero.
    pub unaligned_after: Option<Millis>,
    /// How many failed checkpoints in a row are borne before one more fails the run; `None`: any number.
    pub tolerable_failures: Option<u32>,
}

/// How barriers pass queued elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointMode {
    /// Inputs wait for each other's barrier.
    Aligned,
    /// Barriers overtake what is queued, which is stored.
    Unaligned,
}
