//! Processors: a keyed function with state and timers. The function is that of the test guest `scripted-processor`, which
//! does what its `config` says.
//!
//! Invariant: between calls nothing that a key holds is past its time, and no timer is due.

use std::collections::BTreeMap;

use super::MINUS_INFINITY;
use super::graph::{Desk, Operator, Refusal, Row, instant};
use crate::json::Value;
use crate::time::Time;

const EVENT: usize = 0;
const PROCESSING: usize = 1;

pub(super) struct Process {
    desk: Desk,
    keys: BTreeMap<Vec<Value>, Key>,
}

/// What a key holds.
#[derive(Clone)]
struct Key {
    latest: Time, // "the largest event time of the key's accepted rows, and of its event timers that fired … ever"
    seen: Option<Seen>,
    values: Vec<i64>,
    by_value: BTreeMap<i64, i64>,
    timers: [Option<Time>; 2],
}

#[derive(Clone)]
struct Seen {
    k: Value,
    rows: i64,
    fired: i64,
}

impl Key {
    fn new() -> Self {
        let (values, by_value) = (Vec::new(), BTreeMap::new());
        Key { latest: MINUS_INFINITY, seen: None, values, by_value, timers: [None; 2] }
    }
}

impl Process {
    pub(super) fn new(desk: Desk) -> Self {
        Process { desk, keys: BTreeMap::new() }
    }

    fn script(&self, name: &str) -> Option<i64> {
        self.desk.spec.0.at("process.config").get(name).as_int()
    }

    fn delay(&self, name: &str) -> Option<Time> {
        self.script(name).map(Time::from)
    }

    /// One row, as the guest works on it.
    fn process(&mut self, name: &[Value], key: &mut Key, row: &Row) -> Result<(), &'static str> {
        let (k, v) = (row.fields.get("k"), row.fields.get("v"));
        // A hook reads fields of a kind.
        if !(k.is_null() || k.as_str().is_some()) || !(v.is_null() || v.as_int().is_some()) {
            return Err("type-mismatch");
        }
        let v = v.as_int();
        key.latest = key.latest.max(row.time);
        let rows = key.seen.as_ref().map_or(0, |seen| seen.rows) + 1;
        key.seen = Some(Seen { k: k.clone(), rows, fired: 0 });
        let mut like = 0;
        if let Some(v) = v {
            like = key.by_value.get(&v).copied().unwrap_or(0) + 1;
            key.values.push(v);
            key.by_value.insert(v, like);
        }
        for (timer, delay) in [(EVENT, self.delay("event")), (PROCESSING, self.delay("processing"))] {
            key.timers[timer] = delay.map(|delay| row.time + delay).or(key.timers[timer]);
        }
        let is = |name: &str| v.is_some() && v == self.script(name);
        if is("reject") {
            return Err("refused");
        }
        let (forget, silent) = (is("forget"), is("silent"));
        if !silent {
            self.emit(name, key, "row", like, row.time);
        }
        if forget {
            *key = Key { latest: key.latest, ..Key::new() };
        }
        Ok(())
    }

    /// A timer that is due, as the guest works on it.
    fn fire(&mut self, name: &[Value], key: &mut Key, timer: usize, time: Time) {
        key.timers[timer] = None;
        if timer == PROCESSING {
            return self.emit(name, key, "processing", 0, time);
        }
        key.latest = key.latest.max(time);
        self.emit(name, key, "event", 0, time);
        let again = self.script("again").unwrap_or(0);
        if let (Some(seen), Some(delay)) = (&mut key.seen, self.delay("event"))
            && seen.fired < again
        {
            seen.fired += 1;
            key.timers[EVENT] = Some(time + delay);
        }
    }

    fn emit(&mut self, name: &[Value], key: &Key, what: &str, like: i64, time: Time) {
        let fields = [
            ("k", key.seen.as_ref().map_or(Value::Null, |seen| seen.k.clone())),
            ("what", what.into()),
            ("rows", key.seen.as_ref().map_or(0, |seen| seen.rows).into()),
            ("total", key.values.iter().sum::<i64>().into()),
            ("like", like.into()),
            ("distinct", Value::int(key.by_value.len())),
        ];
        let time = time + self.delay("shift").unwrap_or(0);
        let about = [("time", instant(time)), ("watermark", instant(self.desk.watermark))];
        let line = Value::obj(fields.iter().cloned().chain(about));
        let row = Row { time, fields: Value::obj(fields), line, place: None, clock: self.desk.clock };
        self.desk.emitted.push((name.to_vec(), row));
    }

    /// "What is due for one key happens in order of event time: at one time expiries first, then timers"; "Timers that follow
    /// the clock come after all that the watermark has made due".
    fn settle(&mut self, name: &[Value], key: &mut Key) {
        loop {
            let of = |ttl: &str, holds: bool| Some(key.latest + self.delay(ttl)?).filter(|_| holds);
            let seen = of("seen_ttl", key.seen.is_some());
            let rest = of("ttl", !key.values.is_empty() || !key.by_value.is_empty());
            let due = [seen, rest, key.timers[EVENT]];
            let reached = |at: &Time| *at <= self.desk.watermark;
            let first = (0..3).filter(|n| due[*n].as_ref().is_some_and(reached)).min_by_key(|n| (due[*n], *n));
            let clock = key.timers[PROCESSING].filter(|at| Some(*at) <= self.desk.clock);
            match (first, clock) {
                (Some(0), _) => key.seen = None,
                (Some(1), _) => (key.values, key.by_value) = Default::default(),
                (Some(_), _) => self.fire(name, key, EVENT, due[2].expect("it is due")),
                (None, Some(at)) => self.fire(name, key, PROCESSING, at),
                (None, None) => break,
            }
        }
    }

    /// No key is forgotten: its latest time matters to what it holds later.
    fn settle_all(&mut self) {
        for (name, mut key) in std::mem::take(&mut self.keys) {
            self.settle(&name, &mut key);
            self.keys.insert(name, key);
        }
    }
}

impl Operator for Process {
    fn desk(&mut self) -> &mut Desk {
        &mut self.desk
    }

    fn take(&mut self, _input: usize, row: Row) -> Result<(), Refusal> {
        let name = self.desk.spec.key("key_by", &row.fields);
        let mut key = self.keys.get(&name).cloned().unwrap_or_else(Key::new);
        self.process(&name, &mut key, &row).map_err(|reason| self.desk.refusal(reason))?;
        self.desk.count("accepted");
        self.settle(&name, &mut key);
        self.keys.insert(name, key);
        Ok(())
    }

    /// "first the timers of the instants before it, under the watermark of before; then what the new watermark makes due; then
    /// the instant itself"
    fn advance(&mut self, watermark: Time, clock: Option<Time>) {
        let before = |own: &Self| own.keys.values().filter_map(|key| key.timers[PROCESSING]).min();
        while let Some(due) = before(self).filter(|due| Some(*due) < clock) {
            self.desk.clock = Some(due);
            self.settle_all();
        }
        self.desk.clock = self.desk.clock.max(clock);
        self.desk.watermark = self.desk.watermark.max(watermark);
        self.settle_all();
    }

    fn claim(&self) -> Time {
        self.desk.watermark
    }

    fn unshown(&self) -> usize {
        0
    }
}
