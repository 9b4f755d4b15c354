//! The reference interpreter: a slow reading of docs/semantics.md and docs/local-run.md, record by record.
//!
//! It exists to disagree with the engine: no code of it, lists instead of accumulators, no batches, no indexes.
//! Invariant: each step follows the words of the page, quoted beside it. At most 600 lines of code (a test counts).
//! This file reads the source: order of lines, clock, partitions, watermark; `windows` does the rest.

use std::collections::BTreeMap;

use crate::json::Value;
use crate::scenario::Scenario;
use crate::time::{Time, read_time};
use pipeline::Pipeline;

mod aggregate;
mod pipeline;
#[cfg(test)]
mod tests;
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
    /// The clock at its last record; none until the clock has started.
    heard: Option<Time>,
    idle: bool,
    ended: bool,
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
    /// Accepted records in order of arrival.
    accepted: Vec<Record>,
    counts: BTreeMap<&'static str, usize>,
    out: Outcome,
}

/// Runs a scenario with a valid pipeline.
pub fn interpret(scenario: &Scenario) -> Outcome {
    let partition = |value| Partition { value, watermark: MINUS_INFINITY, heard: None, idle: false, ended: false };
    // "Each `--input` file is a partition. With `--partition-field` … the set of partitions is known from the start".
    let mut values: Vec<Value> = (0..scenario.files.len()).map(Value::int).collect();
    if let Some(field) = &scenario.partition_field {
        values = scenario.files[0].iter().filter_map(|l| object(l)).map(|o| o.get(field).clone()).collect();
        values.sort();
        values.dedup();
    }
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

fn object(line: &str) -> Option<Value> {
    Value::parse(line).filter(|v| matches!(v, Value::Obj(_)))
}

impl Run<'_> {
    /// Arrival order. "An input file ends right after its last line (an empty one at once)".
    fn read_everything(&mut self) {
        let files = &self.scenario.files;
        let mut next = vec![0; files.len()];
        (0..files.len()).filter(|f| files[*f].is_empty()).for_each(|f| self.end_of_file(f));
        let mut turn = 0;
        while (0..files.len()).any(|f| next[f] < files[f].len()) {
            let open = (0..files.len()).filter(|f| next[*f] < files[*f].len());
            let file = if self.scenario.arrival_field.is_some() {
                // "merged by `--arrival-field` (ties: order on the command line)"; a line without one goes at once.
                open.min_by_key(|f| self.arrival(&files[*f][next[*f]]).unwrap_or(MINUS_INFINITY))
            } else {
                // "read one line from each in turn": the first open file at or after the turn, around the circle.
                open.min_by_key(|f| (*f + files.len() - turn) % files.len())
            };
            let file = file.expect("some file has a line left");
            self.line(file, next[file]);
            next[file] += 1;
            turn = (file + 1) % files.len();
            if next[file] == files[file].len() {
                self.end_of_file(file);
            }
        }
        // "When every partition of a bounded source has ended, the watermark is plus infinity, under every strategy."
        self.advance(PLUS_INFINITY);
    }

    fn end_of_file(&mut self, file: usize) {
        // "with `--partition-field` no partition ends before the file does"
        for (i, partition) in self.partitions.iter_mut().enumerate() {
            partition.ended |= i == file || self.scenario.partition_field.is_some();
        }
        self.combine();
    }

    fn arrival(&self, line: &str) -> Option<Time> {
        read_time(object(line)?.get(self.scenario.arrival_field.as_ref()?))
    }

    /// "Order of checks for one record: 1. decoded, with a valid time …?", then the watermark after it.
    fn line(&mut self, file: usize, offset: usize) {
        let line = self.scenario.files[file][offset].clone();
        if line.trim().is_empty() {
            return; // no record, and not counted as read
        }
        self.count("read");
        let Some(record) = object(&line) else {
            // "A line that is no JSON object has partition null under `--partition-field`, otherwise its file's."
            let partition = if self.scenario.partition_field.is_some() { Value::Null } else { Value::int(file) };
            return self.refuse("malformed", &partition, offset, Value::parse(&line).unwrap_or(Value::Str(line)));
        };
        if let Some(arrival) = self.arrival(&line) {
            self.move_clock(arrival);
        }
        let value = self.scenario.partition_field.as_ref().map_or(Value::int(file), |field| record.get(field).clone());
        let partition =
            self.partitions.iter().position(|p| p.value == value).expect("partitions are known from the start");
        let time = read_time(record.get(self.pipeline.text("source.timestamp_field")));
        let verdict = match (self.decode(&record), time) {
            (None, _) => Err("type-mismatch"),
            (_, None) => Err("bad-time"),
            (Some(row), Some(time)) => self.judge(row, time),
        };
        if let Err(reason) = verdict {
            self.refuse(reason, &value, offset, record.clone());
        }
        // "Every record with a readable event time moves its partition's watermark, whatever becomes of it." One that
        // "has no valid time, moves no watermark and is not heard for idleness".
        let Some(time) = time else { return };
        let mark = || record.get(self.pipeline.text("source.watermark.field"));
        let claim = match self.pipeline.text("source.watermark.strategy") {
            "bounded_out_of_orderness" => time - self.pipeline.required("source.watermark.max_delay"),
            "ascending" => time, // "is the same with `d = 0`"
            // "`true` claims the record's own time, a time claims that time; false, null, absent or unreadable … nothing"
            "punctuated" if *mark() == Value::Bool(true) => time,
            "punctuated" => read_time(mark()).unwrap_or(MINUS_INFINITY),
            "none" => MINUS_INFINITY,
            other => panic!("no strategy: {other}"),
        };
        let partition = &mut self.partitions[partition];
        partition.watermark = partition.watermark.max(claim);
        // "A partition's next record makes it active again; … and the minimum is taken again after it."
        partition.idle = false;
        partition.heard = self.clock;
        self.combine();
    }

    /// "A field declared in `schema` …; a value of another kind rejects the record (`type-mismatch`)". `None` if so.
    fn decode(&self, record: &Value) -> Option<Value> {
        let Value::Obj(mut row) = record.clone() else { return None };
        for (field, kind) in self.pipeline.0.at("source.schema").members() {
            let kind = kind.as_str().expect("a kind");
            match (kind.trim_end_matches('?'), record.get(field)) {
                ("bool", Value::Bool(_))
                | ("int", Value::Int(_))
                | ("float", Value::Float(_))
                | ("text", Value::Str(_)) => {}
                // "An integer literal is a valid float."
                ("float", Value::Int(n)) => drop(row.insert(field.to_owned(), Value::Float(*n as f64))),
                (_, Value::Null) if kind.ends_with('?') => {}
                _ => return None,
            }
        }
        Some(Value::Obj(row))
    }

    fn refuse(&mut self, reason: &'static str, partition: &Value, offset: usize, record: Value) {
        let line = Value::obj([
            ("reason", Value::from(reason)),
            ("partition", partition.clone()),
            ("offset", Value::int(offset)),
            ("record", record),
        ]);
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

    /// "A source's watermark is the minimum over its active partitions"; "When every partition is idle the watermark
    /// stays where it is"; it "never moves backwards".
    fn combine(&mut self) {
        let active = self.partitions.iter().filter(|p| !p.idle && !p.ended);
        if let Some(minimum) = active.map(|p| p.watermark).min() {
            self.advance(minimum);
        }
    }

    /// "a virtual clock that stands at each record's arrival as it is read … The clock never goes back".
    fn move_clock(&mut self, arrival: Time) {
        let Some(mut now) = self.clock else {
            // "The timeout of a partition without any record runs from … the first arrival read".
            self.partitions.iter_mut().for_each(|p| p.heard = Some(arrival));
            self.clock = Some(arrival);
            return self.instant(arrival);
        };
        // "different instants are taken in order"
        while let Some(due) = self.next_due(now).filter(|due| *due <= arrival) {
            now = due;
            self.clock = Some(now);
            self.instant(now);
        }
        self.clock = Some(now.max(arrival));
    }

    /// The first instant after `now` at which a partition becomes idle or a processing-time trigger fires.
    fn next_due(&self, now: Time) -> Option<Time> {
        let idle = self.partitions.iter().filter_map(|p| self.idle_at(p)).filter(|due| *due > now);
        idle.chain(self.intervals().into_iter().map(|n| (now.div_euclid(n) + 1) * n)).min()
    }

    /// "exactly at the arrival of the partition's last record plus the timeout"
    fn idle_at(&self, partition: &Partition) -> Option<Time> {
        let timeout = self.pipeline.duration("source.watermark.idle_partition_timeout")?;
        Some(partition.heard? + timeout).filter(|_| !partition.idle && !partition.ended)
    }

    /// "At one instant of processing time: first idleness falling due and the watermark firings it causes, then
    /// processing-time firings, then the records that arrive". "Partitions whose idleness falls due at one instant become
    /// idle together".
    fn instant(&mut self, now: Time) {
        let due: Vec<bool> = self.partitions.iter().map(|p| self.idle_at(p) == Some(now)).collect();
        self.partitions.iter_mut().zip(&due).for_each(|(p, due)| p.idle |= due);
        if due.contains(&true) {
            self.combine();
        }
        self.processing_time_firings(now);
    }

    /// "`read + expanded = accepted + filtered + too_late + duplicate + rejected`, always."
    fn summarise(&mut self) {
        let count = |what: &str| Value::int(self.counts.get(what).copied().unwrap_or(0));
        let names = ["read", "expanded", "accepted", "filtered", "too_late", "duplicate", "rejected", "partly_late"];
        let mut summary: Vec<_> = names.into_iter().chain(["retractions"]).map(|what| (what, count(what))).collect();
        // "accepted records that no pane of any of their windows showed by the time the last of these was purged"
        summary.push(("unshown", Value::int(self.accepted.iter().filter(|r| !r.shown).count())));
        summary.push(("panes", Value::obj(["EARLY", "ON_TIME", "LATE"].map(|timing| (timing, count(timing))))));
        self.out.summary = Value::obj(summary);
    }
}
