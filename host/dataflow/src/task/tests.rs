//! A source task by itself, stepped by hand on a wall clock.

use tidegate_connectors::SourceBatch;
use tidegate_types::{PartitionId, Value, Watermark};

use super::*;
use crate::channel::{Received, Receiver, Sender, Signal, channel};
use crate::job::{Job, JobHooks, JobOptions, SourcePartition, Tasks};

const PIPELINE: &str = "
job: j
version: 1
source:
  log: in
  timestamp_field: t
  watermark: {strategy: ascending, idle_partition_timeout: 10s}
key_by: []
window: {type: tumbling, size: 1h}
aggregate: {n: {fn: count}}
sink: {type: log, log: out}
";

/// A source task of two partitions, and the ends of its channels. There is room for one batch behind it.
struct Bench {
    task: SourceTask,
    input: Sender<Result<SourceBatch, SourceError>>,
    /// The window task behind it.
    behind: OperatorTask,
    emissions: Receiver<Emission>,
    behind_emissions: Receiver<Emission>,
}

fn job() -> Job {
    let pipeline = tidegate_pipeline::parse(PIPELINE).unwrap().pipeline;
    let options = JobOptions {
        parallelism: 1,
        batch_rows: 100,
        partitions: SourcePartition::of_one_source(&[Value::Int(0), Value::Int(1)]),
        arrival_field: None,
        wall_clock: Some(0),
    };
    Job::new(&pipeline, JobHooks::default(), options).unwrap()
}

/// Records: a partition and an event time each.
fn source_batch(records: &[(u32, i64)]) -> SourceBatch {
    let mut batch = SourceBatch::default();
    let mut data = Vec::new();
    for (partition, time) in records {
        let start = u32::try_from(data.len()).unwrap();
        data.extend(format!("{{\"t\": {time}}}").into_bytes());
        batch.spans.push((start, u32::try_from(data.len()).unwrap()));
        batch.partition.push(Some(PartitionId(*partition)));
        batch.offsets.push(0);
    }
    batch.data = data.into();
    batch
}

impl Bench {
    fn new() -> Self {
        let signal = Signal::new();
        let (input, records) = channel(8, &signal);
        let Tasks { source, mut operators, mut emissions } = job().into_tasks(records, &signal, None);
        let behind = operators.remove(0).remove(0);
        let behind_emissions = emissions.remove(1);
        Self { task: source, input, behind, emissions: emissions.remove(0), behind_emissions }
    }

    /// Hands in records: a partition and an event time each.
    fn read(&self, records: &[(u32, i64)]) {
        self.input.send(Ok(source_batch(records)));
    }

    fn step(&mut self, now: i64) -> Progress {
        self.task.step(Some(now)).unwrap()
    }

    /// Takes what came out, and so gives credit.
    fn take(&mut self) {
        while self.behind.step(Some(0)).unwrap() == Progress::Worked {}
        while let Received::Element(_) = self.emissions.receive() {}
    }

    /// Steps until there is no credit.
    fn fill(&mut self) {
        while self.step(0) == Progress::Worked {
            self.read(&[(0, 5_000), (1, 50_000)]);
        }
    }

    fn watermark(&self) -> Watermark {
        self.task.reports()[0].watermarks.now.watermark
    }
}

#[test]
fn backpressure_makes_no_partition_idle() {
    let mut bench = Bench::new();
    bench.read(&[(0, 5_000), (1, 50_000)]);
    bench.fill();
    // Nobody takes the batches: the source stands still from 1 s to 100 s.
    for now in [1_000, 40_000, 99_000] {
        assert_eq!(bench.step(now), Progress::Waiting { until: None });
    }
    bench.take();
    assert_eq!(bench.step(100_000), Progress::Worked, "a batch was waiting");
    assert_eq!(bench.watermark(), Watermark::at(5_000), "the silence was not the partitions' own");
    bench.take();
    bench.read(&[(1, 60_000)]);
    assert_eq!(bench.step(105_000), Progress::Worked);
    bench.take();
    assert_eq!(bench.step(109_999), Progress::Waiting { until: Some(110_000) });
    assert_eq!(bench.step(110_000), Progress::Worked);
    assert_eq!(bench.watermark(), Watermark::at(60_000), "ten seconds of silence: partition 0 is idle");
}

#[test]
fn a_silent_partition_is_idle_without_backpressure() {
    let mut bench = Bench::new();
    bench.read(&[(0, 5_000), (1, 50_000)]);
    bench.step(0);
    bench.take();
    bench.read(&[(1, 60_000)]);
    bench.step(4_000);
    bench.take();
    assert_eq!(bench.step(9_999), Progress::Waiting { until: Some(10_000) });
    assert_eq!(bench.step(10_000), Progress::Worked);
    assert_eq!(bench.watermark(), Watermark::at(60_000));
}

#[test]
fn the_last_emission_has_the_report() {
    let mut bench = Bench::new();
    bench.read(&[(0, 5_000), (0, 4_000), (1, 50_000)]);
    bench.step(0);
    bench.take();
    drop(std::mem::replace(&mut bench.input, channel(1, &Signal::new()).0));
    assert_eq!(bench.step(1), Progress::Finished);
    let Received::Element(Emission { report: Some(TaskReport::Sources(mut reports)), .. }) = bench.emissions.receive()
    else {
        panic!("no report");
    };
    let report = reports.remove(0);
    assert_eq!((&*report.source, report.partitions), ("source", vec![Value::Int(0), Value::Int(1)]));
    assert_eq!(report.watermarks.partitions[0].lateness.max().0, 1_000);
}

#[test]
fn an_operator_task_tells_where_it_stands_when_it_has_moved() {
    let mut bench = Bench::new();
    let mut told = |records: &[(u32, i64)]| {
        bench.read(records);
        assert_eq!(bench.step(7), Progress::Worked);
        assert_eq!(bench.behind.step(Some(7)).unwrap(), Progress::Worked);
        match bench.behind_emissions.receive() {
            Received::Element(emission) => emission.operator.map(|status| (status.operator, status.standing)),
            _ => None,
        }
    };
    let at = |watermark| Some(("window".into(), OperatorStanding { watermark: Watermark::at(watermark), clock: 7 }));
    assert_eq!(told(&[(1, 4_000), (0, 4_500)]), at(4_000));
    assert_eq!(told(&[(1, 9_000)]), at(4_500));
    assert_eq!(told(&[(0, 6_000)]), at(6_000));
}
