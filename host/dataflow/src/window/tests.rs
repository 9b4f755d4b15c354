//! Batches that fire more than an output holds are worked through in pieces, with the same panes; windows that share panes
//! give the panes of windows kept one by one.

use std::sync::Arc;

use proptest::prelude::*;
use tidegate_connectors::SourceBatch;
use tidegate_types::{PaneInfo, PartitionId, Value, Watermark};

use crate::operator::{OperatorOutput, RECORDS_BEFORE_PAUSE, Work};
use crate::{Account, Job, JobHooks, JobOptions, SourcePartition};

pub(in crate::window) mod bench;
mod order;
mod stored;
mod undo;

/// More windows of a record than an output holds panes.
const WINDOWS: i64 = 40_000;

fn job(window: &str, rules: &str) -> Job {
    let pipeline = format!(
        "job: wide\nversion: 1\nsource:\n  log: in\n  timestamp_field: at\n  watermark: {{strategy: ascending}}\n\
         key_by: []\nwindow: {{{window}}}\n{rules}aggregate: {{n: {{fn: count}}, v: sum, top: {{fn: top_k, field: v, k: 2}}}}\nsink: {{type: log, log: out}}\n"
    );
    let pipeline = tidegate_pipeline::parse(&pipeline).expect("a sound pipeline").pipeline;
    let options = JobOptions {
        parallelism: 1,
        batch_rows: 1000,
        partitions: SourcePartition::of_one_source(&[Value::Int(0)]),
        arrival_field: Some("seen".into()),
        wall_clock: None,
    };
    Job::new(&pipeline, JobHooks::default(), options).expect("a job without hooks")
}

/// One batch of records of these times and values, the last.
fn batch(records: &[(i64, Option<i64>)]) -> SourceBatch {
    let mut batch = SourceBatch { done: true, ..SourceBatch::default() };
    let mut data = String::new();
    for (offset, (time, value)) in (0..).zip(records) {
        let start = u32::try_from(data.len()).expect("short");
        let value = value.map_or_else(String::new, |value| format!(",\"v\":{value}"));
        data.push_str(&format!("{{\"at\":{time}{value}}}"));
        batch.spans.push((start, u32::try_from(data.len()).expect("short")));
        batch.partition.push(Some(PartitionId(0)));
        batch.offsets.push(offset);
    }
    batch.ended.push((u32::try_from(records.len()).expect("few"), PartitionId(0)));
    batch.data = data.into_bytes().into();
    batch
}

struct Ran {
    /// The panes with their values, in order of output.
    panes: Vec<(PaneInfo, Vec<Value>)>,
    /// How many panes each piece has.
    pieces: Vec<usize>,
    account: Account,
}

impl Ran {
    /// The ends of the panes' windows, their counts and watermarks.
    fn counts(&self) -> Vec<(i64, Value, Watermark)> {
        let end = |info: &PaneInfo| info.window.expect("sliding windows have bounds").1;
        self.panes.iter().map(|(info, values)| (end(info), values[0].clone(), info.watermark)).collect()
    }
}

fn at(times: &[i64]) -> Vec<(i64, Option<i64>)> {
    times.iter().map(|time| (*time, None)).collect()
}

fn run(job: Job, records: &[(i64, Option<i64>)]) -> Ran {
    let mut job = job.into_steps();
    let mut input = job.read(batch(records), None).expect("no hook can fail");
    let mut ran = Ran { panes: Vec::new(), pieces: Vec::new(), account: input.account };
    let mut out = OperatorOutput::default();
    let batch = input.batches.remove(0);
    let progress = Arc::clone(&batch.progress);
    let mut work = job.operators[0].process(vec![batch], &progress, None, &mut out).expect("no hook can fail");
    loop {
        let taken = std::mem::take(&mut out);
        ran.account += taken.account;
        ran.pieces.push(taken.panes.iter().map(|panes| panes.infos.len()).sum());
        for panes in taken.panes {
            for (row, info) in panes.infos.iter().enumerate() {
                ran.panes.push((*info, panes.values.iter().map(|column| column.value(row).to_value()).collect()));
            }
        }
        match work {
            Work::Done => return ran,
            Work::Paused => work = job.operators[0].resume(&mut out).expect("no hook can fail"),
        }
    }
}

/// The panes of windows of one record each: of one at 0, then of one at twice the size.
fn expected() -> Vec<(i64, Value, Watermark)> {
    let second = 2 * WINDOWS;
    let windows = |from: i64, watermark| (1..=WINDOWS).map(move |end| (from + end, Value::Int(1), watermark));
    windows(0, Watermark::at(second)).chain(windows(second, Watermark::MAX)).collect()
}

#[test]
fn windows_that_share_panes_fire_in_pieces() {
    let ran = run(job(&format!("type: sliding, size: {WINDOWS}ms, slide: 1ms"), ""), &at(&[0, 2 * WINDOWS]));
    assert!(ran.counts() == expected(), "{} panes", ran.panes.len());
    assert!(ran.pieces.len() >= 4, "{:?}", ran.pieces);
    assert!(ran.pieces.iter().all(|panes| *panes < 2 * RECORDS_BEFORE_PAUSE), "{:?}", ran.pieces);
    assert_eq!((ran.account.accepted, ran.account.panes_on_time), (2, 80_000));
}

#[test]
fn windows_kept_one_by_one_give_the_same_panes() {
    let window = format!("type: sliding, size: {WINDOWS}ms, slide: 1ms");
    let ran = run(job(&window, "trigger: {early: every 5 elements}\n"), &at(&[0, 2 * WINDOWS]));
    assert!(ran.counts() == expected(), "{} panes", ran.panes.len());
}

/// The late record's own panes come in pieces too, and the record after it is judged as ever.
#[test]
fn a_late_record_fires_more_windows_than_an_output_holds() {
    let window = format!("type: sliding, size: {WINDOWS}ms, slide: 1ms, allowed_lateness: 1d");
    let ran = run(job(&window, ""), &at(&[0, 2 * WINDOWS, 0, 0, 2 * WINDOWS]));
    assert_eq!((ran.account.accepted, ran.account.too_late), (5, 0));
    assert_eq!((ran.account.panes_on_time, ran.account.panes_late), (80_000, 80_000));
    assert!(ran.pieces.len() >= 6, "{:?}", ran.pieces);
    let counts = |count| ran.panes.iter().filter(|(_, values)| values[0] == Value::Int(count)).count();
    assert_eq!((counts(1), counts(2), counts(3)), (40_000, 80_000, 40_000));
}

/// Late records of a window that fired and was emptied count from 0 again, and are held to 64 bits although nobody sees them.
#[test]
fn a_sum_over_late_records_that_no_pane_shows_is_held_to_64_bits() {
    let window = "type: sliding, size: 21ms, slide: 3ms, offset: 4ms, allowed_lateness: 10ms";
    let rules = "trigger: {late: none}\naccumulation: discarding\n";
    let ran = run(job(window, rules), &[(2, Some(i64::MAX)), (-20, Some(i64::MAX)), (-26, Some(1))]);
    assert_eq!((ran.account.accepted, ran.account.rejected), (2, 1));
}

fn values() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![
        3 => (-2i64..3).prop_map(Some),
        1 => prop::sample::select(vec![i64::MAX, i64::MIN, i64::MAX / 2, -1 << 62]).prop_map(Some),
        1 => Just(None),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Late records, records that are too late, sums that overflow, retractions; up to 1,200 windows of a record.
    #[test]
    fn sharing_panes_changes_no_pane(
        windows in prop::sample::select(vec![2i64, 3, 7, 40, 300, 1_200]),
        slide in 1i64..6,
        less in 0i64..5,
        offset in 0i64..9,
        lateness in 0i64..3,
        late in prop::sample::select(vec!["every_element", "none"]),
        accumulation in prop::sample::select(vec!["accumulating", "discarding", "accumulating_and_retracting"]),
        steps in prop::collection::vec((-30i64..50, values()), 1..12),
    ) {
        let size = (windows * slide - less.min(slide - 1)).max(slide + 1);
        let mut time = 0;
        let records: Vec<(i64, Option<i64>)> = steps.into_iter().map(|(step, value)| {
            time += step * size / 20;
            (time, value)
        }).collect();
        let window = format!(
            "type: sliding, size: {size}ms, slide: {slide}ms, offset: {offset}ms, allowed_lateness: {}ms", lateness * size / 2
        );
        let rules = |early: &str| format!("trigger: {{late: {late}{early}}}\naccumulation: {accumulation}\n");
        let shared = run(job(&window, &rules("")), &records);
        let apart = run(job(&window, &rules(", early: every 1000 elements")), &records);
        prop_assert_eq!(shared.account, apart.account);
        prop_assert_eq!(shared.panes, apart.panes);
    }
}
