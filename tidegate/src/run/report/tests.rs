//! The report's form. What is in it is tested where it is made (host/windows) and over whole runs (tests/e2e).

use tidegate_dataflow::Account;
use tidegate_pipeline::{Strategy, WatermarkSpec};
use tidegate_windows::{ClockStart, SourceWatermarks};

use super::*;

const PIPELINE: &str = "
job: j
version: 3
source: {log: in, timestamp_field: t, watermark: {strategy: ascending}}
key_by: []
window: {type: tumbling, size: 1m}
aggregate: {n: {fn: count}}
sink: {type: log, log: out}
";

fn source() -> SourceReport {
    let strategy = Strategy::BoundedOutOfOrderness { max_delay: Millis(5) };
    let spec = WatermarkSpec { strategy, idle_partition_timeout: None, max_drift: None };
    let mut watermarks = SourceWatermarks::new(&spec, 2, ClockStart::Assignment(20_000));
    for (id, time) in [(0, 10_000), (0, 9_990), (1, 7_000)] {
        watermarks.record(PartitionId(id), time, None);
    }
    watermarks.end([PartitionId(0), PartitionId(1)]);
    watermarks.end_all();
    let partitions = vec![Value::Text("EWR".into()), Value::Int(7)];
    SourceReport { source: "source".into(), partitions, watermarks: watermarks.report() }
}

#[test]
fn a_report_says_what_held_the_watermark_back_before_the_end() {
    let standing = |watermark| OperatorStanding { watermark, clock: 20_000 };
    let operator = OperatorReport {
        operator: "window".into(),
        subtask: 0,
        now: standing(Watermark::MAX),
        before_end: Some(standing(Watermark::at(6_995))),
        state: StateSize::default(),
        peak: StateSize { keys: 1, windows: 2, accumulator_bytes: 16, bytes: 100, ..StateSize::default() },
    };
    let run = RunReport { account: Account::default(), sources: vec![source()], operators: vec![operator] };
    let pipeline = tidegate_pipeline::parse(PIPELINE).unwrap().pipeline;
    let line = Report::of(&pipeline, &run).line();
    assert!(line.ends_with("}\n") && line.lines().count() == 1, "{line}");
    let report: Json = serde_json::from_str(&line).unwrap();

    let before = serde_json::json!({
        "watermark": "1970-01-01T00:00:06.995Z", "clock": "1970-01-01T00:00:20Z", "lag_ms": 13_005,
        "held_back_by": {"source": "source", "partition": 7, "watermark": "1970-01-01T00:00:06.995Z"},
    });
    assert_eq!((&report["source"]["before_end"], &report["operators"][0]["before_end"]), (&before, &before));
    assert_eq!((&report["source"]["watermark"], &report["source"]["lag_ms"]), (&Json::Null, &Json::Null));
    let partition = serde_json::json!({
        "partition": "EWR", "state": "ended", "held_by": [],
        "watermark": "1970-01-01T00:00:09.995Z", "newest": "1970-01-01T00:00:10Z", "records": 2,
        "lateness_ms": {"p50": 0, "p90": 10, "p99": 10, "p999": 10, "max": 10}, "max_delay_for_999": "10ms",
        "histogram": [{"from_ms": 0, "to_ms": 0, "records": 1}, {"from_ms": 10, "to_ms": 10, "records": 1}],
    });
    assert_eq!(report["source"]["partitions"][0], partition);
    assert_eq!((&report["source"]["records"], &report["source"]["lateness_ms"]["p50"]), (&3.into(), &0.into()));
    assert_eq!((&report["job"], &report["version"]), (&"j".into(), &3.into()));
}

#[test]
fn a_suggested_delay_is_rounded_up_to_what_one_would_write() {
    let written = |ms| as_max_delay(Millis(ms)).to_string();
    assert_eq!([0, 7, 999, 1_000, 1_001].map(written), ["0ms", "7ms", "999ms", "1s", "2s"]);
    assert_eq!([599_001, 600_000, 600_001, 3_540_001].map(written), ["10m", "10m", "11m", "1h"]);
    assert_eq!([36_000_001, 86_400_000].map(written), ["11h", "1d"]);
}
