//! A whole job around a scripted hook: lines in, panes and dead letters out, as short text.

use std::sync::Arc;

use tidegate_connectors::SourceBatch;
use tidegate_types::batch::index32;
use tidegate_types::{PaneBatch, PaneOp, PartitionId, Value, Watermark};

use super::script::Script;
use crate::{Account, Job, JobHooks, JobOptions, OperatorOutput, Side, SideKind, SourcePartition, Step, Steps, Work};

/// A pipeline with custom windows.
#[derive(Clone)]
pub(super) struct Case {
    pub(super) script: Script,
    pub(super) lateness: i64,
    pub(super) trigger: &'static str,
    pub(super) accumulation: &'static str,
    /// The horizon of `dedup: {field: id}`.
    pub(super) horizon: Option<i64>,
}

/// What came of a job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Ran {
    /// In order of key, then of emission: `a [0,10) 2 EARLY 0 @5`, where `!` after the index says `is_last`, and `-` before the key
    /// a retraction.
    pub(super) panes: Vec<String>,
    /// Sorted: `trap mine #3` for line 3 from 0, `pane-failed mine a [0,10)`.
    pub(super) sides: Vec<String>,
    pub(super) account: Account,
}

impl Case {
    /// No lateness, the default triggers, accumulating.
    pub(super) fn of(script: Script) -> Self {
        Self { script, lateness: 0, trigger: "{}", accumulation: "accumulating", horizon: None }
    }

    fn pipeline(&self) -> String {
        let Self { lateness, trigger, accumulation, horizon, .. } = self;
        let dedup = horizon.map_or_else(String::new, |horizon| format!("dedup: {{field: id, horizon: {horizon}ms}}"));
        format!(
            "job: custom\nversion: 1\n\
             source: {{log: in, timestamp_field: at, watermark: {{strategy: punctuated, field: w}}}}\n\
             key_by: [k]\n{dedup}\n\
             window: {{type: custom, component: script, uid: mine, allowed_lateness: {lateness}ms}}\n\
             trigger: {trigger}\naccumulation: {accumulation}\n\
             aggregate: {{n: {{fn: count}}}}\n\
             sink: {{type: log, log: out}}\n"
        )
    }

    /// Runs lines, separated by `;`: key, time, then fields such as `w=5` (the watermark after it) or `mark=bad`.
    ///
    /// # Panics
    /// If a batch size or a parallelism changes what comes of it.
    pub(super) fn run(&self, lines: &str) -> Ran {
        let lines: Vec<String> = lines.split(';').map(json).collect();
        let expected = self.run_cut(&lines, 1_000, 1);
        for (batch_rows, parallelism) in [(1, 1), (2, 1), (3, 2), (7, 3)] {
            let ran = self.run_cut(&lines, batch_rows, parallelism);
            assert_eq!(ran, expected, "{batch_rows} rows a batch, {parallelism} subtasks");
        }
        expected
    }

    /// Runs JSON lines.
    pub(super) fn run_cut(&self, lines: &[String], batch_rows: usize, parallelism: u32) -> Ran {
        let parsed = tidegate_pipeline::parse(&self.pipeline()).expect("the pipeline is valid");
        let hooks = JobHooks { windows: (0..parallelism).map(|_| self.script.open()).collect(), ..JobHooks::default() };
        let options = JobOptions {
            parallelism,
            batch_rows,
            partitions: SourcePartition::of_one_source(&[Value::Int(0)]),
            arrival_field: None,
            wall_clock: None,
        };
        let mut job = Job::new(&parsed.pipeline, hooks, options).expect("the hook fits").into_steps();
        let mut ran = Collected::default();
        for (at, chunk) in lines.chunks(batch_rows).enumerate() {
            ran.step(&mut job, source_batch(chunk, at * batch_rows));
        }
        ran.step(&mut job, SourceBatch { done: true, ..SourceBatch::default() });
        assert!(job.operators.iter().all(|window| window.state().windows == 0), "windows are left");
        ran.sorted()
    }
}

/// `a 1 w=5 mark=bad` as JSON.
pub(super) fn json(line: &str) -> String {
    let mut words = line.split_whitespace();
    let (key, time) = (words.next().expect("a key"), words.next().expect("a time"));
    let mut text = format!(r#"{{"k": "{key}", "at": {time}"#);
    for (name, value) in words.map(|word| word.split_once('=').expect("name=value")) {
        let value = if value.parse::<i64>().is_ok() { value.to_owned() } else { format!("\"{value}\"") };
        text += &format!(r#", "{name}": {value}"#);
    }
    text + "}"
}

fn source_batch(lines: &[String], first: usize) -> SourceBatch {
    let mut data = String::new();
    let mut batch = SourceBatch::default();
    for (line, offset) in lines.iter().zip(first..) {
        let start = index32(data.len());
        data += line;
        batch.spans.push((start, index32(data.len())));
        batch.partition.push(Some(PartitionId(0)));
        batch.offsets.push(offset as u64);
    }
    batch.data = data.into_bytes().into();
    batch
}

#[derive(Default)]
struct Collected {
    panes: Vec<(String, String)>,
    sides: Vec<String>,
    account: Account,
}

impl Collected {
    fn step(&mut self, job: &mut Steps, input: SourceBatch) {
        let Step { batches, sides, account } = job.read(input, None).expect("no platform failure");
        self.sides.extend(sides.iter().map(side));
        self.account += account;
        for (operator, batch) in job.operators.iter_mut().zip(batches) {
            let mut out = OperatorOutput::default();
            let progress = Arc::clone(&batch.progress);
            let mut work = operator.process(vec![batch], &progress, None, &mut out).expect("no platform failure");
            loop {
                let taken = std::mem::take(&mut out);
                taken.panes.iter().for_each(|panes| self.panes.extend(lines(panes)));
                self.sides.extend(taken.sides.iter().map(side));
                self.account += taken.account;
                if work == Work::Done {
                    break;
                }
                work = operator.resume(&mut out).expect("no platform failure");
            }
        }
    }

    fn sorted(mut self) -> Ran {
        assert!(self.account.balances(), "{:?}", self.account);
        self.panes.sort_by(|a, b| a.0.cmp(&b.0));
        self.sides.sort();
        let panes = self.panes.into_iter().map(|(_, line)| line).collect();
        Ran { panes, sides: self.sides, account: self.account }
    }
}

/// Each pane's key, and the pane as text.
fn lines(panes: &PaneBatch) -> Vec<(String, String)> {
    let line = |row: usize| {
        let info = panes.infos[row];
        let key = shown(&panes.keys[0].value(row).to_value());
        let values: Vec<String> = panes.values.iter().map(|column| shown(&column.value(row).to_value())).collect();
        let (start, end) = info.window.expect("no window is global");
        let op = if info.op == PaneOp::Retract { "-" } else { "" };
        let last = if info.is_last { "!" } else { "" };
        let (values, timing, index) = (values.join("/"), info.timing.name(), info.index);
        let watermark = at(info.watermark);
        (key.clone(), format!("{op}{key} [{start},{end}) {values} {timing} {index}{last} @{watermark}"))
    };
    (0..panes.infos.len()).map(line).collect()
}

/// A watermark in a pane's text.
pub(super) fn at(watermark: Watermark) -> String {
    match watermark {
        Watermark::MIN => "-inf".into(),
        Watermark::MAX => "inf".into(),
        other => other.as_millis().to_string(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Int(value) => value.to_string(),
        Value::Text(value) => value.to_string(),
        other => format!("{other:?}"),
    }
}

fn side(side: &Side) -> String {
    let Side { reason, operator, .. } = side;
    match (&side.record, &side.pane) {
        (Some((origin, record)), _) => {
            assert_eq!(side.kind == SideKind::DeadLetter, !matches!(reason.as_str(), "too-late" | "duplicate"));
            format!("{reason} {operator} #{}", origin.offset(*record).expect("read"))
        }
        (None, Some(pane)) => {
            let (start, end) = pane.window.expect("no window is global");
            format!("{reason} {operator} {} [{start},{end})", shown(&pane.key[0].1))
        }
        (None, None) => panic!("neither a record nor a pane: {side:?}"),
    }
}
