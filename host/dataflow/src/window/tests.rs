//! Batches that fire more than an output holds are worked through in pieces, with the same panes.

use tidegate_connectors::SourceBatch;
use tidegate_types::{PartitionId, Value, Watermark};

use super::output::{PANES_BEFORE_PAUSE, WindowOutput, Work};
use crate::{Account, Job, JobHooks, JobOptions};

/// More windows of a record than an output holds panes.
const WINDOWS: i64 = 40_000;

fn job(window: &str, rules: &str) -> Job {
    let pipeline = format!(
        "job: wide\nversion: 1\nsource:\n  log: in\n  timestamp_field: at\n  watermark: {{strategy: ascending}}\n\
         key_by: []\nwindow: {{{window}}}\n{rules}aggregate: {{n: {{fn: count}}}}\nsink: {{type: log, log: out}}\n"
    );
    let pipeline = tidegate_pipeline::parse(&pipeline).expect("a sound pipeline").pipeline;
    let options = JobOptions {
        parallelism: 1,
        batch_rows: 1000,
        partitions: vec![Value::Int(0)],
        arrival_field: Some("seen".into()),
        wall_clock: None,
    };
    Job::new(&pipeline, JobHooks::default(), options).expect("a job without hooks")
}

/// One batch of these times, the last.
fn batch(times: &[i64]) -> SourceBatch {
    let mut batch = SourceBatch { done: true, ..SourceBatch::default() };
    let mut data = String::new();
    for (offset, time) in (0..).zip(times) {
        let start = u32::try_from(data.len()).expect("short");
        data.push_str(&format!("{{\"at\":{time}}}"));
        batch.spans.push((start, u32::try_from(data.len()).expect("short")));
        batch.partition.push(Some(PartitionId(0)));
        batch.offsets.push(offset);
    }
    batch.ended.push((u32::try_from(times.len()).expect("few"), PartitionId(0)));
    batch.data = data.into_bytes().into();
    batch
}

struct Ran {
    /// The ends of the panes' windows, their counts and watermarks, in order of output.
    panes: Vec<(i64, Value, Watermark)>,
    /// How many panes each piece has.
    pieces: Vec<usize>,
    account: Account,
}

fn run(mut job: Job, times: &[i64]) -> Ran {
    let input = job.source.process(batch(times), None).expect("no hook can fail");
    let mut ran = Ran { panes: Vec::new(), pieces: Vec::new(), account: input.account };
    let mut out = WindowOutput::default();
    let mut work = job.windows[0].process(&input.batch, None, &mut out).expect("no hook can fail");
    loop {
        let taken = std::mem::take(&mut out);
        ran.account += taken.account;
        ran.pieces.push(taken.panes.iter().map(|panes| panes.infos.len()).sum());
        for panes in taken.panes {
            for (row, info) in panes.infos.iter().enumerate() {
                let (_, end) = info.window.expect("sliding windows have bounds");
                ran.panes.push((end, panes.values[0].value(row).to_value(), info.watermark));
            }
        }
        match work {
            Work::Done => return ran,
            Work::Paused => work = job.windows[0].resume(&mut out).expect("no hook can fail"),
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
    let ran = run(job(&format!("type: sliding, size: {WINDOWS}ms, slide: 1ms"), ""), &[0, 2 * WINDOWS]);
    assert!(ran.panes == expected(), "{} panes", ran.panes.len());
    assert!(ran.pieces.len() >= 4, "{:?}", ran.pieces);
    assert!(ran.pieces.iter().all(|panes| *panes < 2 * PANES_BEFORE_PAUSE), "{:?}", ran.pieces);
    assert_eq!((ran.account.accepted, ran.account.panes_on_time), (2, 80_000));
}

#[test]
fn windows_kept_one_by_one_give_the_same_panes() {
    let window = format!("type: sliding, size: {WINDOWS}ms, slide: 1ms");
    let ran = run(job(&window, "trigger: {early: every 5 elements}\n"), &[0, 2 * WINDOWS]);
    assert!(ran.panes == expected(), "{} panes", ran.panes.len());
}

/// The late record's own panes come in pieces too, and the record after it is judged as ever.
#[test]
fn a_late_record_fires_more_windows_than_an_output_holds() {
    let window = format!("type: sliding, size: {WINDOWS}ms, slide: 1ms, allowed_lateness: 1d");
    let ran = run(job(&window, ""), &[0, 2 * WINDOWS, 0, 0, 2 * WINDOWS]);
    assert_eq!((ran.account.accepted, ran.account.too_late), (5, 0));
    assert_eq!((ran.account.panes_on_time, ran.account.panes_late), (80_000, 80_000));
    assert!(ran.pieces.len() >= 6, "{:?}", ran.pieces);
    let counts = |count| ran.panes.iter().filter(|(_, value, _)| *value == Value::Int(count)).count();
    assert_eq!((counts(1), counts(2), counts(3)), (40_000, 80_000, 40_000));
}
