//! Two tenants, two sets of lanes: one's hook that loops until its fuel is used up, call after call, leaves the other's job at
//! its pace.
//!
//! Pace is measured by the attacker: how many of its records were condemned by the time the honest job has finished. On one
//! lane the two jobs take turns step by step, so that is about one for each of the honest job's batches; on lanes of their
//! own the attacker gets no further than the time that the honest job needs anyway. Both are taken in one run and compared.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tidegate_connectors::{ResultSink, SinkError, Source, SourceBatch, SourceError};
use tidegate_dataflow::{Job, JobHooks, JobOptions, SourcePartition};
use tidegate_isolation::guest;
use tidegate_isolation::host::{fields, load, options, sandbox_with};
use tidegate_isolation::mapper::process;
use tidegate_pipeline::parse;
use tidegate_sandbox::Sandbox;
use tidegate_types::hooks::MapHook;
use tidegate_types::{PaneBatch, PartitionId, RowBatch, Value};
use tidegate_worker::{JobRun, Lanes, Observer, Outputs, RunEnd, RunProgress, RunningJob};

/// Batches of the honest job, one record each.
const BATCHES: u64 = 100;

/// Records one by one: so many, or without an end.
struct Records {
    left: Option<u64>,
    given: u64,
    names: Vec<Value>,
}

impl Records {
    fn new(left: Option<u64>) -> Box<Self> {
        Box::new(Self { left, given: 0, names: vec![Value::Int(0)] })
    }
}

impl Source for Records {
    fn partitions(&self) -> &[Value] {
        &self.names
    }

    fn read(&mut self, _max_rows: usize, _max_bytes: usize) -> Result<SourceBatch, SourceError> {
        if self.left == Some(self.given) {
            return Ok(SourceBatch { ended: vec![(0, PartitionId(0))], done: true, ..SourceBatch::default() });
        }
        let record = format!("{{\"n\": {}, \"name\": \"a\"}}", self.given).into_bytes();
        let length = u32::try_from(record.len()).expect("a short record");
        self.given += 1;
        Ok(SourceBatch {
            data: record.into(),
            spans: vec![(0, length)],
            partition: vec![Some(PartitionId(0))],
            offsets: vec![self.given - 1],
            ..SourceBatch::default()
        })
    }
}

/// Takes everything.
struct Nowhere;

impl ResultSink for Nowhere {
    fn write_panes(&mut self, _panes: &PaneBatch) -> Result<(), SinkError> {
        Ok(())
    }

    fn write_rows(&mut self, _rows: &RowBatch) -> Result<(), SinkError> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Counts a job's condemned records.
#[derive(Clone, Default)]
struct Condemned(Arc<AtomicU64>);

impl Observer for Condemned {
    fn panes(&mut self, _sink: usize, _panes: &PaneBatch) {}

    fn rows(&mut self, _sink: usize, _rows: &RowBatch) {}

    fn progress(&mut self, progress: &RunProgress) {
        self.0.store(progress.account.rejected, Ordering::SeqCst);
    }
}

fn run(lanes: &Lanes, map: Option<Box<dyn MapHook>>, records: Option<u64>, condemned: &Condemned) -> RunningJob {
    let hook = if map.is_some() { "map: {component: spins}\n" } else { "" };
    let text = format!(
        "job: j\nversion: 1\nsource: {{log: in, timestamp_field: n, schema: {{n: int, name: text?}}, watermark: {{strategy: \
         none}}}}\nkey_by: [name]\nwindow: {{type: tumbling, size: 1h}}\naggregate: {{rows: {{fn: count}}}}\nsink: {{type: \
         log, log: out}}\n{hook}"
    );
    let pipeline = parse(&text).expect("a pipeline").pipeline;
    let options = JobOptions {
        parallelism: 1,
        batch_rows: 1024,
        partitions: SourcePartition::of_one_source(&[Value::Int(0)]),
        arrival_field: None,
        wall_clock: None,
    };
    let hooks = JobHooks { maps: map.into_iter().collect(), ..JobHooks::default() };
    let job = Job::new(&pipeline, hooks, options).expect("the hook fits");
    let outputs = Outputs { results: vec![Box::new(Nowhere)], too_late: None, duplicates: None, dead_letters: None };
    let observer = Some(Box::new(condemned.clone()) as _);
    lanes
        .run(JobRun { job, source: Records::new(records), wake: None, outputs, observer, checkpoints: None })
        .expect("it runs")
}

fn spinning(sandbox: &Sandbox) -> Box<dyn MapHook> {
    let component = load(sandbox, &guest("with-mapper", &process("(loop $forever (br $forever))")));
    component.open_mapper("null", &fields(), options()).expect("the hook opens")
}

/// How many of the attacker's records are condemned while the honest job runs from its start to its end.
fn condemned_meanwhile(sandbox: &Sandbox, attackers: &Lanes, honest: &Lanes) -> u64 {
    let condemned = Condemned::default();
    let attacker = run(attackers, Some(spinning(sandbox)), None, &condemned);
    while condemned.0.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    let before = condemned.0.load(Ordering::SeqCst);
    let ended = run(honest, None, Some(BATCHES), &Condemned::default()).wait().expect("it succeeds");
    let after = condemned.0.load(Ordering::SeqCst);
    let RunEnd::Finished(report) = ended else { panic!("nobody stopped it") };
    assert_eq!((report.account.read, report.account.accepted), (BATCHES, BATCHES));
    attacker.control().stop();
    assert!(matches!(attacker.wait(), Ok(RunEnd::Stopped(_))));
    after - before
}

#[test]
fn a_looping_hook_leaves_another_tenants_job_at_its_pace() {
    // A call that spins takes some milliseconds: long against a batch of one record, and against the time in which the next
    // record to spin on is read.
    let sandbox = sandbox_with(|config| config.call_fuel = 20_000_000);
    let lane = || Lanes::start("lane-", NonZeroU32::MIN, None).expect("a thread");
    let (one, other) = (lane(), lane());
    let apart = condemned_meanwhile(&sandbox, &one, &other);
    let together = condemned_meanwhile(&sandbox, &one, &one);
    println!("condemned meanwhile: {apart} on lanes of their own, {together} on one lane");
    assert!(apart * 4 < together, "{apart} on lanes of their own, {together} on one lane");
    assert_eq!((one.tasks(), other.tasks()), (0, 0));
    assert_eq!(sandbox.memory_used(), 0, "no instance is left");
}
