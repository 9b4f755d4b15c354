//! Sections 3 and 4: assigning, judging, firing and purging, one record and one advance of the watermark at a time.
//!
//! Invariant: between calls every kept window has `end + L > W`.

use std::collections::BTreeMap;

use super::aggregate::refusal;
use super::pipeline::Trigger;
use super::{MINUS_INFINITY, PLUS_INFINITY, Record, Run};
use crate::json::Value;
use crate::time::{Time, write_time};

/// The state of one key.
#[derive(Default)]
pub(super) struct Key {
    windows: Vec<Window>,
    /// Identities accepted, each with the event time of the last accepted record.
    identities: BTreeMap<Value, Time>,
}

#[derive(Clone)]
struct Window {
    start: Time,
    end: Time,
    /// Accepted records, by their place in the order of arrival; `new` are those since the last pane.
    records: Vec<usize>,
    new: Vec<usize>,
    index: usize,
    /// Panes to retract before the next one, with the bounds of the windows that they showed.
    standing: Vec<(Time, Time, Value)>,
}

impl Window {
    fn new(start: Time, end: Time) -> Self {
        Window { start, end, records: Vec::new(), new: Vec::new(), index: 0, standing: Vec::new() }
    }
}

/// The windows that a record would go to.
struct Assigned {
    /// Each as it would be, the record not yet in it.
    open: Vec<Window>,
    /// Bounds of the kept windows that these replace.
    replaced: Vec<(Time, Time)>,
    some_gone: bool,
}

impl Run<'_> {
    /// "2. too late? 3. duplicate? 4. assign and accumulate."
    pub(super) fn judge(&mut self, row: Value, time: Time) -> Result<(), &'static str> {
        let name = self.pipeline.key_of(&row);
        let mut key = self.keys.remove(&name).unwrap_or_default();
        let verdict = self.judge_in(&name, &mut key, row, time);
        self.keys.insert(name, key);
        verdict
    }

    fn judge_in(&mut self, name: &[Value], key: &mut Key, row: Value, time: Time) -> Result<(), &'static str> {
        let mut assigned = self.assign(&key.windows, time);
        // "A record all of whose windows are gone is *too late*"
        if assigned.open.is_empty() {
            return Err("too-late");
        }
        let identity = row.get(self.pipeline.text("dedup.field")).clone(); // null without `dedup`
        // "accepted before, at event time `t0` (the last accepted one's), is a duplicate while `W < t0 + h`"
        let known = key.identities.get(&identity);
        if known.is_some_and(|t0| self.watermark < t0 + self.pipeline.required("dedup.horizon")) {
            return Err("duplicate");
        }
        let accumulators: Vec<Vec<&Record>> = assigned.open.iter().map(|w| self.contents(w)).collect();
        if let Some(reason) = refusal(&self.pipeline.aggregates(), &row, &accumulators) {
            return Err(reason);
        }
        if !identity.is_null() {
            key.identities.insert(identity, time);
        }
        self.count("accepted");
        if assigned.some_gone {
            self.count("partly_late");
        }
        key.windows.retain(|w| !assigned.replaced.contains(&(w.start, w.end)));
        assigned.open.sort_by_key(|w| (w.end, w.start));
        for window in &mut assigned.open {
            window.records.push(self.accepted.len());
            window.new.push(self.accepted.len());
        }
        self.accepted.push(Record { time, row, shown: false });
        for mut window in assigned.open {
            self.fire_for_record(name, &mut window);
            key.windows.push(window);
        }
        Ok(())
    }

    /// "when a window's count of records that no pane has shown reaches `N`"; "each accumulated record gives one `LATE`
    /// pane at once".
    fn fire_for_record(&mut self, name: &[Value], window: &mut Window) {
        let early = self.watermark < window.end;
        if matches!(self.pipeline.trigger(early), Trigger::Elements(n) if window.new.len() >= n) {
            self.pane(name, window, if early { "EARLY" } else { "LATE" });
        }
    }

    /// `discarding`: "the records since the last pane"; otherwise "all records of the window so far".
    fn contents(&self, window: &Window) -> Vec<&Record> {
        let discarding = self.pipeline.text("accumulation") == "discarding";
        let places = if discarding { &window.new } else { &window.records };
        places.iter().map(|place| &self.accepted[*place]).collect()
    }

    /// "a window with `end + L <= W` is gone"
    fn gone(&self, end: Time) -> bool {
        end + self.pipeline.lateness() <= self.watermark
    }

    fn assign(&self, kept: &[Window], t: Time) -> Assigned {
        let bounds = match self.pipeline.text("window.type") {
            "session" => return self.assign_session(kept, t),
            "global" => vec![(MINUS_INFINITY, PLUS_INFINITY)],
            kind => {
                let s = self.pipeline.required("window.size");
                let p = if kind == "sliding" { self.pipeline.required("window.slide") } else { s }; // tumbling: one each `s`
                let o = self.pipeline.duration("window.offset").unwrap_or(0);
                // "every `start ≡ o (mod p)` with `start <= t < start + s`", the last one first
                let last = (t - o).div_euclid(p) * p + o;
                (0..).map(|i| last - i * p).take_while(|start| t < start + s).map(|start| (start, start + s)).collect()
            }
        };
        let replaced: Vec<_> = bounds.iter().copied().filter(|(_, end)| !self.gone(*end)).collect();
        let found = |(start, end): &(Time, Time)| kept.iter().find(|w| (w.start, w.end) == (*start, *end)).cloned();
        let open = replaced.iter().map(|b| found(b).unwrap_or_else(|| Window::new(b.0, b.1))).collect();
        Assigned { open, some_gone: replaced.len() < bounds.len(), replaced }
    }

    /// "first `[t, t + g)`, then merged with every kept window of the same key that it overlaps … in order of start, then
    /// end, and each that overlaps is merged unless the merged window so far would last longer than `m`".
    fn assign_session(&self, kept: &[Window], t: Time) -> Assigned {
        let (gap, max) = (self.pipeline.required("window.gap"), self.pipeline.duration("window.max_duration"));
        let mut in_order: Vec<&Window> = kept.iter().collect();
        in_order.sort_by_key(|w| (w.start, w.end));
        let (mut start, mut end, mut parts) = (t, t + gap, Vec::new());
        for w in in_order {
            let (merged_start, merged_end) = (start.min(w.start), end.max(w.end));
            let overlaps = t < w.end && w.start < t + gap;
            if overlaps && max.is_none_or(|max| merged_end - merged_start <= max) {
                (start, end) = (merged_start, merged_end);
                parts.push(w);
            }
        }
        // "For sessions the window after merging is what is judged".
        let some_gone = self.gone(end);
        let mut merged = Window::new(start, end);
        for part in &parts {
            merged.records.extend(&part.records);
            merged.new.extend(&part.new); // "the counts of unshown records add up"
            merged.standing.extend(part.standing.iter().cloned());
            if (part.start, part.end) == (start, end) {
                merged.index = part.index; // it "keeps its identity and its pane count"
            }
        }
        // Merged by order of arrival, so that ties of `first` and `last` are.
        merged.records.sort_unstable();
        merged.new.sort_unstable();
        let replaced = parts.iter().map(|w| (w.start, w.end)).collect();
        Assigned { open: if some_gone { Vec::new() } else { vec![merged] }, replaced, some_gone }
    }

    /// One advance of the watermark: on-time panes, last late panes, purges.
    pub(super) fn advance(&mut self, to: Time) {
        let from = self.watermark;
        if to <= from {
            return; // it "never moves backwards"
        }
        self.watermark = to;
        self.for_each_window(|run, name, window| {
            // A global window fires "at the end of a bounded input one `ON_TIME` pane if there is anything new".
            let due = window.end < PLUS_INFINITY || !window.new.is_empty();
            if from < window.end && window.end <= to && due {
                run.pane(name, window, "ON_TIME");
            }
            // "if records came since the last pane, one last `LATE` pane (`is_last` true) is emitted at the purge"
            let timed = matches!(run.pipeline.trigger(false), Trigger::ProcessingTime(_));
            if window.end <= from && run.gone(window.end) && timed && !window.new.is_empty() {
                run.pane(name, window, "LATE");
            }
        });
        let lateness = self.pipeline.lateness();
        self.keys.values_mut().for_each(|key| key.windows.retain(|w| w.end + lateness > to));
    }

    /// The intervals of the processing-time triggers.
    pub(super) fn intervals(&self) -> Vec<Time> {
        let interval = |t| if let Trigger::ProcessingTime(n) = t { Some(n) } else { None };
        [true, false].into_iter().filter_map(|early| interval(self.pipeline.trigger(early))).collect()
    }

    /// "at every processing time that is a multiple of `N` (epoch-aligned), one … pane for each window that has new
    /// records since its last pane".
    pub(super) fn processing_time_firings(&mut self, now: Time) {
        self.for_each_window(|run, name, window| {
            let early = run.watermark < window.end;
            let due = matches!(run.pipeline.trigger(early), Trigger::ProcessingTime(n) if now.rem_euclid(n) == 0);
            if due && !window.new.is_empty() {
                run.pane(name, window, if early { "EARLY" } else { "LATE" });
            }
        });
    }

    /// "Windows of one key that fire together, whatever the cause and timing, fire in order of `end`, then `start`."
    fn for_each_window(&mut self, mut act: impl FnMut(&mut Self, &[Value], &mut Window)) {
        let mut keys = std::mem::take(&mut self.keys);
        for (name, key) in &mut keys {
            key.windows.sort_by_key(|w| (w.end, w.start));
            key.windows.iter_mut().for_each(|window| act(self, name, window));
        }
        self.keys = keys;
    }

    /// Emits one pane, after the retractions that it calls for.
    fn pane(&mut self, name: &[Value], window: &mut Window, timing: &'static str) {
        let records = self.contents(window);
        let mut line = BTreeMap::from([
            ("window_start".to_owned(), instant(window.start)),
            ("window_end".to_owned(), instant(window.end)),
            ("watermark".to_owned(), instant(self.watermark)),
        ]);
        let fields = self.pipeline.0.get("key_by").items().iter().filter_map(Value::as_str).map(str::to_owned);
        line.extend(fields.zip(name.iter().cloned()));
        line.extend(self.pipeline.aggregates().into_iter().map(|a| (a.name.clone(), a.value(&records))));
        let pane = [
            ("timing", Value::from(timing)),
            ("index", Value::int(window.index)),
            ("is_last", Value::Bool(self.gone(window.end))), // "exactly `W >= end + L` at the firing"
        ];
        line.insert("pane".to_owned(), Value::obj(pane));
        let line = Value::Obj(line);
        // "all are retracted, in order of start, right before its first pane"; of one window only the previous pane stands
        window.standing.sort_by_key(|(start, end, _)| (*start, *end));
        for (_, _, earlier) in window.standing.drain(..) {
            let Value::Obj(mut retraction) = earlier else { unreachable!("panes are objects") };
            retraction.insert("op".to_owned(), Value::from("retract")); // "unchanged, … with `"op": "retract"` added"
            self.out.lines.entry("output").or_default().push(Value::Obj(retraction));
            *self.counts.entry("retractions").or_default() += 1;
        }
        if self.pipeline.text("accumulation") == "accumulating_and_retracting" {
            window.standing.push((window.start, window.end, line.clone()));
        }
        self.out.lines.entry("output").or_default().push(line);
        self.count(timing);
        window.new.drain(..).for_each(|place| self.accepted[place].shown = true);
        window.index += 1;
    }
}

/// A time of an output line; null for both infinities, as for the bounds of a global window.
fn instant(t: Time) -> Value {
    if t == MINUS_INFINITY || t == PLUS_INFINITY { Value::Null } else { write_time(t) }
}
