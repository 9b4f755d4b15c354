//! The state and the timers of a processor's keys, and what falls due of them.
//!
//! During a call the guest's writes are made in place, and `journal` has the way back: a call that failed, or that was
//! made on rows that turned out not to belong together, is taken back whole (`roll_back`). Timers join the queues only
//! when the call is published (`commit`). Invariant: between two calls each pending timer stands in its queue, and each
//! key that an expiry awaits stands among the expiries at or before it.

use std::collections::BTreeSet;

use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::{ProcessPlan, StateShape, TimerClock};
use tidegate_types::{EventTime, Watermark};

use super::cell::{Cell, Weight, of_tree};
use super::keys::{KeyId, KeyTable};
use super::rows::RowShape;
use super::tracking::Tracking;

/// Up to where something is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) watermark: Watermark,
    /// Or [`tidegate_types::NO_CLOCK`].
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
    pub(super) ttl: Option<i64>,
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
    pub(super) ttls: Option<(i64, i64)>,
    pub(super) keys: KeyTable,
    /// One per key and state.
    pub(super) cells: Vec<Cell>,
    /// One per key and timer.
    pub(super) pending: Vec<Option<EventTime>>,
    pub(super) event: Queue,
    pub(super) processing: Queue,
    pub(super) expiries: BTreeSet<(EventTime, KeyId)>,
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
    /// What checkpoints have to write.
    pub(super) tracking: Tracking,
    /// The number of key groups.
    pub(super) max_parallelism: u32,
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
        self.tracking.make_room(room, self.cells.len(), self.pending.len());
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
        self.note(&journal);
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

    pub(super) fn timer_of(&self, at: usize) -> (KeyId, u32) {
        (index32(at / self.clocks.len()), index32(at % self.clocks.len()))
    }

    pub(super) fn queue(&mut self, timer: u32) -> &mut Queue {
        match self.clocks[index(timer)] {
            TimerClock::Event => &mut self.event,
            TimerClock::Processing => &mut self.processing,
        }
    }

    /// The key has had a row, or an event timer, of this time.
    pub(super) fn raise(&mut self, key: KeyId, time: EventTime) {
        if self.keys.head(key).latest < Some(time) {
            self.touch_head(key);
            self.keys.head_mut(key).latest = Some(time);
        }
    }

    /// When state that a row of this time leaves under the key can expire at the earliest.
    pub(super) fn expiry_after(&self, key: KeyId, time: EventTime) -> Option<EventTime> {
        let (least, _) = self.ttls?;
        let latest = self.keys.head(key).latest.map_or(time, |latest| latest.max(time));
        Some(latest.saturating_add(least))
    }

    /// Whether a key has neither state nor timers.
    pub(super) fn is_bare(&self, key: KeyId) -> bool {
        let states = (0..self.states.len()).all(|state| self.cells[self.cell_at(key, state)].is_empty());
        states && (0..self.clocks.len()).all(|timer| self.pending[self.timer_at(key, timer)].is_none())
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
