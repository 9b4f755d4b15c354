//! A job as the API shows it. Every field is always there; what is not known is null.
//!
//! The types take the coordinator's view apart field by field, so a field that is added there does not compile here until
//! somebody has decided what the API says of it.

use serde::Serialize;
use tidegate_coordinator::{
    JobState, JobStreams, JobView, Lag, NamedResult, NamedStream, ResolvedComponent, RunAccount, RunPanes,
};
use utoipa::ToSchema;

use super::checkpoints::CheckpointsDocument;

/// A job.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Job)]
pub(crate) struct JobDocument {
    /// Its name, unique within the tenant.
    name: String,
    /// The pipeline's version.
    version: u64,
    /// Where it is in its life.
    state: State,
    /// Why it failed, or why it is about to be restarted.
    reason: Option<String>,
    /// Tasks that share the work of the windows; null until it ran in this process.
    parallelism: Option<u32>,
    /// Restarts in a row after faults of the platform.
    restarts: u32,
    /// When this version was submitted, ms since the epoch.
    submitted_at: i64,
    /// Who submitted it.
    submitted_by: String,
    /// When it last started, ms since the epoch.
    started_at: Option<i64>,
    /// When it ended for good, ms since the epoch.
    ended_at: Option<i64>,
    /// When its newest checkpoint was complete, ms since the epoch: where a restart goes on. Null before the first.
    last_checkpoint: Option<i64>,
    /// How the checkpoints of its present (or last) run fare; null until it ran.
    checkpoints: Option<CheckpointsDocument>,
    /// How far it is behind its inputs; null until it ran.
    lag: Option<LagDocument>,
    /// The sources' watermark (of several the least), ms since the epoch; null before the first claim and after the end of the input.
    watermark: Option<i64>,
    /// How far the watermark trails the clock, ms.
    watermark_lag_ms: Option<i64>,
    /// What became of the records that this version of the job has read, over all its runs: it is restored with the state.
    /// Null until it ran.
    account: Option<Account>,
    /// The streams that it reads and writes; of several of a kind the first.
    streams: Streams,
    /// The table that it writes; of several the first.
    table: Option<String>,
    /// Every source of the pipeline, in its order.
    sources: Vec<SourceDocument>,
    /// Every sink of the pipeline, in its order.
    sinks: Vec<SinkDocument>,
    /// The operators that have a stream for what was too late, in the pipeline's order.
    late_outputs: Vec<LateOutput>,
    /// The components that it runs.
    components: Vec<Component>,
    /// What the job promises across failures, a sentence each: sources, state, sinks, side outputs, and what is excluded.
    guarantee: Vec<String>,
    /// Remarks about the pipeline that refuse nothing.
    warnings: Vec<String>,
}

/// Where a job is in its life.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = JobState)]
pub(crate) enum State {
    /// Accepted, and about to run.
    Submitted,
    /// Its tasks run.
    Running,
    /// Its input has ended and everything has fired.
    Finished,
    /// It cannot go on; `reason` says why.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
}

/// How far a job is behind its input.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Lag)]
pub(crate) struct LagDocument {
    /// Records appended and not read, over all partitions.
    records: u64,
    /// How long the oldest of these has waited since it was appended, ms; 0 if there is none.
    age_ms: i64,
}

/// What became of records: `read + expanded + forwarded = accepted + filtered + too_late + duplicate + rejected`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Account {
    /// Records read from the sources.
    read: u64,
    /// Rows that map hooks added.
    expanded: u64,
    /// Rows that operators handed to others; null if the pipeline has the short form, and so one operator.
    forwarded: Option<u64>,
    /// Rows that an operator took: accumulated into a window, joined, processed, or written to a sink.
    accepted: u64,
    /// Records that a map hook dropped on purpose.
    filtered: u64,
    /// Rows all of whose windows were gone.
    too_late: u64,
    /// Rows whose identity was accepted before.
    duplicate: u64,
    /// Records and rows in the dead-letter output.
    rejected: u64,
    /// Accepted rows some of whose windows were gone.
    partly_late: u64,
    /// Accepted rows that no pane showed.
    unshown: u64,
    /// Panes by timing; retractions are not among them.
    panes: Panes,
    /// Retractions of panes.
    retractions: u64,
    /// Rows that are no panes, written to sinks; null if the pipeline has the short form.
    emitted: Option<u64>,
}

/// Panes by timing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) struct Panes {
    /// Early panes.
    early: u64,
    /// On-time panes.
    on_time: u64,
    /// Late panes.
    late: u64,
}

/// The streams that a job reads and writes; of several of a kind the first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobStreams)]
pub(crate) struct Streams {
    /// The input.
    input: String,
    /// Its results, where a sink is a stream.
    panes: Option<String>,
    /// Records that came too late; null: they are counted only.
    too_late: Option<String>,
    /// Rejected records.
    dead_letters: String,
}

/// A source of a job.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobSource)]
pub(crate) struct SourceDocument {
    /// What the pipeline calls it; `source` in the short form.
    name: String,
    /// The stream that it reads.
    stream: String,
    /// How far it is behind; null until the job ran.
    lag: Option<LagDocument>,
}

/// A sink of a job.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobSink)]
pub(crate) struct SinkDocument {
    /// What the pipeline calls it; `sink` in the short form.
    name: String,
    /// The stream that it writes; null if it writes a table.
    stream: Option<String>,
    /// The table that it writes; null if it writes a stream.
    table: Option<String>,
}

/// Where an operator's too-late records go.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobLateOutput)]
pub(crate) struct LateOutput {
    /// What the pipeline calls the operator; `window` in the short form.
    operator: String,
    /// The stream.
    stream: String,
}

/// A component that a job runs, with the version and bytes that it had at submission.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Component {
    /// Where the pipeline names it: `map`, `window`, `aggregate.<name>`.
    path: String,
    /// The artifact's name.
    name: String,
    /// The artifact's version.
    version: String,
    /// The SHA-256 of the component's bytes, hex.
    digest: String,
}

impl From<JobView> for JobDocument {
    fn from(view: JobView) -> Self {
        let JobView {
            tenant: _, // the caller's own
            name,
            version,
            state,
            reason,
            parallelism,
            restarts,
            submitted_at,
            submitted_by,
            started_at,
            ended_at,
            last_checkpoint,
            checkpoints,
            lag,
            source_lags,
            watermark,
            watermark_lag_ms,
            account,
            streams,
            table,
            components,
            guarantee,
            warnings,
        } = view;
        let JobStreams { inputs, results, too_late, dead_letters } = streams;
        let streams = Streams {
            input: inputs.first().map(|input| input.stream.clone()).unwrap_or_default(),
            panes: results.iter().find_map(|result| result.stream.clone()),
            too_late: too_late.first().map(|output| output.stream.clone()),
            dead_letters,
        };
        let lags = source_lags.into_iter().map(Some).chain(std::iter::repeat(None));
        Self {
            name,
            version,
            state: state.into(),
            reason,
            parallelism,
            restarts,
            submitted_at,
            submitted_by,
            started_at,
            ended_at,
            last_checkpoint,
            checkpoints: checkpoints.map(Into::into),
            lag: lag.map(Into::into),
            watermark,
            watermark_lag_ms,
            account: account.map(Into::into),
            streams,
            table,
            sources: inputs.into_iter().zip(lags).map(Into::into).collect(),
            sinks: results.into_iter().map(Into::into).collect(),
            late_outputs: too_late.into_iter().map(Into::into).collect(),
            components: components.into_iter().map(Into::into).collect(),
            guarantee,
            warnings,
        }
    }
}

impl From<JobState> for State {
    fn from(state: JobState) -> Self {
        match state {
            JobState::Submitted => Self::Submitted,
            JobState::Running => Self::Running,
            JobState::Finished => Self::Finished,
            JobState::Failed => Self::Failed,
            JobState::Cancelled => Self::Cancelled,
        }
    }
}

impl From<Lag> for LagDocument {
    fn from(lag: Lag) -> Self {
        let Lag { records, age_ms } = lag;
        Self { records, age_ms }
    }
}

impl From<RunAccount> for Account {
    fn from(account: RunAccount) -> Self {
        let RunAccount {
            read,
            expanded,
            forwarded,
            accepted,
            filtered,
            too_late,
            duplicate,
            rejected,
            partly_late,
            unshown,
            panes: RunPanes { early, on_time, late },
            retractions,
            emitted,
        } = account;
        Self {
            read,
            expanded,
            forwarded,
            accepted,
            filtered,
            too_late,
            duplicate,
            rejected,
            partly_late,
            unshown,
            panes: Panes { early, on_time, late },
            retractions,
            emitted,
        }
    }
}

impl From<(NamedStream, Option<Lag>)> for SourceDocument {
    fn from((source, lag): (NamedStream, Option<Lag>)) -> Self {
        let NamedStream { name, stream } = source;
        Self { name, stream, lag: lag.map(Into::into) }
    }
}

impl From<NamedResult> for SinkDocument {
    fn from(result: NamedResult) -> Self {
        let NamedResult { name, stream, table } = result;
        Self { name, stream, table }
    }
}

impl From<NamedStream> for LateOutput {
    fn from(output: NamedStream) -> Self {
        let NamedStream { name: operator, stream } = output;
        Self { operator, stream }
    }
}

impl From<ResolvedComponent> for Component {
    fn from(component: ResolvedComponent) -> Self {
        let ResolvedComponent { path, name, version, digest } = component;
        Self { path, name, version, digest }
    }
}
