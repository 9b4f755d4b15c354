//! Rows a second through a whole job in one thread, from JSON bytes to panes: each type of window, each accumulation, and
//! sliding windows that share panes against tumbling ones. `cargo bench -p tidegate-bench --bench windows`.
//!
//! The table goes into docs/benchmarks.md. Panes are made and dropped; nothing is written.

use std::sync::Arc;

use bytes::Bytes;
use tidegate_bench::seconds;
use tidegate_connectors::SourceBatch;
use tidegate_dataflow::{Job, JobHooks, JobOptions, OperatorOutput, SourcePartition, Work};
use tidegate_types::{PartitionId, Value};

/// Rows of a source batch.
const BATCH_ROWS: usize = 1024;
/// Events a second of event time.
const EVENTS_PER_SECOND: usize = 1_000;
/// How far events are out of order, ms.
const DISORDER: usize = 30_000;
/// A case is run so often; the fastest run counts.
const RUNS: usize = 3;

struct Case {
    name: &'static str,
    keys: usize,
    events: usize,
    /// The window, trigger and accumulation of the pipeline.
    rules: &'static str,
}

const CASES: [Case; 13] = [
    case("tumbling 1 min, on time", 1_000, "window: {type: tumbling, size: 1m}"),
    case(
        "tumbling 1 min, discarding",
        1_000,
        "window: {type: tumbling, size: 1m, allowed_lateness: 10m}\naccumulation: discarding\ntrigger: {early: every 10s processing_time}",
    ),
    case(
        "tumbling 1 min, accumulating",
        1_000,
        "window: {type: tumbling, size: 1m, allowed_lateness: 10m}\naccumulation: accumulating\ntrigger: {early: every 10s processing_time}",
    ),
    case(
        "tumbling 1 min, retracting",
        1_000,
        "window: {type: tumbling, size: 1m, allowed_lateness: 10m}\naccumulation: accumulating_and_retracting\ntrigger: {early: every 10s processing_time}",
    ),
    case(
        "tumbling 1 min, early every 10 elements",
        1_000,
        "window: {type: tumbling, size: 1m}\ntrigger: {early: every 10 elements}",
    ),
    case("session 30 s gap", 10_000, "window: {type: session, gap: 30s}"),
    case("session 30 s gap, at most 2 min", 10_000, "window: {type: session, gap: 30s, max_duration: 2m}"),
    case("global, every 100 elements", 1_000, "window: {type: global}\ntrigger: {early: every 100 elements}"),
    case("tumbling 10 min, on time", 100, "window: {type: tumbling, size: 10m}"),
    case("sliding 1 min / 10 s, shared", 1_000, "window: {type: sliding, size: 1m, slide: 10s}"),
    case("sliding 10 min / 1 s, shared, 100 keys", 100, "window: {type: sliding, size: 10m, slide: 1s}"),
    case("sliding 10 min / 1 s, shared, 10 keys", 10, "window: {type: sliding, size: 10m, slide: 1s}"),
    Case {
        name: "sliding 10 min / 1 s, one by one, 10 keys",
        keys: 10,
        events: 20_000,
        rules: "window: {type: sliding, size: 10m, slide: 1s}\ntrigger: {early: every 1000000 elements}",
    },
];

const fn case(name: &'static str, keys: usize, rules: &'static str) -> Case {
    Case { name, keys, events: 1_000_000, rules }
}

fn main() {
    println!(
        "| windows | keys | events | panes | ns an event | million events a second | of that, decoding and keys |"
    );
    println!("|---|---|---|---|---|---|---|");
    for case in &CASES {
        let input = input(case);
        let runs = (0..RUNS).map(|_| run(case, &input));
        let fastest = runs.min_by(|a, b| a.total().total_cmp(&b.total())).expect("there are runs");
        #[allow(clippy::cast_precision_loss, reason = "counts far below 2^52")]
        let events = case.events as f64;
        let nanos = fastest.total() * 1e9 / events;
        println!(
            "| {} | {} | {} | {} | {nanos:.0} | {:.2} | {:.0} % |",
            case.name,
            case.keys,
            case.events,
            fastest.panes,
            1e3 / nanos,
            100.0 * fastest.source / fastest.total(),
        );
    }
}

struct Outcome {
    source: f64,
    windows: f64,
    panes: usize,
}

impl Outcome {
    fn total(&self) -> f64 {
        self.source + self.windows
    }
}

fn run(case: &Case, input: &[SourceBatch]) -> Outcome {
    let pipeline = format!(
        "job: bench\nversion: 1\nsource:\n  log: events\n  timestamp_field: time\n  watermark: {{strategy: \
         bounded_out_of_orderness, max_delay: 30s}}\nkey_by: [campaign]\n{}\naggregate: {{clicks: sum, spend: sum, seen: \
         {{fn: count}}}}\nsink: {{type: log, log: out}}\n",
        case.rules
    );
    let pipeline = tidegate_pipeline::parse(&pipeline).expect("a sound pipeline").pipeline;
    let options = JobOptions {
        parallelism: 1,
        batch_rows: BATCH_ROWS,
        partitions: SourcePartition::of_one_source(&[Value::Int(0)]),
        arrival_field: Some("arrival".into()),
        wall_clock: None,
    };
    let mut job = Job::new(&pipeline, JobHooks::default(), options).expect("a job without hooks").into_steps();
    let mut outcome = Outcome { source: 0.0, windows: 0.0, panes: 0 };
    for batch in input {
        let batch = batch.clone();
        let (mut step, taken) = seconds(|| job.read(batch, None).expect("no hook can fail"));
        let input = step.batches.remove(0);
        let progress = Arc::clone(&input.progress);
        outcome.source += taken;
        let (panes, taken) = seconds(|| {
            let mut panes = 0;
            let mut out = OperatorOutput::default();
            let mut work = job.operators[0].process(vec![input], &progress, None, &mut out).expect("no hook can fail");
            loop {
                panes += std::mem::take(&mut out).panes.iter().map(|panes| panes.infos.len()).sum::<usize>();
                if work == Work::Done {
                    break panes;
                }
                work = job.operators[0].resume(&mut out).expect("no hook can fail");
            }
        });
        outcome.windows += taken;
        outcome.panes += panes;
    }
    outcome
}

/// Events in batches: about 110 bytes each, out of order by up to [`DISORDER`], keys in a fixed pseudo-random order.
fn input(case: &Case) -> Vec<SourceBatch> {
    let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).expect("below a usize")
    };
    let mut batches = Vec::new();
    let mut event = 0;
    while event < case.events {
        let mut batch = SourceBatch::default();
        let mut data = Vec::new();
        for _ in 0..BATCH_ROWS.min(case.events - event) {
            let arrival = 1_700_000_000_000 + event * 1_000 / EVENTS_PER_SECOND;
            let (time, key) = (arrival - random(DISORDER), random(case.keys));
            let (clicks, spend) = (random(3), random(10_000));
            let start = data.len();
            let line = format!(
                r#"{{"time":{time},"arrival":{arrival},"campaign":"c-{key:06}","country":"VN","clicks":{clicks},"spend":{spend}}}"#
            );
            data.extend_from_slice(line.as_bytes());
            let span = |at: usize| u32::try_from(at).expect("a batch is small");
            batch.spans.push((span(start), span(data.len())));
            batch.partition.push(Some(PartitionId(0)));
            batch.offsets.push(event as u64);
            event += 1;
        }
        batch.data = Bytes::from(data);
        batches.push(batch);
    }
    if let Some(last) = batches.last_mut() {
        last.ended = vec![(u32::try_from(last.spans.len()).expect("a batch is small"), PartitionId(0))];
        last.done = true;
    }
    batches
}
