//! The state and the timers of a processor's keys, and what falls due of them.
//!
//! During a call the guest's writes are made in place, and `journal` has the way back: a call that failed, or that was
//! made on rows that turned out not to belong together, is taken back whole (`roll_back`). Timers join the queues only
//! when the call is published (`commit`). Invariant: between two calls each pending timer stands in its queue, and each
//! key that an expiry awaits stands among the expiries at or before it.

use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Unbounded};

use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::{ProcessPlan, StateShape, TimerClock};
use tidegate_types::{EventTime, NO_CLOCK, Watermark};

use super::cell::{Cell, Weight, of_tree};
use super::keys::{KeyId, KeyTable};
use super::rows::RowShape;

/// Up to where something is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) watermark: Watermark,
    /// Or [`NO_CLOCK`].
    pub(super) clock: EventTime,
}

/// The next thing that is due for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// States whose time to live has passed.
    Expiry,
    /// A timer.
    Timer(PendingTimer),
}

/// A timer that is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PendingTimer {
    pub(super) timer: u32,
    pub(super) clock: TimerClock,
    pub(super) time: EventTime,
}

/// One state of the plan.
#[derive(Debug)]
pub(super) struct State {
    pub(super) name: String,
    pub(super) shape: StateShape,
    pub(super) rows: RowShape,
    ttl: Option<i64>,
}

/// One thing to take back.
#[derive(Debug)]
pub(super) enum Undo {
    /// The cell was this.
    Cell(usize, Cell),
    /// The list was so long: bytes and rows.
    List(usize, usize, u32),
    /// The map had this under this map key.
    Entry(usize, Box<[u8]>, Option<Box<[u8]>>),
    /// The timer was set to this.
    Timer(usize, Option<EventTime>),
}

type Queue = BTreeSet<(EventTime, KeyId, u32)>;

#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) states: Vec<State>,
    pub(super) clocks: Vec<TimerClock>,
    /// The shortest and the longest time to live, if any state has one.
    ttls: Option<(i64, i64)>,
    pub(super) keys: KeyTable,
    /// One per key and state.
    pub(super) cells: Vec<Cell>,
    /// One per key and timer.
    pub(super) pending: Vec<Option<EventTime>>,
    event: Queue,
    processing: Queue,
    expiries: BTreeSet<(EventTime, KeyId)>,
    pub(super) weight: Weight,
    /// The keys of the call, by their number in it.
    pub(super) call_keys: Vec<KeyId>,
    /// Whether the call set a timer of the key that was due at once.
    pub(super) early: Vec<bool>,
    /// What is due during the call.
    pub(super) reach: Option<Reach>,
    pub(super) journal: Vec<Undo>,
    weight_before: Weight,
    /// The bytes that the call wrote.
    pub(super) written: usize,
}

impl Store {
    pub(super) fn new(plan: &ProcessPlan) -> Self {
        let state = |spec: &tidegate_types::hooks::StateSpec| State {
            name: spec.name.clone(),
            shape: spec.shape,
            rows: RowShape::of(&spec.fields),
            ttl: spec.ttl.map(|ttl| ttl.0),
        };
        let ttls = || plan.states.iter().filter_map(|spec| spec.ttl.map(|ttl| ttl.0));
        Self {
            states: plan.states.iter().map(state).collect(),
            clocks: plan.timers.iter().map(|spec| spec.clock).collect(),
            ttls: ttls().min().zip(ttls().max()),
            ..Self::default()
        }
    }

    /// The number of a key, known or new. A new one is forgotten when it is settled without state.
    pub(super) fn find_or_add(&mut self, hash: u64, encoded: &[u8]) -> KeyId {
        let key = self.keys.find_or_add(hash, encoded);
        let room = self.keys.capacity();
        if self.cells.len() < room * self.states.len() {
            self.cells.resize_with(room * self.states.len(), Cell::default);
        }
        if self.pending.len() < room * self.clocks.len() {
            self.pending.resize(room * self.clocks.len(), None);
        }
        key
    }

    pub(super) fn cell_at(&self, key: KeyId, state: usize) -> usize {
        index(key) * self.states.len() + state
    }

    pub(super) fn timer_at(&self, key: KeyId, timer: usize) -> usize {
        index(key) * self.clocks.len() + timer
    }

    /// Starts a call on these keys, at this watermark and clock.
    pub(super) fn begin_call(&mut self, keys: Vec<KeyId>, reach: Reach) {
        self.early.clear();
        self.early.resize(keys.len(), false);
        self.call_keys = keys;
        self.reach = Some(reach);
        self.written = 0;
        self.weight_before = self.weight;
    }

    /// Takes back all that the call wrote; another one may be made on the same keys.
    pub(super) fn roll_back(&mut self) {
        for undo in std::mem::take(&mut self.journal).into_iter().rev() {
            match undo {
                Undo::Cell(at, before) => self.cells[at] = before,
                Undo::List(at, bytes, rows) => {
                    if let Cell::List(list) = &mut self.cells[at] {
                        list.data.truncate(bytes);
                        list.rows = rows;
                    }
                }
                Undo::Entry(at, map_key, before) => {
                    if let Cell::Map(map) = &mut self.cells[at] {
                        map.set(map_key, before);
                    }
                }
                Undo::Timer(at, before) => self.pending[at] = before,
            }
        }
        self.early.iter_mut().for_each(|early| *early = false);
        self.written = 0;
        self.weight = self.weight_before;
    }

    /// Publishes what the call wrote.
    pub(super) fn commit(&mut self) {
        let journal = std::mem::take(&mut self.journal);
        for undo in &journal {
            if let Undo::Timer(at, Some(before)) = undo {
                let (key, timer) = self.timer_of(*at);
                self.queue(timer).remove(&(*before, key, timer));
            }
        }
        for undo in &journal {
            match undo {
                Undo::Timer(at, _) => {
                    if let Some(time) = self.pending[*at] {
                        let (key, timer) = self.timer_of(*at);
                        self.queue(timer).insert((time, key, timer));
                    }
                }
                Undo::Cell(at, _) | Undo::Entry(at, ..) if self.cells[*at].is_empty() => {
                    self.cells[*at] = Cell::Empty;
                }
                _ => {}
            }
        }
    }

    fn timer_of(&self, at: usize) -> (KeyId, u32) {
        (index32(at / self.clocks.len()), index32(at % self.clocks.len()))
    }

    fn queue(&mut self, timer: u32) -> &mut Queue {
        match self.clocks[index(timer)] {
            TimerClock::Event => &mut self.event,
            TimerClock::Processing => &mut self.processing,
        }
    }

    /// The key has had a row, or an event timer, of this time.
    pub(super) fn raise(&mut self, key: KeyId, time: EventTime) {
        let latest = &mut self.keys.head_mut(key).latest;
        *latest = (*latest).max(Some(time));
    }

    /// When state that a row of this time leaves under the key can expire at the earliest.
    pub(super) fn expiry_after(&self, key: KeyId, time: EventTime) -> Option<EventTime> {
        let (least, _) = self.ttls?;
        let latest = self.keys.head(key).latest.map_or(time, |latest| latest.max(time));
        Some(latest.saturating_add(least))
    }

    /// Whether a pending timer of any key is due.
    pub(super) fn has_due_timer(&self, reach: Reach) -> bool {
        let event = self.event.first().is_some_and(|(time, ..)| reach.watermark.reached(*time));
        let processing = self.processing.first().is_some_and(|(time, ..)| *time <= reach.clock);
        event || (processing && reach.clock != NO_CLOCK)
    }

    /// The time of the next timer that follows the clock.
    pub(super) fn next_instant(&self) -> Option<EventTime> {
        self.processing.first().map(|(time, ..)| *time)
    }

    /// Marks the keys that have a due timer and are not marked so, and returns them in the order of their encodings.
    pub(super) fn mark_due(&mut self, reach: Reach, mark: u64) -> Vec<KeyId> {
        let event = self.event.iter().take_while(|(time, ..)| reach.watermark.reached(*time));
        let processing = self.processing.iter().take_while(|(time, ..)| *time <= reach.clock);
        let mut due = Vec::new();
        for (_, key, _) in event.chain(processing) {
            let head = self.keys.head_mut(*key);
            if head.mark != mark {
                head.mark = mark;
                due.push(*key);
            }
        }
        let keys = &self.keys;
        due.sort_unstable_by(|a, b| keys.encoded(*a).cmp(keys.encoded(*b)));
        due
    }

    /// The next thing that is due for a key: in order of event time, expiries before timers, timers of one time in the order
    /// of the plan; then timers that follow the clock.
    pub(super) fn next_due(&self, key: KeyId, reach: Reach) -> Option<Due> {
        let event = self.next_timer(key, TimerClock::Event).filter(|timer| reach.watermark.reached(timer.time));
        let expiry = self.next_expiry(key).filter(|at| reach.watermark.reached(*at));
        match (expiry, event) {
            (Some(at), event) if event.is_none_or(|event| at <= event.time) => Some(Due::Expiry),
            (_, Some(event)) => Some(Due::Timer(event)),
            (_, None) => {
                let timer = self.next_timer(key, TimerClock::Processing);
                timer.filter(|timer| reach.clock != NO_CLOCK && timer.time <= reach.clock).map(Due::Timer)
            }
        }
    }

    fn next_timer(&self, key: KeyId, clock: TimerClock) -> Option<PendingTimer> {
        let timers = (0..self.clocks.len()).filter(|timer| self.clocks[*timer] == clock);
        let set = timers.filter_map(|timer| {
            let time = self.pending[self.timer_at(key, timer)]?;
            Some(PendingTimer { timer: index32(timer), clock, time })
        });
        set.min_by_key(|timer| timer.time)
    }

    /// Whether a timer of the key is due.
    pub(super) fn is_timer_due(&self, key: KeyId, reach: Reach) -> bool {
        let event = self.next_timer(key, TimerClock::Event).is_some_and(|timer| reach.watermark.reached(timer.time));
        let processing = || self.next_timer(key, TimerClock::Processing);
        event || (reach.clock != NO_CLOCK && processing().is_some_and(|timer| timer.time <= reach.clock))
    }

    /// Takes a pending timer away, because it fires.
    pub(super) fn take_timer(&mut self, key: KeyId, timer: u32) {
        let at = self.timer_at(key, index(timer));
        if let Some(time) = self.pending[at].take() {
            self.queue(timer).remove(&(time, key, timer));
        }
    }

    fn next_expiry(&self, key: KeyId) -> Option<EventTime> {
        let latest = self.keys.head(key).latest?;
        let ttls = self.states.iter().enumerate().filter_map(|(state, spec)| {
            let ttl = spec.ttl?;
            (!self.cells[self.cell_at(key, state)].is_empty()).then_some(ttl)
        });
        ttls.min().map(|ttl| latest.saturating_add(ttl))
    }

    /// Removes the states of a key that the watermark has outlived first.
    pub(super) fn expire(&mut self, key: KeyId) {
        let (Some(latest), Some(at)) = (self.keys.head(key).latest, self.next_expiry(key)) else { return };
        for state in 0..self.states.len() {
            if self.states[state].ttl.is_some_and(|ttl| latest.saturating_add(ttl) <= at) {
                let cell = self.cell_at(key, state);
                self.forget_cell(cell);
            }
        }
    }

    fn forget_cell(&mut self, at: usize) {
        let Weight { rows, bytes } = std::mem::take(&mut self.cells[at]).weight();
        self.weight.rows -= rows;
        self.weight.bytes -= bytes;
    }

    /// After something was published for a key, and no timer of it is due: removes what has expired, forgets the key if
    /// nothing is left of it, or notes when to look again.
    pub(super) fn settle(&mut self, key: KeyId, watermark: Watermark) {
        while self.next_expiry(key).is_some_and(|at| watermark.reached(at)) {
            self.expire(key);
        }
        let next = if self.is_bare(key) {
            let latest = self.keys.head(key).latest;
            let until = latest.zip(self.ttls).map(|(latest, (_, longest))| latest.saturating_add(longest));
            match until.filter(|until| !watermark.reached(*until)) {
                Some(until) => Some(until),
                None => {
                    self.forget(key);
                    return;
                }
            }
        } else {
            self.next_expiry(key)
        };
        let stands = self.keys.head(key).expiry;
        let Some(next) = next.filter(|next| stands.is_none_or(|stands| *next < stands)) else { return };
        if let Some(stands) = stands {
            self.expiries.remove(&(stands, key));
        }
        self.expiries.insert((next, key));
        self.keys.head_mut(key).expiry = Some(next);
    }

    /// Whether a key has neither state nor timers.
    fn is_bare(&self, key: KeyId) -> bool {
        let states = (0..self.states.len()).all(|state| self.cells[self.cell_at(key, state)].is_empty());
        states && (0..self.clocks.len()).all(|timer| self.pending[self.timer_at(key, timer)].is_none())
    }

    fn forget(&mut self, key: KeyId) {
        if let Some(expiry) = self.keys.head(key).expiry {
            self.expiries.remove(&(expiry, key));
        }
        self.keys.remove(key);
        if self.keys.len() == 0 {
            self.give_back();
        }
    }

    /// Gives the memory of the slots back once no key is left; the queues are empty then.
    fn give_back(&mut self) {
        debug_assert!(self.timers() == 0 && self.expiries.is_empty() && self.weight == Weight::default());
        (self.cells, self.pending) = (Vec::new(), Vec::new());
    }

    /// Removes what the watermark has outlived, but for the keys of this mark. False: more than `most` of these stand in the
    /// way, and the rest is left.
    pub(super) fn expire_others(&mut self, watermark: Watermark, mark: u64, most: usize) -> bool {
        let mut passed = 0;
        let mut after = (EventTime::MIN, 0);
        let mut first = self.expiries.first().copied();
        while let Some((at, key)) = first.filter(|(at, _)| watermark.reached(*at)) {
            if self.keys.head(key).mark == mark {
                after = (at, key);
                passed += 1;
            } else {
                self.expiries.remove(&(at, key));
                self.keys.head_mut(key).expiry = None;
                self.settle(key, watermark);
            }
            if passed > most {
                return false;
            }
            first = if passed == 0 {
                self.expiries.first().copied()
            } else {
                self.expiries.range((Excluded(after), Unbounded)).next().copied()
            };
        }
        true
    }

    /// The bytes that all of it takes in memory: what is held, keys, slots (also free ones), and entries of queues.
    pub(super) fn bytes(&self) -> usize {
        let cells = self.cells.capacity() * size_of::<Cell>();
        let pending = self.pending.capacity() * size_of::<Option<EventTime>>();
        let timers = self.timers() * of_tree(size_of::<(EventTime, KeyId, u32)>());
        let expiries = self.expiries.len() * of_tree(size_of::<(EventTime, KeyId)>());
        self.weight.bytes + self.keys.bytes() + cells + pending + timers + expiries
    }

    /// Pending timers.
    pub(super) fn timers(&self) -> usize {
        self.event.len() + self.processing.len()
    }
}
