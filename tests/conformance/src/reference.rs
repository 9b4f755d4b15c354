//! The reference interpreter: a slow reading of docs/semantics.md and docs/local-run.md, record by record.
//!
//! It exists to disagree with the engine: no code of it, lists instead of accumulators, no batches, no indexes.
//! Invariant: each step follows the words of the pages, quoted beside it (a test looks the quotes up). At most 1,500 lines.
//! This file reads the sources: order of lines, clock, partitions, watermarks. `graph` hands what happens to the
//! operators, one event after the other.

use std::collections::{BTreeMap, BTreeSet};

use crate::json::Value;
use crate::scenario::Scenario;
use crate::time::{Time, read_time};
use graph::{Graph, Refusal, Row};
use spec::Spec;

mod aggregate;
mod graph;
mod join;
mod order;
mod process;
mod spec;
mod windows;

const MINUS_INFINITY: Time = Time::MIN;
const PLUS_INFINITY: Time = Time::MAX;

/// What a run puts out.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The lines of each output: `output` (of one sink of several: `output NAME`), `too-late`, `dead-letter`, `duplicates`.
    pub lines: BTreeMap<String, Vec<Value>>,
    /// The last line on standard error.
    pub summary: Value,
}

struct Source {
    spec: Spec,
    name: String,
    partitions: Vec<Partition>, // those that have not ended
    watermark: Time,
}

struct Partition {
    value: Value,
    watermark: Time,
    heard: Option<Time>, // the clock at its last record; none until the clock has started
    idle: bool,
}

struct Run<'a> {
    scenario: &'a Scenario,
    sources: Vec<Source>,
    graph: Graph,
    clock: Option<Time>,
}

/// Runs a scenario with a valid pipeline.
pub fn interpret(scenario: &Scenario) -> Outcome {
    let graph = Graph::new(&scenario.pipeline);
    let source = |spec: &Value| {
        let name = spec.get("name").as_str().expect("a source has a name");
        let partition = |value| Partition { value, watermark: MINUS_INFINITY, heard: None, idle: false };
        let partitions = partitions(scenario, name).into_iter().map(partition).collect();
        Source { spec: Spec(spec.clone()), name: name.to_owned(), partitions, watermark: MINUS_INFINITY }
    };
    let sources = graph.sources.iter().map(source).collect();
    let mut run = Run { scenario, sources, graph, clock: None };
    run.read_everything();
    run.graph.finish()
}

/// The partitions of a source.
fn partitions(scenario: &Scenario, source: &str) -> BTreeSet<Value> {
    let object = |line: &String| Value::parse(line).filter(|v| matches!(v, Value::Obj(_)));
    match &scenario.partition_field {
        None => (0..scenario.files_of(source).len()).map(Value::int).collect(), // "Each file is a partition"
        // "The file is scanned first, so all partitions are known from the start."
        Some(field) => scenario.files[0].iter().filter_map(object).map(|record| record.get(field).clone()).collect(),
    }
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
    }

    /// The place of a file's source, and the file's place among that source's files.
    fn place(&self, file: usize) -> (usize, usize) {
        let of = |source: &Source| self.scenario.files_of(&source.name).iter().position(|f| *f == file);
        let mut found = self.sources.iter().enumerate().filter_map(|(place, source)| Some((place, of(source)?)));
        found.next().expect("a file is of a source")
    }

    /// "A partition that has ended no longer counts." With a partition field none "ends before the file does".
    fn end_of_file(&mut self, file: usize) {
        let by_file = self.scenario.partition_field.is_none();
        let (source, place) = self.place(file);
        self.sources[source].partitions.retain(|p| by_file && p.value != Value::int(place));
        self.combine();
    }

    fn arrival(&self, record: &Value) -> Option<Time> {
        read_time(record.get(self.scenario.arrival_field.as_ref()?))
    }

    /// One line: the clock, the row, and the watermark after it.
    fn line(&mut self, file: usize, offset: usize) {
        let line = self.scenario.files[file][offset].clone();
        if line.trim().is_empty() {
            return; // "Blank lines are not read."
        }
        self.graph.count("read");
        let (source, place) = self.place(file);
        let record = Value::parse(&line).unwrap_or(Value::Str(line)); // "or its text if it is no JSON"
        // "A line that is no JSON object belongs to partition null under `--partition-field`, otherwise to its file's."
        let value = self.scenario.partition_field.as_ref().map_or(Value::int(place), |field| record.get(field).clone());
        let mut row = Row { line: record.clone(), place: Some((value.clone(), offset)), ..Row::default() };
        let Value::Obj(_) = record else { return self.refuse("malformed", source, &row) };
        if let Some(arrival) = self.arrival(&record) {
            self.move_clock(arrival);
        }
        let spec = &self.sources[source].spec;
        let time = read_time(record.get(spec.text("timestamp_field")));
        match spec.decode(&record).and_then(|fields| Ok((fields, time.ok_or("bad-time")?))) {
            Err(reason) => self.refuse(reason, source, &row),
            Ok((fields, time)) => {
                (row.fields, row.time) = (fields, time);
                self.event(Some((source, row)));
            }
        }
        // "Every record with a readable event time moves its partition's watermark"; without one it "is not heard".
        let Some(time) = time else { return };
        let claim = self.sources[source].spec.claim(&record, time);
        let partitions = &mut self.sources[source].partitions;
        let partition = partitions.iter_mut().find(|p| p.value == value).expect("partitions are known");
        partition.watermark = partition.watermark.max(claim);
        // "The next record of an idle partition makes it active"; "the least is taken again after the record".
        (partition.idle, partition.heard) = (false, self.clock);
        self.combine();
    }

    fn refuse(&mut self, reason: &'static str, source: usize, row: &Row) {
        self.graph.refuse(&Refusal { reason, operator: self.sources[source].name.clone() }, row);
    }

    /// "The source's watermark is the least of its active partitions." Without any it "stays where it is"; "When every
    /// partition of a bounded source has ended, the watermark is +∞". Whether one moved.
    fn combine(&mut self) -> bool {
        let before: Vec<Time> = self.sources.iter().map(|source| source.watermark).collect();
        for source in &mut self.sources {
            let active = source.partitions.iter().filter(|p| !p.idle).map(|p| p.watermark);
            let ended = source.partitions.is_empty();
            let least = if ended { PLUS_INFINITY } else { active.min().unwrap_or(MINUS_INFINITY) };
            source.watermark = source.watermark.max(least); // "never goes back"
        }
        let moved = self.sources.iter().map(|source| source.watermark).ne(before);
        if moved {
            self.event(None);
        }
        moved
    }

    /// Tells the operators what is new: a row, or where the clock and the sources' watermarks stand.
    fn event(&mut self, row: Option<(usize, Row)>) {
        let mut from = BTreeMap::new();
        for source in &self.sources {
            from.insert(source.name.clone(), (Vec::new(), source.watermark));
        }
        if let Some((source, row)) = row {
            from.get_mut(&self.sources[source].name).expect("every source is there").0.push(row);
        }
        self.graph.event(from, self.clock);
    }

    /// "a virtual clock that stands at each record's arrival as it is read"; "The clock never goes back".
    fn move_clock(&mut self, arrival: Time) {
        if self.clock.is_none() {
            // "The timeout of a partition that was never heard runs from … the first arrival read."
            self.sources.iter_mut().flat_map(|s| &mut s.partitions).for_each(|p| p.heard = Some(arrival));
            self.clock = Some(arrival);
        }
        // "Different instants are taken in order."
        while let Some(due) = self.next_idle().filter(|due| *due <= arrival) {
            let before = self.clock.replace(due);
            if !self.fall_idle(due) {
                self.clock = before;
            }
        }
        self.clock = self.clock.max(Some(arrival));
        self.event(None);
    }

    /// The next instant at which a partition becomes idle.
    fn next_idle(&self) -> Option<Time> {
        let all = self.sources.iter().flat_map(|s| s.partitions.iter().filter_map(|p| s.spec.idle_at(p)));
        all.min()
    }

    /// "Partitions that fall due at one instant become idle together." Whether that moved a watermark, which is an event.
    fn fall_idle(&mut self, now: Time) -> bool {
        for source in &mut self.sources {
            let due: Vec<bool> = source.partitions.iter().map(|p| source.spec.idle_at(p) == Some(now)).collect();
            source.partitions.iter_mut().zip(due).for_each(|(p, due)| p.idle |= due);
        }
        self.combine()
    }
}

impl Spec {
    /// The row, unless "a declared field … is of another kind".
    fn decode(&self, record: &Value) -> Result<Value, &'static str> {
        let Value::Obj(mut row) = record.clone() else { unreachable!("a record is an object") };
        for (field, kind) in self.0.get("schema").members() {
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

    /// "watermark of the partition after a record at `t`", as far as the record claims it.
    fn claim(&self, record: &Value, t: Time) -> Time {
        let mark = record.get(self.text("watermark.field"));
        match self.text("watermark.strategy") {
            "bounded_out_of_orderness" => t - self.duration("watermark.max_delay"),
            "ascending" => t,
            "punctuated" if *mark == Value::Bool(true) => t,
            "punctuated" => read_time(mark).unwrap_or(MINUS_INFINITY), // "False, null, absent, unreadable: as before"
            "none" => MINUS_INFINITY,
            other => panic!("no strategy: {other}"),
        }
    }

    /// "exactly at (the arrival of the partition's last record + the timeout)"
    fn idle_at(&self, partition: &Partition) -> Option<Time> {
        let timeout = self.limit("watermark.idle_partition_timeout")?;
        Some(partition.heard? + timeout).filter(|_| !partition.idle)
    }
}
