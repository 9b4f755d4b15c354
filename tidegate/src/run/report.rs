//! The report of `--report`: one JSON object on one line, written when the run has come to its end (docs/watermarks.md).
//!
//! Times are RFC 3339 and durations integers in milliseconds; null stands for both infinities of a watermark and for what
//! is not known. Everything but `peak` is the same for every batch size and parallelism under a virtual clock.

use serde::Serialize;
use serde_json::Value as Json;
use tidegate_dataflow::{OperatorReport, OperatorStanding, SourceReport, StateSize};
use tidegate_formats::{format_time, write_value};
use tidegate_pipeline::{Form, Pipeline};
use tidegate_types::batch::index;
use tidegate_types::{EventTime, Millis, NO_CLOCK, PartitionId, Value, Watermark};
use tidegate_windows::{HeldBy, LatenessBucket, LatenessHistogram, PartitionReport, PartitionState, Standing};
use tidegate_worker::RunReport;

use super::summary::Summary;

/// All of it.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    job: String,
    version: u64,
    account: Summary,
    /// In the short form.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<SourceShown>,
    /// In the long form.
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<Vec<SourceShown>>,
    operators: Vec<OperatorShown>,
}

#[derive(Debug, Serialize)]
struct SourceShown {
    id: String,
    #[serde(flatten)]
    now: StandingShown,
    before_end: Option<StandingShown>,
    #[serde(flatten)]
    lateness: LatenessShown,
    partitions: Vec<PartitionShown>,
}

#[derive(Debug, Serialize)]
struct OperatorShown {
    id: String,
    subtask: u32,
    #[serde(flatten)]
    now: StandingShown,
    before_end: Option<StandingShown>,
    state: StateShown,
    peak: StateShown,
}

/// Where a source or an operator stands.
#[derive(Debug, Serialize)]
struct StandingShown {
    watermark: Option<String>,
    clock: Option<String>,
    lag_ms: Option<i64>,
    held_back_by: Option<Slowest>,
}

/// The active partition with the least watermark.
#[derive(Debug, Clone, Serialize)]
struct Slowest {
    source: String,
    partition: Json,
    watermark: Option<String>,
}

#[derive(Debug, Serialize)]
struct PartitionShown {
    partition: Json,
    state: &'static str,
    held_by: Vec<&'static str>,
    watermark: Option<String>,
    newest: Option<String>,
    #[serde(flatten)]
    lateness: LatenessShown,
    histogram: Vec<BucketShown>,
}

/// How late records were.
#[derive(Debug, Serialize)]
struct LatenessShown {
    records: u64,
    lateness_ms: Quantiles,
    max_delay_for_999: String,
}

#[derive(Debug, Serialize)]
struct Quantiles {
    p50: i64,
    p90: i64,
    p99: i64,
    p999: i64,
    max: i64,
}

#[derive(Debug, Serialize)]
struct BucketShown {
    from_ms: i64,
    to_ms: i64,
    records: u64,
}

#[derive(Debug, Serialize)]
struct StateShown {
    keys: usize,
    windows: usize,
    identities: usize,
    accumulator_bytes: u64,
    #[serde(skip_serializing_if = "is_none")]
    join_rows: usize,
    #[serde(skip_serializing_if = "is_none")]
    entries: usize,
    bytes: u64,
}

/// Whether there is nothing to show.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

impl Report {
    /// What a run of this pipeline showed of itself.
    pub(super) fn of(pipeline: &Pipeline, report: &RunReport) -> Self {
        let mut sources: Vec<SourceShown> = report.sources.iter().map(SourceShown::of).collect();
        // The source that was behind the others held everything back.
        let behind = report.sources.iter().zip(&sources).filter_map(|(source, shown)| {
            let before = source.watermarks.before_end.as_ref()?;
            Some((before.watermark, shown.before_end.as_ref()?.held_back_by.clone()))
        });
        let held_back_by = behind.min_by_key(|(watermark, _)| *watermark).and_then(|(_, slowest)| slowest);
        let operator = |operator| OperatorShown::of(operator, held_back_by.as_ref());
        let short = pipeline.form == Form::Short;
        Self {
            job: pipeline.job.clone(),
            version: pipeline.version,
            account: Summary::of(&report.account, pipeline.form),
            operators: report.operators.iter().map(operator).collect(),
            source: short.then(|| sources.remove(0)),
            sources: (!short).then_some(sources),
        }
    }

    /// The line, with its line feed.
    pub(super) fn line(&self) -> String {
        let line = serde_json::to_string(self).expect("texts and numbers are JSON");
        line + "\n"
    }
}

impl SourceShown {
    fn of(report: &SourceReport) -> Self {
        let partitions = report.watermarks.partitions.iter();
        Self {
            id: report.source.to_string(),
            now: StandingShown::of_source(report, &report.watermarks.now),
            before_end: report.watermarks.before_end.map(|standing| StandingShown::of_source(report, &standing)),
            lateness: LatenessShown::of(&report.watermarks.lateness()),
            partitions: partitions.map(|partition| PartitionShown::of(report, partition)).collect(),
        }
    }
}

impl OperatorShown {
    /// `held_back_by`: what held its input back before the end.
    fn of(report: &OperatorReport, held_back_by: Option<&Slowest>) -> Self {
        Self {
            id: report.operator.to_string(),
            subtask: report.subtask,
            now: StandingShown::of_operator(report.now, None),
            before_end: report.before_end.map(|before| StandingShown::of_operator(before, held_back_by.cloned())),
            state: report.state.into(),
            peak: report.peak.into(),
        }
    }
}

impl StandingShown {
    fn of_source(report: &SourceReport, standing: &Standing) -> Self {
        let slowest = |(id, watermark)| Slowest {
            source: report.source.to_string(),
            partition: name(report, id),
            watermark: shown(watermark),
        };
        Self {
            watermark: shown(standing.watermark),
            clock: clock(standing.clock),
            lag_ms: standing.lag(),
            held_back_by: standing.slowest.map(slowest),
        }
    }

    fn of_operator(standing: OperatorStanding, held_back_by: Option<Slowest>) -> Self {
        Self {
            watermark: shown(standing.watermark),
            clock: clock(standing.clock),
            lag_ms: standing.lag(),
            held_back_by,
        }
    }
}

impl PartitionShown {
    fn of(source: &SourceReport, partition: &PartitionReport) -> Self {
        Self {
            partition: name(source, partition.id),
            state: match partition.state {
                PartitionState::Active => "active",
                PartitionState::Idle => "idle",
                PartitionState::Ended => "ended",
            },
            held_by: partition.held_by.iter().map(|by| reason(*by)).collect(),
            watermark: shown(partition.watermark),
            newest: partition.newest.map(format_time),
            lateness: LatenessShown::of(&partition.lateness),
            histogram: partition.lateness.buckets().map(BucketShown::from).collect(),
        }
    }
}

impl LatenessShown {
    fn of(histogram: &LatenessHistogram) -> Self {
        let summary = histogram.summary();
        Self {
            records: histogram.count(),
            lateness_ms: Quantiles {
                p50: summary.p50.0,
                p90: summary.p90.0,
                p99: summary.p99.0,
                p999: summary.p999.0,
                max: summary.max.0,
            },
            max_delay_for_999: as_max_delay(histogram.max_delay_for_999()).to_string(),
        }
    }
}

impl From<LatenessBucket> for BucketShown {
    fn from(bucket: LatenessBucket) -> Self {
        Self { from_ms: bucket.from.0, to_ms: bucket.to.0, records: bucket.records }
    }
}

impl From<StateSize> for StateShown {
    fn from(state: StateSize) -> Self {
        let StateSize { keys, windows, identities, accumulator_bytes, join_rows, entries, bytes, .. } = state;
        Self { keys, windows, identities, accumulator_bytes, join_rows, entries, bytes }
    }
}

fn reason(by: HeldBy) -> &'static str {
    match by {
        HeldBy::Backpressure => "backpressure",
        HeldBy::Drift => "drift",
        HeldBy::Pause => "pause",
    }
}

/// A partition's name as JSON.
fn name(report: &SourceReport, id: PartitionId) -> Json {
    let name = report.partitions.get(index(id.0)).unwrap_or(&Value::Null);
    let mut json = Vec::new();
    write_value(&mut json, name.as_ref());
    serde_json::from_slice(&json).unwrap_or(Json::Null)
}

fn shown(watermark: Watermark) -> Option<String> {
    watermark.finite().map(format_time)
}

fn clock(clock: EventTime) -> Option<String> {
    (clock != NO_CLOCK).then(|| format_time(clock))
}

/// A delay as one would write it into a pipeline file: rounded up to whole seconds, from ten minutes on to whole minutes,
/// from ten hours on to whole hours.
pub(crate) fn as_max_delay(delay: Millis) -> Millis {
    let unit = match delay.0 {
        ..1_000 => 1,
        1_000..600_000 => 1_000,
        600_000..36_000_000 => 60_000,
        _ => 3_600_000,
    };
    let beyond = delay.0 % unit;
    if beyond == 0 { delay } else { Millis(delay.0.saturating_add(unit - beyond)) }
}

#[cfg(test)]
mod tests;
