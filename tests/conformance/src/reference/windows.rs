//! Sections 3 and 4: assigning, judging, firing and purging, one row and one advance of the watermark at a time.
//!
//! Invariant: between calls every kept window has `end + L > W`.

use std::collections::BTreeMap;

use super::aggregate::{aggregates, check};
use super::graph::{Desk, Operator, Refusal, Row, instant};
use super::{MINUS_INFINITY, PLUS_INFINITY};
use crate::json::Value;
use crate::time::Time;

pub(super) struct Windows {
    desk: Desk,
    keys: BTreeMap<Vec<Value>, Key>,
    accepted: Vec<Record>,  // in order of arrival
    overflowed: Vec<Value>, // rows that were rejected so: what takes one of them back is rejected as well
}

/// An accepted row.
pub(super) struct Record {
    pub(super) time: Time,
    pub(super) row: Value,
    pub(super) retracts: bool,
    shown: bool,
}

/// The state of one key.
#[derive(Clone, Default)]
struct Key {
    windows: Vec<Window>,
    identities: BTreeMap<Value, Time>, // accepted, each with "the time of the last accepted record with that value"
}

#[derive(Clone, Default)]
struct Window {
    start: Time,
    end: Time,
    records: Vec<usize>, // accepted records, by their place in the order of arrival
    new: Vec<usize>,     // those since the last pane
    index: usize,
    standing: Vec<(Time, Time, Row)>, // retractions due before the next pane, each with the bounds of its window
}

impl Windows {
    pub(super) fn new(desk: Desk) -> Self {
        Windows { desk, keys: BTreeMap::new(), accepted: Vec::new(), overflowed: Vec::new() }
    }

    /// A row goes through the checks "in this order".
    fn judge(&mut self, row: Row) -> Result<(), Refusal> {
        let spec = &self.desk.spec;
        let name = spec.key("key_by", &row.fields);
        let mut key = self.keys.get(&name).cloned().unwrap_or_default();
        let (mut open, some_gone) = self.assign(&mut key.windows, row.time);
        if open.is_empty() {
            return Err(self.desk.refusal("too-late")); // "all of its windows are gone"
        }
        // "A record whose field is null or absent is never a duplicate."
        let identity = Some(row.fields.get(spec.text("dedup.field")).clone()).filter(|id| !id.is_null());
        let known = identity.as_ref().and_then(|id| key.identities.get(id));
        if known.is_some_and(|t0| self.desk.watermark < t0 + spec.duration("dedup.horizon")) {
            return Err(self.desk.refusal("duplicate")); // "while `W < t0 + h`"
        }
        key.identities.extend(identity.map(|id| (id, row.time)));
        let record = Record { time: row.time, retracts: row.retracts(), row: row.fields, shown: false };
        let accumulators: Vec<Vec<&Record>> = open.iter().map(|w| self.contents(w)).collect();
        // "No window, no merge and no identity keeps a trace"
        let mut checked = check(&aggregates(spec), &record, &accumulators);
        if let Some(place) = self.overflowed.iter().position(|row| record.retracts && *row == record.row) {
            self.overflowed.remove(place);
            checked = Err("arithmetic-overflow");
        } else if checked == Err("arithmetic-overflow") && !record.retracts {
            self.overflowed.push(record.row.clone());
        }
        checked.map_err(|reason| self.desk.refusal(reason))?;
        self.desk.count("accepted");
        if some_gone {
            self.desk.count("partly_late");
        }
        open.sort_by_key(|w| (w.end, w.start));
        let place = self.accepted.len();
        self.accepted.push(record);
        for mut window in open {
            window.records.push(place);
            window.new.push(place);
            // "when the window's count of records that no pane has shown reaches `N`"
            let early = self.desk.watermark < window.end;
            if self.desk.spec.elements(early).is_some_and(|n| window.new.len() >= n) {
                self.pane(&name, &mut window, if early { "EARLY" } else { "LATE" });
            }
            key.windows.push(window);
        }
        self.keys.insert(name, key);
        Ok(())
    }

    /// `discarding`: "the records since the last pane"; otherwise "all records of the window so far".
    fn contents(&self, window: &Window) -> Vec<&Record> {
        let discarding = self.desk.spec.text("accumulation") == "discarding";
        let places = if discarding { &window.new } else { &window.records };
        places.iter().map(|place| &self.accepted[*place]).collect()
    }

    /// "A window is gone once `end + L <= W`, whether or not it ever existed."
    fn gone(&self, end: Time) -> bool {
        end + self.desk.spec.duration("window.allowed_lateness") <= self.desk.watermark
    }

    /// The windows of a record at `t` that are not gone, taken out of those kept, and whether others of them are gone.
    fn assign(&self, kept: &mut Vec<Window>, t: Time) -> (Vec<Window>, bool) {
        let bounds = match self.desk.spec.text("window.type") {
            "session" => return self.assign_session(kept, t),
            "global" => vec![(MINUS_INFINITY, PLUS_INFINITY)],
            _ => self.desk.spec.grid(t),
        };
        let take = |&(start, end): &(Time, Time)| match kept.iter().position(|w| (w.start, w.end) == (start, end)) {
            Some(place) => kept.remove(place),
            None => Window { start, end, ..Window::default() },
        };
        let open: Vec<Window> = bounds.iter().filter(|(_, end)| !self.gone(*end)).map(take).collect();
        let some_gone = open.len() < bounds.len();
        (open, some_gone)
    }

    /// "the record's own window is compared with the kept sessions in order of start, then end. Each that overlaps is
    /// merged, unless the window merged so far would then last longer than `m`."
    fn assign_session(&self, kept: &mut Vec<Window>, t: Time) -> (Vec<Window>, bool) {
        let (gap, max) = (self.desk.spec.duration("window.gap"), self.desk.spec.limit("window.max_duration"));
        let (mut start, mut end, mut parts) = (t, t + gap, Vec::new());
        kept.sort_by_key(|w| (w.start, w.end));
        for w in std::mem::take(kept) {
            let (merged_start, merged_end) = (start.min(w.start), end.max(w.end));
            let overlaps = t < w.end && w.start < t + gap;
            if overlaps && max.is_none_or(|max| merged_end - merged_start <= max) {
                (start, end) = (merged_start, merged_end);
                parts.push(w);
            } else {
                kept.push(w);
            }
        }
        let mut merged = Window { start, end, ..Window::default() };
        for part in parts {
            merged.records.extend(part.records);
            merged.new.extend(part.new); // "Counts of records that no pane has shown add up"
            merged.standing.extend(part.standing);
            if (part.start, part.end) == (start, end) {
                merged.index = part.index; // "the window keeps its identity and its index"
            }
        }
        merged.records.sort_unstable(); // by arrival, for `first` and `last` of equal times
        merged.new.sort_unstable();
        let gone = self.gone(end); // "the window after merging is what is judged"
        (if gone { Vec::new() } else { vec![merged] }, gone)
    }

    /// One advance of the watermark: on-time panes, last late panes, purges.
    fn watermark_firings(&mut self, from: Time) {
        self.for_each_window(|own, name, window| {
            // A global window: "when a bounded input ends, one `ON_TIME` pane if there is anything new"
            let due = window.end < PLUS_INFINITY || !window.new.is_empty();
            if from < window.end && window.end <= own.desk.watermark && due {
                own.pane(name, window, "ON_TIME");
            }
            // "If records came since the last pane, one more pane, with `is_last` true, at the purge"
            let last = window.end <= from && own.gone(window.end) && !window.new.is_empty();
            if last && own.desk.spec.interval(false).is_some() {
                own.pane(name, window, "LATE");
            }
        });
    }

    /// "at every processing time that is a multiple of `N` since 1970: one pane for each window with new records"
    fn processing_time_firings(&mut self, now: Time) {
        self.for_each_window(|own, name, window| {
            let early = own.desk.watermark < window.end;
            let due = own.desk.spec.interval(early).is_some_and(|n| now.rem_euclid(n) == 0);
            if due && !window.new.is_empty() {
                own.pane(name, window, if early { "EARLY" } else { "LATE" });
            }
        });
    }

    /// The instants of processing time after `from` and before `to`, and `to`, at which a window may fire.
    fn instants(&self, from: Time, to: Time) -> Vec<Time> {
        let intervals = [true, false].into_iter().filter_map(|early| self.desk.spec.interval(early));
        let next = |now: Time| intervals.clone().map(|n| (now.div_euclid(n) + 1) * n).min();
        std::iter::successors(next(from), |now| next(*now)).take_while(|now| *now < to).collect()
    }

    /// "Windows of one key that fire together fire in order of `end`, then of `start`."
    fn for_each_window(&mut self, mut act: impl FnMut(&mut Self, &[Value], &mut Window)) {
        let mut keys = std::mem::take(&mut self.keys);
        for (name, key) in &mut keys {
            key.windows.sort_by_key(|w| (w.end, w.start));
            key.windows.iter_mut().for_each(|window| act(self, name, window));
            key.windows.retain(|w| !self.gone(w.end)); // "purged, which is when `W >= end + L`"
        }
        self.keys = keys;
    }

    /// Emits one pane, after the retractions that it calls for.
    fn pane(&mut self, name: &[Value], window: &mut Window, timing: &'static str) {
        let (spec, records) = (&self.desk.spec, self.contents(window));
        let is_last = Value::Bool(self.gone(window.end)); // "true exactly if `W >= end + L` at the firing"
        let pane = [("timing", Value::from(timing)), ("index", Value::int(window.index)), ("is_last", is_last)];
        let mut fields = vec![("window_start", instant(window.start)), ("window_end", instant(window.end))];
        fields.extend(spec.names("key_by").into_iter().zip(name.iter().cloned()));
        fields.extend(aggregates(spec).iter().map(|a| (a.name, a.value(&records))));
        let about = [("watermark", instant(self.desk.watermark)), ("pane", Value::obj(pane))];
        let line = Value::obj(fields.iter().cloned().chain(about));
        // "A pane's event time is `window_end - 1 ms`."
        let row = Row { time: window.end - 1, fields: Value::obj(fields), line, place: None, clock: self.desk.clock };
        // "all of them are retracted right before that pane, in order of start"; of one window the pane before stands
        window.standing.sort_by_key(|(start, end, _)| (*start, *end));
        *self.desk.counts.entry("retractions").or_default() += window.standing.len();
        let rows = window.standing.drain(..).map(|(_, _, retraction)| retraction).chain([row.clone()]);
        self.desk.emitted.extend(rows.map(|row| (name.to_vec(), row)));
        if self.desk.spec.text("accumulation") == "accumulating_and_retracting" {
            // "the same record, field for field, with `"op": "retract"` added"
            let Value::Obj(mut line) = row.line.clone() else { unreachable!("a line is an object") };
            line.insert("op".to_owned(), "retract".into());
            window.standing.push((window.start, window.end, Row { line: Value::Obj(line), ..row }));
        }
        self.desk.count(timing);
        window.new.drain(..).for_each(|place| self.accepted[place].shown = true);
        window.index += 1;
    }
}

impl Operator for Windows {
    fn desk(&mut self) -> &mut Desk {
        &mut self.desk
    }

    fn take(&mut self, _input: usize, row: Row) -> Result<(), Refusal> {
        self.judge(row)
    }

    /// "At one instant of processing time: first partitions become idle, with the firings that this causes; then
    /// processing-time firings". "Different instants are taken in order."
    fn advance(&mut self, watermark: Time, clock: Option<Time>) {
        let (from, before) = (self.desk.watermark, self.desk.clock);
        if let (Some(before), Some(now)) = (before, clock) {
            for due in self.instants(before, now) {
                self.desk.clock = Some(due);
                self.processing_time_firings(due);
            }
        }
        (self.desk.watermark, self.desk.clock) = (from.max(watermark), clock);
        if watermark > from {
            self.watermark_firings(from);
        }
        if let Some(now) = clock.filter(|_| clock != before) {
            self.processing_time_firings(now);
        }
    }

    fn claim(&self) -> Time {
        self.desk.watermark
    }

    fn unshown(&self) -> usize {
        self.accepted.iter().filter(|r| !r.shown).count()
    }
}
