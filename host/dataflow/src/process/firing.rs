//! What has fallen due, key by key: after a move of the watermark or the clock, or right behind the rows of a run.
//!
//! Each key goes through its own timers and expiries in order; a round makes one call for the next timer of many keys.
//! Rows come out in the order of the events that caused them and of the keys' encodings, so those of keys behind the first
//! are held back. When much is held, the first key goes on alone: what is held stays bounded, however often keys fire.

use std::collections::VecDeque;

use tidegate_types::batch::index;
use tidegate_types::hooks::TimerClock;
use tidegate_types::{Batch, EventTime, Watermark};

use super::ProcessOperator;
use super::keys::KeyId;
use super::output::{Held, RunOutput, Turn, encoded_key};
use super::run::Run;
use super::store::{Due, PendingTimer, Reach};
use crate::OperatorError;
use crate::operator::{OperatorOutput, RECORDS_BEFORE_PAUSE};

/// How often the timers of a key may fire at one event without getting any further: after that the timer is taken away.
pub(super) const LOOP_LIMIT: u32 = 1_000;

/// What has fallen due and is not worked off yet.
#[derive(Debug)]
pub(super) struct Firing {
    /// Up to where things are due, step by step: on the clock's way come the instants before the new one, under the watermark
    /// of before; then the new watermark; then the new instant.
    steps: Vec<Reach>,
    /// The keys that are not begun, in the order of their encodings, and the event.
    waiting: std::vec::IntoIter<KeyId>,
    position: u32,
    /// The clock before the event.
    before: EventTime,
    /// The keys in hand, in the order of their output.
    pub(super) keys: VecDeque<FiringKey>,
    /// Rows held by them.
    held: usize,
}

/// A key in hand.
#[derive(Debug)]
pub(super) struct FiringKey {
    pub(super) key: KeyId,
    /// Empty where no operator reads the rows.
    encoded: Box<[u8]>,
    position: u32,
    /// Whether more may be due.
    live: bool,
    step: usize,
    /// The timer that fired last, and how many did without getting any further.
    last: Option<PendingTimer>,
    loops: u32,
    /// The clock at the last instant before the new one that fired a timer.
    instant: EventTime,
    rows: Vec<Held>,
}

/// A timer that is to fire.
#[derive(Debug, Clone, Copy)]
pub(super) struct Firer {
    /// The key's place among those in hand.
    pub(super) at: usize,
    pub(super) key: KeyId,
    pub(super) timer: PendingTimer,
    pub(super) reach: Reach,
    pub(super) emitted_at: EventTime,
}

impl FiringKey {
    fn new(key: KeyId, encoded: Box<[u8]>, position: u32, instant: EventTime) -> Self {
        Self { key, encoded, position, live: false, step: 0, last: None, loops: 0, instant, rows: Vec::new() }
    }

    /// Whether the timer may fire: it is later than the last one, or that has not happened too often.
    fn may_fire(&mut self, timer: PendingTimer, reach: Reach) -> bool {
        let ends = timer.clock == TimerClock::Event && reach.watermark == Watermark::MAX;
        let is_further = |last: PendingTimer| last.clock == timer.clock && last.time < timer.time && !ends;
        if self.last.is_some_and(|last| !is_further(last)) {
            self.loops += 1;
            if self.loops > LOOP_LIMIT {
                return false;
            }
        }
        self.last = Some(timer);
        true
    }
}

impl Firing {
    /// What rows of a run made due at once. `live`: the keys' numbers in the run.
    pub(super) fn behind_run(run: &Run, live: &[u32], output: RunOutput, here: Reach, batch: &Batch) -> Self {
        let mut places = hashbrown::HashMap::new();
        let mut keys: Vec<FiringKey> = Vec::new();
        let mut place = |position: u32, group: u32, encoded: Box<[u8]>, keys: &mut Vec<FiringKey>| {
            *places.entry((position, group)).or_insert_with(|| {
                keys.push(FiringKey::new(run.keys[index(group)], encoded, position, here.clock));
                keys.len() - 1
            })
        };
        let mut held = 0;
        for (position, group, encoded, row) in output.hold() {
            let at = place(position, group, encoded, &mut keys);
            keys[at].rows.push(row);
            held += 1;
        }
        for row in run.rows.iter().filter(|row| live.binary_search(&row.group).is_ok()) {
            let encoded = encoded_key(batch, row.row).into();
            let at = place(batch.positions[index(row.row)], row.group, encoded, &mut keys);
            keys[at].live = true;
        }
        keys.sort_by(|a, b| (a.position, &a.encoded).cmp(&(b.position, &b.encoded)));
        let (waiting, before) = (Vec::new().into_iter(), here.clock);
        Self { steps: vec![here], waiting, position: 0, before, keys: keys.into(), held }
    }

    /// Puts out the rows of the keys that are done, and of the first that is not.
    fn take_turns(&mut self, turn: &mut Turn) {
        while let Some(first) = self.keys.front_mut() {
            for held in std::mem::take(&mut first.rows) {
                turn.push(&held, first.position, &first.encoded);
                self.held -= 1;
            }
            if first.live {
                return;
            }
            self.keys.pop_front();
        }
    }

    /// Holds a row until the turn of its key.
    pub(super) fn hold(&mut self, at: usize, row: Held) {
        self.keys[at].rows.push(row);
        self.held += 1;
    }
}

impl ProcessOperator {
    /// Moves the watermark and the clock at the event of this position. What falls due is in `firing` afterwards.
    pub(super) fn advance(&mut self, watermark: Watermark, clock: EventTime, position: u32) {
        let before = self.reach();
        let after = Reach { watermark: watermark.max(before.watermark), clock: clock.max(before.clock) };
        let mut steps = Vec::with_capacity(3);
        if after.clock > before.clock {
            steps.push(Reach { clock: after.clock - 1, ..before });
            steps.push(Reach { clock: after.clock - 1, ..after });
        }
        steps.push(after);
        self.watermark = after.watermark;
        self.clock = after.clock;
        let mark = self.next_mark();
        let due = self.store.mark_due(after, mark);
        self.store.expire_others(after.watermark, mark, usize::MAX);
        if !due.is_empty() {
            let (waiting, keys) = (due.into_iter(), VecDeque::new());
            self.firing = Some(Firing { steps, waiting, position, before: before.clock, keys, held: 0 });
        }
    }

    /// Works off a part of what has fallen due: puts out what can be, or makes one more round of calls.
    pub(super) fn fire_some(&mut self, out: &mut OperatorOutput) -> Result<(), OperatorError> {
        let Some(mut firing) = self.firing.take() else { return Ok(()) };
        let mut turn = Turn::new(self.hook.plan().output.len(), self.config.feeds);
        firing.take_turns(&mut turn);
        turn.emit(out);
        self.refill(&mut firing);
        if firing.keys.is_empty() {
            return Ok(());
        }
        if !out.is_full() {
            let due = self.next_timers(&mut firing, out);
            self.fire(&due, &mut firing, out)?;
        }
        self.firing = Some(firing);
        Ok(())
    }

    /// Takes as many keys in hand as one call has.
    fn refill(&self, firing: &mut Firing) {
        while firing.keys.len() < self.timer_pacer.rows() {
            let Some(key) = firing.waiting.next() else { return };
            let encoded = if self.config.feeds { self.store.keys.encoded(key).into() } else { Box::default() };
            let mut next = FiringKey::new(key, encoded, firing.position, firing.before);
            next.live = true;
            firing.keys.push_back(next);
        }
    }

    /// The next timer of each key in hand, as many as one call has; only of the first key if much is held behind it.
    fn next_timers(&mut self, firing: &mut Firing, out: &mut OperatorOutput) -> Vec<Firer> {
        let most = if firing.held > RECORDS_BEFORE_PAUSE { 1 } else { self.timer_pacer.rows() };
        let mut due = Vec::new();
        for at in 0..firing.keys.len() {
            if due.len() == most || (at > 0 && most == 1) {
                break;
            }
            if firing.keys[at].live {
                due.extend(self.next_timer(firing, at, out));
            }
        }
        due
    }

    /// The next timer of a key, once the expiries before it are done. None: the key is done.
    fn next_timer(&mut self, firing: &mut Firing, at: usize, out: &mut OperatorOutput) -> Option<Firer> {
        let in_hand = &mut firing.keys[at];
        let key = in_hand.key;
        while let Some(reach) = firing.steps.get(in_hand.step).copied() {
            match self.store.next_due(key, reach) {
                Some(Due::Expiry) => self.store.expire(key),
                Some(Due::Timer(timer)) => {
                    self.store.take_timer(key, timer.timer);
                    if !in_hand.may_fire(timer, reach) {
                        self.report_loop(key, timer, out);
                        continue;
                    }
                    let is_on_the_way = in_hand.step == 0 && firing.steps.len() > 1;
                    if is_on_the_way && timer.clock == TimerClock::Processing {
                        in_hand.instant = in_hand.instant.max(timer.time);
                    }
                    let emitted_at = if is_on_the_way { in_hand.instant } else { self.clock };
                    return Some(Firer { at, key, timer, reach, emitted_at });
                }
                None => in_hand.step += 1,
            }
        }
        in_hand.live = false;
        self.store.settle(key, self.watermark);
        None
    }
}
