//! The reference interpreter: a slow reading of docs/semantics.md and docs/local-run.md, record by record.
//!
//! It exists to disagree with the engine: no code of it, lists instead of accumulators, no batches, no indexes.
//! Invariant: each step follows the words of the pages, quoted beside it (a test looks the quotes up). At most 600 lines.
//! This file reads the source: order of lines, clock, partitions, watermark; `windows` does the rest.

use std::collections::{BTreeMap, BTreeSet};

use crate::json::Value;
use crate::scenario::Scenario;
use crate::time::{Time, read_time};
use pipeline::Pipeline;

mod aggregate;
mod pipeline;
mod windows;

const MINUS_INFINITY: Time = Time::MIN;
const PLUS_INFINITY: Time = Time::MAX;

/// What a run puts out.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The lines of each output, by the name of its flag: `output`, `too-late`, `dead-letter`, `duplicates`.
    pub lines: BTreeMap<&'static str, Vec<Value>>,
    /// The last line on standard error.
    pub summary: Value,
}

struct Partition {
    value: Value,
    watermark: Time,
    heard: Option<Time>, // the clock at its last record; none until the clock has started
    idle: bool,
}

struct Record {
    time: Time,
    row: Value,
    shown: bool,
}

struct Run<'a> {
    scenario: &'a Scenario,
    pipeline: Pipeline,
    partitions: Vec<Partition>,
    clock: Option<Time>,
    watermark: Time,
    keys: BTreeMap<Vec<Value>, windows::Key>,
    accepted: Vec<Record>, // in order of arrival
    counts: BTreeMap<&'static str, usize>,
    out: Outcome,
}

/// Runs a scenario with a valid pipeline.
pub fn interpret(scenario: &Scenario) -> Outcome {
    let object = |line: &String| Value::parse(line).filter(|v| matches!(v, Value::Obj(_)));
    let values: BTreeSet<Value> = match &scenario.partition_field {
        None => (0..scenario.files.len()).map(Value::int).collect(), // "Each file is a partition"
        // "The file is scanned first, so all partitions are known from the start."
        Some(field) => scenario.files[0].iter().filter_map(object).map(|record| record.get(field).clone()).collect(),
    };
    let partition = |value| Partition { value, watermark: MINUS_INFINITY, heard: None, idle: false };
    let mut run = Run {
        scenario,
        pipeline: Pipeline(scenario.pipeline.clone()),
        partitions: values.into_iter().map(partition).collect(),
        clock: None,
        watermark: MINUS_INFINITY,
        keys: BTreeMap::new(),
        accepted: Vec::new(),
        counts: BTreeMap::new(),
        out: Outcome::default(),
    };
    run.read_everything();
    run.summarise();
    run.out
}

impl Run<'_> {
    /// Lines in order of arrival. "A file's partition ends right after its last line, an empty file's at once."
    fn read_everything(&mut self) {
        let (files, n) = (&self.scenario.files, self.scenario.files.len());
        (0..n).filter(|f| files[*f].is_empty()).for_each(|f| self.end_of_file(f));
        let (mut next, mut turn) = (vec![0; n], 0);
        loop {
            // "merged by `--arrival-field`; ties go by their order on the command line"; without an arrival "at once".
            let arrival = |f: usize| self.arrival(&Value::parse(&files[f][next[f]]).unwrap_or_default());
            let order = |f: &usize| (arrival(*f).unwrap_or(MINUS_INFINITY), (f + n - turn) % n);
            let Some(file) = (0..n).filter(|f| next[*f] < files[*f].len()).min_by_key(order) else { break };
            self.line(file, next[file]);
            next[file] += 1;
            if next[file] == files[file].len() {
                self.end_of_file(file);
            }
            if self.scenario.arrival_field.is_none() {
                turn = file + 1; // "Without that field one line is read from each in turn."
            }
        }
        self.advance(PLUS_INFINITY); // "When every partition of a bounded source has ended, the watermark is +∞"
    }

    /// "A partition that has ended no longer counts." With a partition field none "ends before the file does".
    fn end_of_file(&mut self, file: usize) {
        let by_file = self.scenario.partition_field.is_none();
        self.partitions.retain(|p| by_file && p.value != Value::int(file));
        self.combine();
    }

    fn arrival(&self, record: &Value) -> Option<Time> {
        read_time(record.get(self.scenario.arrival_field.as_ref()?))
    }

    /// One line: the clock, the verdict, and the watermark after it.
    fn line(&mut self, file: usize, offset: usize) {
        let line = self.scenario.files[file][offset].clone();
        if line.trim().is_empty() {
            return; // "Blank lines are not read."
        }
        self.count("read");
        let record = Value::parse(&line).unwrap_or(Value::Str(line)); // "or its text if it is no JSON"
        // "A line that is no JSON object belongs to partition null under `--partition-field`, otherwise to its file's."
        let value = self.scenario.partition_field.as_ref().map_or(Value::int(file), |field| record.get(field).clone());
        let Value::Obj(_) = record else { return self.refuse("malformed", value, offset, record) };
        if let Some(arrival) = self.arrival(&record) {
            self.move_clock(arrival);
        }
        let time = read_time(record.get(self.pipeline.text("source.timestamp_field")));
        let verdict = self.decode(&record).and_then(|row| self.judge(row, time.ok_or("bad-time")?));
        if let Err(reason) = verdict {
            self.refuse(reason, value.clone(), offset, record.clone());
        }
        // "Every record with a readable event time moves its partition's watermark"; without one it "is not heard".
        let Some(time) = time else { return };
        let claim = self.claim(&record, time);
        let partition = self.partitions.iter_mut().find(|p| p.value == value).expect("partitions are known");
        partition.watermark = partition.watermark.max(claim);
        // "The next record of an idle partition makes it active"; "the least is taken again after the record".
        (partition.idle, partition.heard) = (false, self.clock);
        self.combine();
    }

    /// "watermark of the partition after a record at `t`", as far as the record claims it.
    fn claim(&self, record: &Value, t: Time) -> Time {
        let mark = record.get(self.pipeline.text("source.watermark.field"));
        match self.pipeline.text("source.watermark.strategy") {
            "bounded_out_of_orderness" => t - self.pipeline.duration("source.watermark.max_delay"),
            "ascending" => t,
            "punctuated" if *mark == Value::Bool(true) => t,
            "punctuated" => read_time(mark).unwrap_or(MINUS_INFINITY), // "False, null, absent, unreadable: as before"
            "none" => MINUS_INFINITY,
            other => panic!("no strategy: {other}"),
        }
    }

    /// The row, unless "a declared field … is of another kind".
    fn decode(&self, record: &Value) -> Result<Value, &'static str> {
        let Value::Obj(mut row) = record.clone() else { unreachable!("a record is an object") };
        for (field, kind) in self.pipeline.0.at("source.schema").members() {
            let kind = kind.as_str().expect("a kind");
            match (kind.trim_end_matches('?'), record.get(field)) {
                ("bool", Value::Bool(_)) | ("int", Value::Int(_)) => {}
                ("float", Value::Float(_)) | ("text", Value::Str(_)) => {}
                // "A declared float given as an integer literal is that float everywhere"
                ("float", Value::Int(n)) => drop(row.insert(field.to_owned(), Value::Float(*n as f64))),
                (_, Value::Null) if kind.ends_with('?') => {}
                _ => return Err("type-mismatch"),
            }
        }
        Ok(Value::Obj(row))
    }

    fn refuse(&mut self, reason: &'static str, partition: Value, offset: usize, record: Value) {
        let place = [("partition", partition), ("offset", Value::int(offset))];
        let line = Value::obj(place.into_iter().chain([("reason", Value::from(reason)), ("record", record)]));
        let (output, count) = match reason {
            "too-late" => (reason, "too_late"),
            "duplicate" => ("duplicates", reason),
            _ => ("dead-letter", "rejected"),
        };
        self.out.lines.entry(output).or_default().push(line);
        self.count(count);
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// "The source's watermark is the least of its active partitions." Without any it "stays where it is".
    fn combine(&mut self) {
        let active = self.partitions.iter().filter(|p| !p.idle).map(|p| p.watermark);
        self.advance(active.min().unwrap_or(MINUS_INFINITY));
    }

    /// "a virtual clock that stands at each record's arrival as it is read"; "The clock never goes back".
    fn move_clock(&mut self, arrival: Time) {
        if self.clock.is_none() {
            // "The timeout of a partition that was never heard runs from … the first arrival read."
            self.partitions.iter_mut().for_each(|p| p.heard = Some(arrival));
            self.clock = Some(arrival);
            self.instant(arrival);
        }
        while let Some(due) = self.next_due().filter(|due| *due <= arrival) {
            self.clock = Some(due); // "Different instants are taken in order."
            self.instant(due);
        }
        self.clock = self.clock.max(Some(arrival));
    }

    /// The next instant at which a partition becomes idle or a processing-time trigger fires.
    fn next_due(&self) -> Option<Time> {
        let now = self.clock?;
        let idle = self.partitions.iter().filter_map(|p| self.idle_at(p)).filter(|due| *due > now);
        let intervals = [true, false].into_iter().filter_map(|early| self.pipeline.interval(early));
        idle.chain(intervals.map(|n| (now.div_euclid(n) + 1) * n)).min()
    }

    /// "exactly at (the arrival of the partition's last record + the timeout)"
    fn idle_at(&self, partition: &Partition) -> Option<Time> {
        let timeout = self.pipeline.limit("source.watermark.idle_partition_timeout")?;
        Some(partition.heard? + timeout).filter(|_| !partition.idle)
    }

    /// "At one instant of processing time: first partitions become idle, with the firings that this causes; then
    /// processing-time firings". "Partitions that fall due at one instant become idle together."
    fn instant(&mut self, now: Time) {
        let due: Vec<bool> = self.partitions.iter().map(|p| self.idle_at(p) == Some(now)).collect();
        self.partitions.iter_mut().zip(&due).for_each(|(p, due)| p.idle |= due);
        self.combine();
        self.processing_time_firings(now);
    }

    /// "read + expanded = accepted + filtered + too_late + duplicate + rejected"
    fn summarise(&mut self) {
        // "accepted, but no pane of any of their windows showed them"
        self.counts.insert("unshown", self.accepted.iter().filter(|r| !r.shown).count());
        let count = |what| (what, Value::int(self.counts.get(what).copied().unwrap_or(0)));
        let names = "read expanded accepted filtered too_late duplicate rejected partly_late unshown retractions";
        let panes = Value::obj(["EARLY", "ON_TIME", "LATE"].map(count));
        self.out.summary = Value::obj(names.split(' ').map(count).chain([("panes", panes)]));
    }
}
