//! Sections 3 and 4: assigning, judging, firing and purging, one record and one advance of the watermark at a time.
//!
//! Invariant: between calls every kept window has `end + L > W`.

use std::collections::BTreeMap;

use super::aggregate::{aggregates, check};
use super::{MINUS_INFINITY, PLUS_INFINITY, Record, Run};
use crate::json::Value;
use crate::time::{Time, write_time};

/// The state of one key.
#[derive(Clone, Default)]
pub(super) struct Key {
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
    standing: Vec<(Time, Time, Value)>, // retractions due before the next pane, each with the bounds of its window
}

impl Run<'_> {
    /// A record that is decoded goes through the rest of the checks "in this order".
    pub(super) fn judge(&mut self, row: Value, time: Time) -> Result<(), &'static str> {
        let name: Vec<Value> = self.pipeline.key_by().iter().map(|field| row.get(field).clone()).collect();
        let mut key = self.keys.get(&name).cloned().unwrap_or_default();
        let (mut open, some_gone) = self.assign(&mut key.windows, time);
        if open.is_empty() {
            return Err("too-late"); // "all of its windows are gone"
        }
        // "A record whose field is null or absent is never a duplicate."
        let identity = Some(row.get(self.pipeline.text("dedup.field")).clone()).filter(|id| !id.is_null());
        let known = identity.as_ref().and_then(|id| key.identities.get(id));
        if known.is_some_and(|t0| self.watermark < t0 + self.pipeline.duration("dedup.horizon")) {
            return Err("duplicate"); // "while `W < t0 + h`"
        }
        let accumulators: Vec<Vec<&Record>> = open.iter().map(|w| self.contents(w)).collect();
        check(&aggregates(&self.pipeline), &row, &accumulators)?; // "No window, no merge and no identity keeps a trace"
        key.identities.extend(identity.map(|id| (id, time)));
        self.count("accepted");
        if some_gone {
            self.count("partly_late");
        }
        open.sort_by_key(|w| (w.end, w.start));
        let place = self.accepted.len();
        self.accepted.push(Record { time, row, shown: false });
        for mut window in open {
            window.records.push(place);
            window.new.push(place);
            // "when the window's count of records that no pane has shown reaches `N`"
            let early = self.watermark < window.end;
            if self.pipeline.elements(early).is_some_and(|n| window.new.len() >= n) {
                self.pane(&name, &mut window, if early { "EARLY" } else { "LATE" });
            }
            key.windows.push(window);
        }
        self.keys.insert(name, key);
        Ok(())
    }

    /// `discarding`: "the records since the last pane"; otherwise "all records of the window so far".
    fn contents(&self, window: &Window) -> Vec<&Record> {
        let discarding = self.pipeline.text("accumulation") == "discarding";
        let places = if discarding { &window.new } else { &window.records };
        places.iter().map(|place| &self.accepted[*place]).collect()
    }

    /// "A window is gone once `end + L <= W`, whether or not it ever existed."
    fn gone(&self, end: Time) -> bool {
        end + self.pipeline.duration("window.allowed_lateness") <= self.watermark
    }

    /// The windows of a record at `t` that are not gone, taken out of those kept, and whether others of them are gone.
    fn assign(&self, kept: &mut Vec<Window>, t: Time) -> (Vec<Window>, bool) {
        let bounds = match self.pipeline.text("window.type") {
            "session" => return self.assign_session(kept, t),
            "global" => vec![(MINUS_INFINITY, PLUS_INFINITY)],
            kind => {
                let (s, o) = (self.pipeline.duration("window.size"), self.pipeline.duration("window.offset"));
                let p = if kind == "sliding" { self.pipeline.duration("window.slide") } else { s };
                // "all `[start, start + s)` that contain `t`, with `start` = o plus a multiple of p", the last one first
                let last = (t - o).div_euclid(p) * p + o;
                (0..).map(|i| last - i * p).take_while(|start| t < start + s).map(|start| (start, start + s)).collect()
            }
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
        let (gap, max) = (self.pipeline.duration("window.gap"), self.pipeline.limit("window.max_duration"));
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

    /// One advance of the watermark, which "never goes back": on-time panes, last late panes, purges.
    pub(super) fn advance(&mut self, to: Time) {
        let from = self.watermark;
        self.watermark = from.max(to);
        self.for_each_window(|run, name, window| {
            // A global window: "when a bounded input ends, one `ON_TIME` pane if there is anything new"
            let due = window.end < PLUS_INFINITY || !window.new.is_empty();
            if from < window.end && window.end <= run.watermark && due {
                run.pane(name, window, "ON_TIME");
            }
            // "If records came since the last pane, one more pane, with `is_last` true, at the purge"
            let last = window.end <= from && run.gone(window.end) && !window.new.is_empty();
            if last && run.pipeline.interval(false).is_some() {
                run.pane(name, window, "LATE");
            }
        });
    }

    /// "at every processing time that is a multiple of `N` since 1970: one pane for each window with new records"
    pub(super) fn processing_time_firings(&mut self, now: Time) {
        self.for_each_window(|run, name, window| {
            let early = run.watermark < window.end;
            let due = run.pipeline.interval(early).is_some_and(|n| now.rem_euclid(n) == 0);
            if due && !window.new.is_empty() {
                run.pane(name, window, if early { "EARLY" } else { "LATE" });
            }
        });
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
        let records = self.contents(window);
        let is_last = Value::Bool(self.gone(window.end)); // "true exactly if `W >= end + L` at the firing"
        let pane = [("timing", Value::from(timing)), ("index", Value::int(window.index)), ("is_last", is_last)];
        let mut line = vec![("window_start", instant(window.start)), ("window_end", instant(window.end))];
        line.extend([("watermark", instant(self.watermark)), ("pane", Value::obj(pane))]);
        line.extend(self.pipeline.key_by().into_iter().zip(name.iter().cloned()));
        line.extend(aggregates(&self.pipeline).iter().map(|a| (a.name, a.value(&records))));
        // "the same record, field for field, with `"op": "retract"` added"
        let retraction = Value::obj(line.iter().cloned().chain([("op", Value::from("retract"))]));
        let line = Value::obj(line);
        // "all of them are retracted right before that pane, in order of start"; of one window the pane before stands
        window.standing.sort_by_key(|(start, end, _)| (*start, *end));
        *self.counts.entry("retractions").or_default() += window.standing.len();
        let retractions = window.standing.drain(..).map(|(_, _, retraction)| retraction);
        self.out.lines.entry("output").or_default().extend(retractions.chain([line]));
        if self.pipeline.text("accumulation") == "accumulating_and_retracting" {
            window.standing.push((window.start, window.end, retraction));
        }
        self.count(timing);
        window.new.drain(..).for_each(|place| self.accepted[place].shown = true);
        window.index += 1;
    }
}

/// A time of an output line; "null where it is infinite".
fn instant(t: Time) -> Value {
    if t == MINUS_INFINITY || t == PLUS_INFINITY { Value::Null } else { write_time(t) }
}
