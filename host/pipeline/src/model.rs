//! What a pipeline file says, as plain values with every default filled in.
//!
//! The engine, the planner and the API read a pipeline only through these types; `parse` is the only thing that makes
//! them from text. Invariant: a `Pipeline` that came from `parse` holds no contradiction of docs/pipeline-file.md, so
//! nothing downstream checks one again. Durations are milliseconds, never negative, at most 10,000 years each, so that
//! sums of a record's time and a few of them cannot overflow 64 bits.

pub use tidegate_types::Stamp;
use tidegate_types::{Field, Millis, Value};

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
    /// How often and how state is saved.
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
    /// Its name in the file, and its stable id; in the short form `window`, or the `uid` of a custom window's hook.
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

/// Aggregates rows by key and window.
#[derive(Debug, Clone, PartialEq)]
pub struct Windowed {
    /// The fields that make the key, in order; empty: every record has the same key.
    pub key_by: Vec<String>,
    /// How repeated records are recognised.
    pub dedup: Option<Dedup>,
    /// Which windows a record belongs to, and for how long they are kept.
    pub window: Window,
    /// When panes are emitted besides the one on time.
    pub trigger: Trigger,
    /// What a pane holds when a window fires more than once.
    pub accumulation: Accumulation,
    /// What is computed per key and window, in the order of the file; never empty.
    pub aggregates: Vec<Aggregate>,
    /// The log for records that came too late.
    pub late_side_output: Option<String>,
}

/// Joins two inputs by key.
#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    /// Which rows of a key meet.
    pub kind: JoinKind,
    /// What becomes of rows without a partner; always `Inner` for window joins.
    pub matching: Matching,
    /// The fields that make the left input's key.
    pub left_key: Vec<String>,
    /// The fields that make the right input's key; as many as the left's.
    pub right_key: Vec<String>,
    /// How long after a row's time (interval) or a window's end (window) late rows are taken.
    pub allowed_lateness: Millis,
    /// What a pair becomes.
    pub output: JoinOutput,
    /// The log for records that came too late.
    pub late_side_output: Option<String>,
}

/// Which rows of a key meet.
#[derive(Debug, Clone, PartialEq)]
pub enum JoinKind {
    /// Rows with `right.time` in `[left.time + lower, left.time + upper]`, ms, both inclusive; `lower <= upper`.
    Interval {
        /// The least distance, possibly negative.
        lower: i64,
        /// The greatest distance, possibly negative.
        upper: i64,
    },
    /// Rows in the same window: tumbling or sliding.
    Window(WindowKind),
}

/// What becomes of rows without a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// Nothing.
    Inner,
    /// Left ones come out with no right side.
    Left,
    /// Right ones come out with no left side.
    Right,
    /// Both do.
    Full,
}

/// A join's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JoinSide {
    /// The first.
    Left,
    /// The second.
    Right,
}

/// What a pair becomes.
#[derive(Debug, Clone, PartialEq)]
pub enum JoinOutput {
    /// Fields of the two rows, by their new names, in the order of the file; never empty.
    Select(Vec<Selected>),
    /// Rows that a map hook makes of pairs, whose fields are called `left.<name>` and `right.<name>`.
    Hook(Hook),
}

/// One field of a projection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// The output field.
    pub name: String,
    /// The row that it is taken from.
    pub side: JoinSide,
    /// The field of that row.
    pub field: String,
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
    /// The operator's stable id: as the file gives it, else `map`, `window` or `aggregate.<name>`.
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

/// How repeated records are recognised within one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dedup {
    /// The field that identifies a record.
    pub field: String,
    /// How long in event time an identity is remembered. Above zero, and at least the allowed lateness.
    pub horizon: Millis,
}

/// Which windows a record belongs to, and for how long they are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// The windows' shape.
    pub kind: WindowKind,
    /// How long after its end a window still takes records; zero for global windows.
    pub allowed_lateness: Millis,
}

/// The shape of windows.
#[derive(Debug, Clone, PartialEq)]
pub enum WindowKind {
    /// Windows of one size, side by side.
    Tumbling {
        /// The length, above zero.
        size: Millis,
        /// How far the grid is moved from the epoch, zero or more.
        offset: Millis,
    },
    /// Windows of one size that start every `slide`.
    Sliding {
        /// The length, above zero.
        size: Millis,
        /// The distance between starts, above zero and at most `size`.
        slide: Millis,
        /// How far the grid is moved from the epoch, zero or more.
        offset: Millis,
    },
    /// Windows that last while records of the key are less than `gap` apart.
    Session {
        /// The silence that ends a session, above zero.
        gap: Millis,
        /// The longest a session may last, at least `gap`; `None`: without bound.
        max_duration: Option<Millis>,
    },
    /// One window for all time.
    Global,
    /// What the tenant's window hook says.
    Custom {
        /// The hook.
        hook: Hook,
    },
}

/// When panes are emitted besides the one on time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trigger {
    /// While the watermark has not reached the window's end; never `None` for global windows.
    pub early: Early,
    /// From the window's end until its purge; `None` for global windows.
    pub late: Late,
}

/// When early panes are emitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Early {
    /// Never.
    None,
    /// At every multiple of this processing time, for windows with new records. Above zero.
    EveryProcessingTime(Millis),
    /// When this many records are unshown. Above zero.
    EveryElements(u64),
}

/// When late panes are emitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    /// At once for each accumulated record.
    EveryElement,
    /// At every multiple of this processing time, for windows with new records, and once at the purge. Above zero.
    EveryProcessingTime(Millis),
    /// Never: late records are accumulated and not shown.
    None,
}

/// What a pane holds when its window fires more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accumulation {
    /// The records since the last pane.
    Discarding,
    /// All records of the window so far.
    Accumulating,
    /// All records of the window so far, after a retraction of the pane before.
    AccumulatingAndRetracting,
}

/// One entry of `aggregate`.
#[derive(Debug, Clone, PartialEq)]
pub enum Aggregate {
    /// A built-in function.
    Builtin {
        /// The name of the output field.
        name: String,
        /// What is computed.
        function: Function,
        /// The input field; `None` only for a `count` of rows.
        field: Option<String>,
        /// Which records are looked at; `None`: all.
        condition: Option<Condition>,
    },
    /// A tenant's aggregate hook; its output fields stand beside the others.
    Hook {
        /// The entry's name, which is no output field.
        name: String,
        /// The hook.
        hook: Hook,
    },
}

impl Aggregate {
    /// The entry's name in the file.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Builtin { name, .. } | Self::Hook { name, .. } => name,
        }
    }
}

/// The built-in functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// How many values are present, or how many rows there are.
    Count,
    /// The sum of numbers.
    Sum,
    /// The smallest number or text.
    Min,
    /// The largest number or text.
    Max,
    /// The mean of numbers, a float.
    Avg,
    /// The value of the earliest record.
    First,
    /// The value of the latest record.
    Last,
    /// How many different values there are, exactly.
    CountDistinct,
    /// How many different values there are, with 1.6% standard error.
    ApproxCountDistinct,
    /// The most frequent values.
    TopK {
        /// How many of them, above zero.
        k: u32,
    },
}

/// `where`: the records whose `field` has exactly this type and value.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The field that is looked at.
    pub field: String,
    /// What it must equal; never null. Objects and arrays are `Value::Json` canonical text.
    pub equals: Value,
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
}

/// How barriers pass queued elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointMode {
    /// Inputs wait for each other's barrier.
    Aligned,
    /// Barriers overtake what is queued, which is stored.
    Unaligned,
}
