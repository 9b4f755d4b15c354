//! A processor worked out row by row, without batches, runs, queues or calls: what the operator is held against.
//!
//! It knows every key for ever, keeps its state as plain values, and looks through everything that is set whenever
//! something may be due.

use std::collections::BTreeMap;

use tidegate_types::time::is_record_time;
use tidegate_types::{EventTime, NO_CLOCK};

use super::bench::{Event, Letter, Line, Row, encoded};
use super::script::{Op, Outcome, REMIND, SECOND, Ttls, View, WALL, on_row, on_timer};

const NAMES: [&str; 3] = ["remind", "second", "wall"];

#[derive(Debug, Clone, Default)]
struct Key {
    total: Option<i64>,
    list: Vec<(i64, Option<String>)>,
    tags: BTreeMap<String, i64>,
    timers: [Option<EventTime>; 3],
    latest: Option<EventTime>,
}

pub(super) struct Model {
    ttls: Ttls,
    keys: BTreeMap<Vec<u8>, (String, Key)>,
    watermark: i64,
    clock: EventTime,
    pub(super) lines: Vec<Line>,
    pub(super) letters: Vec<Letter>,
    pub(super) accepted: u64,
}

impl View for Key {
    fn total(&mut self) -> Option<i64> {
        self.total
    }

    fn put_total(&mut self, total: i64) {
        self.total = Some(total);
    }

    fn list(&mut self) -> Vec<(i64, Option<String>)> {
        self.list.clone()
    }

    fn append(&mut self, n: i64, text: Option<&str>) {
        self.list.push((n, text.map(str::to_owned)));
    }

    fn tag(&mut self, tag: &str) -> Option<i64> {
        self.tags.get(tag).copied()
    }

    fn put_tag(&mut self, tag: &str, n: i64) {
        self.tags.insert(tag.to_owned(), n);
    }

    fn remove_tag(&mut self, tag: &str) {
        self.tags.remove(tag);
    }

    fn tags(&mut self) -> Vec<(String, i64)> {
        self.tags.clone().into_iter().collect()
    }

    fn clear(&mut self, state: u32) {
        match state {
            0 => self.total = None,
            1 => self.list.clear(),
            _ => self.tags.clear(),
        }
    }

    fn set(&mut self, timer: u32, time: EventTime) {
        self.timers[usize::try_from(timer).expect("few")] = Some(time);
    }

    fn unset(&mut self, timer: u32) {
        self.timers[usize::try_from(timer).expect("few")] = None;
    }
}

impl Key {
    fn holds(&self, state: usize) -> bool {
        match state {
            0 => self.total.is_some(),
            1 => !self.list.is_empty(),
            _ => !self.tags.is_empty(),
        }
    }

    fn is_bare(&self) -> bool {
        (0..3).all(|state| !self.holds(state)) && self.timers.iter().all(Option::is_none)
    }

    /// What is due: in order of time, then state `0..3`, then timer `3..6`.
    fn due(&self, ttls: &Ttls, watermark: i64, clock: EventTime) -> Option<(EventTime, usize)> {
        let mut due = Vec::new();
        for (state, ttl) in ttls.iter().enumerate() {
            if let (Some(ttl), Some(latest), true) = (ttl, self.latest, self.holds(state)) {
                due.push((latest.saturating_add(*ttl), state));
            }
        }
        for timer in [REMIND, SECOND] {
            let timer = usize::try_from(timer).expect("few");
            due.extend(self.timers[timer].map(|time| (time, 3 + timer)));
        }
        let event = due.into_iter().filter(|(time, _)| *time <= watermark).min();
        let wall = usize::try_from(WALL).expect("few");
        let processing = self.timers[wall].filter(|time| clock != NO_CLOCK && *time <= clock);
        event.or(processing.map(|time| (time, 3 + wall)))
    }
}

impl Model {
    pub(super) fn new(ttls: Ttls) -> Self {
        Self {
            ttls,
            keys: BTreeMap::new(),
            watermark: i64::MIN,
            clock: NO_CLOCK,
            lines: Vec::new(),
            letters: Vec::new(),
            accepted: 0,
        }
    }

    /// Keys with state or timers.
    pub(super) fn keys(&self) -> usize {
        self.keys.values().filter(|(_, key)| !key.is_bare()).count()
    }

    pub(super) fn event(&mut self, event: &Event) {
        let from = self.lines.len();
        match event {
            Event::Rows(rows) => rows.iter().for_each(|row| self.row(row)),
            Event::Move(watermark, clock) => self.advance((*watermark).max(self.watermark), (*clock).max(self.clock)),
        }
        self.lines[from..].sort_by_key(|line| encoded(&line.key));
    }

    fn row(&mut self, row: &Row) {
        let place = encoded(&row.key);
        let (name, mut key) = self.keys.get(&place).cloned().unwrap_or((row.key.clone(), Key::default()));
        let reason = match on_row(&mut key, Op::of(row.op), row.v, row.time) {
            Outcome::Rejects => Some("no"),
            Outcome::Fails => Some("trap"),
            Outcome::Emits(emits) if emits.iter().any(|(_, own)| own.is_some_and(|own| !is_record_time(own))) => {
                Some("bad-time")
            }
            Outcome::Emits(emits) => {
                let (watermark, clock) = (self.watermark, self.clock);
                self.emit(&name, emits, row.time, watermark, clock);
                None
            }
        };
        if let Some(reason) = reason {
            self.letters.push(Letter { reason: reason.into(), row: Some(row.id), timer: None });
            return;
        }
        self.accepted += 1;
        key.latest = key.latest.max(Some(row.time));
        self.keys.insert(place.clone(), (name, key));
        let (watermark, clock) = (self.watermark, self.clock);
        let mut fired = 0;
        self.fire(&place, watermark, clock, None, &mut fired);
    }

    fn emit(
        &mut self,
        key: &str,
        emits: Vec<(String, Option<EventTime>)>,
        time: EventTime,
        watermark: i64,
        emitted_at: EventTime,
    ) {
        for (text, own) in emits {
            let time = own.unwrap_or(time);
            self.lines.push(Line { key: key.to_owned(), text, time, watermark, emitted_at });
        }
    }

    fn advance(&mut self, watermark: i64, clock: EventTime) {
        let (old_watermark, old_clock) = (self.watermark, self.clock);
        (self.watermark, self.clock) = (watermark, clock);
        for place in self.keys.keys().cloned().collect::<Vec<_>>() {
            let mut fired = 0;
            if clock > old_clock {
                self.fire(&place, old_watermark, clock - 1, Some(old_clock), &mut fired);
                self.fire(&place, watermark, clock - 1, None, &mut fired);
            }
            self.fire(&place, watermark, clock, None, &mut fired);
        }
    }

    /// Works off what is due for a key. `on_the_way`: the clock of before, where instants before the new one are due.
    fn fire(&mut self, place: &[u8], watermark: i64, clock: EventTime, on_the_way: Option<EventTime>, fired: &mut u32) {
        let mut instant = on_the_way;
        loop {
            let (name, key) = self.keys[place].clone();
            let Some((time, what)) = key.due(&self.ttls, watermark, clock) else { return };
            *fired += 1;
            assert!(*fired < 20_000, "the script has no loops");
            if what < 3 {
                self.change(place, |key| key.clear(u32::try_from(what).expect("few")));
                continue;
            }
            let timer = what - 3;
            self.change(place, |key| key.timers[timer] = None);
            if timer == 2 {
                instant = instant.map(|instant| instant.max(time));
            }
            let mut changed = self.keys[place].1.clone();
            match on_timer(&mut changed, u32::try_from(timer).expect("few"), time) {
                Outcome::Emits(emits) => {
                    if timer < 2 {
                        changed.latest = changed.latest.max(Some(time));
                    }
                    self.change(place, |key| *key = changed);
                    let emitted_at = instant.unwrap_or(self.clock);
                    self.emit(&name, emits, time, watermark, emitted_at);
                }
                _ => {
                    let timer = Some((name, NAMES[timer].to_owned(), time));
                    self.letters.push(Letter { reason: "timer-failed".into(), row: None, timer });
                }
            }
        }
    }

    fn change(&mut self, place: &[u8], change: impl FnOnce(&mut Key)) {
        change(&mut self.keys.get_mut(place).expect("a key that fires is known").1);
    }
}
