//! One call of the host, seen row by row.
//!
//! What the rows of a call read is asked for once and kept until its end; what they write is kept with it and handed over at its
//! end, in one call of the host for each state and kind of change. So a row that reads and writes a value costs no call of its own.
//! Invariants: a row sees what the rows before it in the same call wrote; a row that was refused has written nothing; timers go
//! to the host in the order in which they were set, every single one, because each may be due before the next row.

use std::any::Any;
use std::cell::RefCell;

use super::KeyedState;
use super::timer::TimerLog;
use crate::columns::{Column, Value};

/// What is kept of one state for the length of a call.
pub(super) trait Cache: Any {
    /// Keeps what was written since the last row for good.
    fn settle(&mut self);
    /// Takes it back.
    fn undo(&mut self);
    /// Hands everything over to the host.
    fn flush(&mut self, state: u32, store: &dyn KeyedState);
    /// For the handle, which knows the type.
    fn as_any(&mut self) -> &mut dyn Any;
}

/// See the module.
pub(super) struct Call<'a> {
    store: &'a dyn KeyedState,
    /// How many keys the call has, as far as its rows tell.
    keys: usize,
    /// One for each state, once it was used.
    caches: RefCell<Vec<Option<Box<dyn Cache>>>>,
    pub(super) timers: RefCell<TimerLog>,
}

impl<'a> Call<'a> {
    pub(super) fn new(store: &'a dyn KeyedState, states: usize, groups: &[u32]) -> Self {
        let keys = groups.iter().max().map_or(0, |last| place(*last) + 1);
        let caches = std::iter::repeat_with(|| None).take(states).collect();
        Self { store, keys, caches: RefCell::new(caches), timers: RefCell::default() }
    }

    /// Works on the cache of a state.
    ///
    /// # Panics
    /// Where the state is another hook's.
    pub(super) fn with<C: Cache, T>(
        &self,
        state: u32,
        make: impl FnOnce(usize) -> C,
        work: impl FnOnce(&mut C, &dyn KeyedState) -> T,
    ) -> T {
        let mut caches = self.caches.borrow_mut();
        let slot = caches.get_mut(place(state)).expect("a handle belongs to the hook whose `open` made it");
        let cache = slot.get_or_insert_with(|| Box::new(make(self.keys)));
        let cache = cache.as_any().downcast_mut().expect("a handle belongs to the hook whose `open` made it");
        work(cache, self.store)
    }

    /// The row is done, and what it wrote stays.
    pub(super) fn settle(&self) {
        self.caches.borrow_mut().iter_mut().flatten().for_each(|cache| cache.settle());
        self.timers.borrow_mut().settle();
    }

    /// The row was refused.
    pub(super) fn undo(&self) {
        self.caches.borrow_mut().iter_mut().flatten().for_each(|cache| cache.undo());
        self.timers.borrow_mut().undo();
    }

    /// The call is done.
    pub(super) fn flush(&self) {
        for (state, cache) in self.caches.borrow_mut().iter_mut().enumerate() {
            if let Some(cache) = cache {
                cache.flush(u32::try_from(state).expect("a hook has few states"), self.store);
            }
        }
        self.timers.borrow_mut().flush(self.store);
    }
}

/// The key of the row or timer at hand: what handles of state and timers work on.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    pub(super) call: &'a Call<'a>,
    pub(super) number: u32,
    fields: &'a [Column],
    watermark: Option<i64>,
}

impl<'a> Key<'a> {
    pub(super) fn new(call: &'a Call<'a>, number: u32, fields: &'a [Column], watermark: Option<i64>) -> Self {
        Self { call, number, fields, watermark }
    }

    /// The key's field number `field`, in the order of `key_by`.
    ///
    /// # Panics
    /// Where the hook has not set `KEYS`, or there is no such field.
    pub fn field(&self, field: usize) -> Value<'a> {
        self.fields[field].value(place(self.number))
    }

    /// The watermark at this row; the least or greatest `i64` where it is infinite.
    ///
    /// # Panics
    /// Where the hook has not set `WATERMARKS`, and in `on_timer`.
    pub fn watermark(&self) -> i64 {
        self.watermark.expect("the watermark is there in `process`, for hooks that set WATERMARKS")
    }
}

impl std::fmt::Debug for Key<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").field("number", &self.number).field("watermark", &self.watermark).finish_non_exhaustive()
    }
}

/// A number as a place. Where it does not fit there is no such place.
pub(super) fn place(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX - 1)
}

/// Places as numbers of keys.
pub(super) fn number(place: usize) -> u32 {
    u32::try_from(place).expect("a call has fewer than 2^32 keys")
}
