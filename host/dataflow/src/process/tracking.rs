//! What of a processor's state the next checkpoint has to write: heads of keys, cells, entries of maps, timers.
//!
//! Writes of a call are noted when the call is published, so that one that is taken back leaves nothing. But what is frozen is
//! written before a call changes it: that is right whether the call is published or not.
//!
//! A list is stored in pieces, so that an append writes its last piece and not all of it. Invariant: an entry of a map without a
//! mark is stored exactly if it is there.

use std::collections::BTreeMap;

use tidegate_state::Changes;
use tidegate_types::batch::index;
use tidegate_types::hooks::StateShape;

use super::cell::Cell;
use super::keys::KeyId;
use super::store::{Store, Undo};
use crate::changed::{Changed, Mark};

/// A piece of a list is not added to once it has so many bytes.
pub(super) const PIECE: usize = 4 << 10;
/// So many entries of a map are written at a time at least.
const ENTRIES: usize = 256;

/// Finds what has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Head(KeyId),
    Cell(usize),
    Timer(usize),
}

/// How a list is stored.
#[derive(Debug, Default)]
pub(super) struct Saved {
    /// Pieces that are stored.
    pub(super) pieces: u32,
    /// Of these, the ones that hold the list's first rows and are not written again; and their bytes and rows.
    pub(super) whole: u32,
    pub(super) bytes: usize,
    pub(super) rows: u32,
}

#[derive(Debug, Default)]
pub(super) struct Tracking {
    pub(super) changed: Changed<Item>,
    pub(super) heads: Vec<Mark>,
    pub(super) cells: Vec<Mark>,
    pub(super) timers: Vec<Mark>,
    pub(super) lists: hashbrown::HashMap<usize, Saved>,
    maps: hashbrown::HashMap<usize, BTreeMap<Box<[u8]>, Mark>>,
}

impl Saved {
    /// A piece was stored, and holds all rows so far.
    pub(super) fn add(&mut self, bytes: usize, rows: u32) {
        self.pieces = self.whole + 1;
        if bytes - self.bytes >= PIECE {
            *self = Self { pieces: self.pieces, whole: self.pieces, bytes, rows };
        }
    }
}

impl Tracking {
    /// There is room for so many keys, cells and timers.
    pub(super) fn make_room(&mut self, keys: usize, cells: usize, timers: usize) {
        if self.changed.is_kept() && self.heads.len() < keys {
            self.heads.resize(keys, Mark::default());
            self.cells.resize(cells, Mark::default());
            self.timers.resize(timers, Mark::default());
        }
    }

    /// No key is left.
    pub(super) fn give_back(&mut self) {
        (self.heads, self.cells, self.timers) = (Vec::new(), Vec::new(), Vec::new());
    }

    fn touch_entry(&mut self, at: usize, map_key: &[u8], was_there: bool) {
        self.changed.touch(&mut self.cells[at], || Item::Cell(at), |_| {});
        let marks = self.maps.entry(at).or_default();
        match marks.get_mut(map_key) {
            Some(mark) => self.changed.renew(mark),
            None => drop(marks.insert(map_key.into(), self.changed.fresh(was_there))),
        }
    }

    /// A cell was replaced, which was this.
    fn replaced(&mut self, at: usize, shape: StateShape, before: &Cell) {
        match (shape, before) {
            (StateShape::Map(_), Cell::Map(map)) => {
                map.iter().for_each(|(map_key, _)| self.touch_entry(at, map_key, true));
            }
            (StateShape::Map(_), _) => {}
            (StateShape::Value | StateShape::List, _) => {
                if let Some(saved) = self.lists.get_mut(&at) {
                    *saved = Saved { pieces: saved.pieces, ..Saved::default() };
                }
                self.changed.touch(&mut self.cells[at], || Item::Cell(at), |_| {});
            }
        }
    }
}

impl Store {
    pub(super) fn shape_at(&self, at: usize) -> StateShape {
        self.states[at % self.states.len()].shape
    }

    /// A cell is about to be replaced, or a list to be added to.
    #[inline]
    pub(super) fn before_cell(&mut self, at: usize) {
        if self.tracking.changed.has_frozen() {
            self.with_tracking(|store, tracking| {
                let Tracking { changed, cells, lists, maps, .. } = tracking;
                if let StateShape::Map(_) = store.shape_at(at) {
                    for (map_key, mark) in maps.get_mut(&at).into_iter().flatten() {
                        let (exists, stored) = (store.map_row(at, map_key).is_some(), mark.is_stored());
                        changed.thaw(mark, exists, |changes| store.put_map_entry(at, map_key, stored, changes));
                    }
                } else {
                    let (exists, stored) = (!store.cells[at].is_empty(), cells[at].is_stored());
                    changed.thaw(&mut cells[at], exists, |changes| store.put_cell(at, stored, lists, changes));
                }
            });
        }
    }

    /// An entry of a map is about to change.
    #[inline]
    pub(super) fn before_entry(&mut self, at: usize, map_key: &[u8]) {
        if self.tracking.changed.has_frozen() {
            self.with_tracking(|store, Tracking { changed, maps, .. }| {
                if let Some(mark) = maps.get_mut(&at).and_then(|marks| marks.get_mut(map_key)) {
                    let (exists, stored) = (store.map_row(at, map_key).is_some(), mark.is_stored());
                    changed.thaw(mark, exists, |changes| store.put_map_entry(at, map_key, stored, changes));
                }
            });
        }
    }

    /// A timer is about to change.
    #[inline]
    pub(super) fn before_timer(&mut self, at: usize) {
        if self.tracking.changed.has_frozen() {
            self.with_tracking(|store, Tracking { changed, timers, .. }| {
                let (exists, stored) = (store.pending[at].is_some(), timers[at].is_stored());
                changed.thaw(&mut timers[at], exists, |changes| store.put_timer(at, stored, changes));
            });
        }
    }

    /// The latest time or the expiry of a key is about to change.
    #[inline]
    pub(super) fn touch_head(&mut self, key: KeyId) {
        let Tracking { changed, heads, .. } = &mut self.tracking;
        if changed.is_kept() && self.ttls.is_some() {
            let keys = &self.keys;
            let groups = self.max_parallelism;
            changed.touch(
                &mut heads[index(key)],
                || Item::Head(key),
                |changes| super::stored::put_head(keys, groups, key, changes),
            );
        }
    }

    /// A timer has changed.
    pub(super) fn touch_timer(&mut self, at: usize) {
        let Tracking { changed, timers, .. } = &mut self.tracking;
        if changed.is_kept() {
            changed.touch(&mut timers[at], || Item::Timer(at), |_| {});
        }
    }

    /// A cell was replaced outside of any call, which was this.
    pub(super) fn touch_cell(&mut self, at: usize, before: &Cell) {
        if self.tracking.changed.is_kept() {
            let shape = self.shape_at(at);
            self.tracking.replaced(at, shape, before);
        }
    }

    /// Notes what a published call has changed.
    pub(super) fn note(&mut self, journal: &[Undo]) {
        if !self.tracking.changed.is_kept() {
            return;
        }
        for undo in journal {
            match undo {
                Undo::Cell(at, before) => self.touch_cell(*at, before),
                Undo::List(at, ..) => {
                    let Tracking { changed, cells, .. } = &mut self.tracking;
                    changed.touch(&mut cells[*at], || Item::Cell(*at), |_| {});
                }
                Undo::Entry(at, map_key, before) => self.tracking.touch_entry(*at, map_key, before.is_some()),
                Undo::Timer(at, _) => self.touch_timer(*at),
            }
        }
        let keys = self.keys.len() * (1 + self.states.len() + self.clocks.len());
        let Tracking { changed, heads, cells, timers, .. } = &mut self.tracking;
        let is_dirty = |mark: Option<&Mark>| mark.is_some_and(|mark| !mark.is_clean());
        changed.tidy(keys, |item| match item {
            Item::Head(key) => is_dirty(heads.get(index(*key))),
            Item::Cell(at) => is_dirty(cells.get(*at)),
            Item::Timer(at) => is_dirty(timers.get(*at)),
        });
    }

    /// A key is about to be forgotten: it has neither state nor timers.
    pub(super) fn note_gone(&mut self, key: KeyId) {
        if !self.tracking.changed.is_kept() {
            return;
        }
        self.with_tracking(|store, tracking| {
            let Tracking { changed, heads, cells, timers, lists, maps } = tracking;
            let mark = std::mem::take(&mut heads[index(key)]);
            let put = |changes: &mut Changes| super::stored::put_head(&store.keys, store.max_parallelism, key, changes);
            changed.remove(mark, true, put, |changes| store.delete_head(key, changes));
            for timer in 0..store.clocks.len() {
                let at = store.timer_at(key, timer);
                let mark = std::mem::take(&mut timers[at]);
                let stored = mark.is_stored();
                let old = |changes: &mut Changes| store.put_timer(at, stored, changes);
                changed.remove(mark, false, old, |changes| store.put_timer(at, true, changes));
            }
            for state in 0..store.states.len() {
                let at = store.cell_at(key, state);
                let mark = std::mem::take(&mut cells[at]);
                for (map_key, mark) in maps.remove(&at).into_iter().flatten() {
                    let stored = mark.is_stored();
                    let old = |changes: &mut Changes| store.put_map_entry(at, &map_key, stored, changes);
                    changed.remove(mark, false, old, |changes| store.put_map_entry(at, &map_key, true, changes));
                }
                match store.shape_at(at) {
                    StateShape::Map(_) => {}
                    StateShape::List if changed.is_frozen(mark) => {
                        changed.remove(mark, false, |changes| store.put_cell(at, true, lists, changes), |_| {});
                    }
                    StateShape::List => store.put_cell(at, true, lists, changed.gone()),
                    StateShape::Value => {
                        let stored = mark.is_stored();
                        let old = |changes: &mut Changes| store.put_cell(at, stored, &mut Default::default(), changes);
                        changed.remove(mark, false, old, |changes| {
                            store.put_cell(at, true, &mut Default::default(), changes);
                        });
                    }
                }
            }
        });
    }

    /// Writes about so many frozen entries. Returns whether all are written.
    pub(super) fn write(&mut self, entries: usize, changes: &mut Changes) -> bool {
        self.with_tracking(|store, tracking| tracking.write(store, entries, changes))
    }

    fn with_tracking<T>(&mut self, work: impl FnOnce(&Self, &mut Tracking) -> T) -> T {
        let mut tracking = std::mem::take(&mut self.tracking);
        let answer = work(self, &mut tracking);
        self.tracking = tracking;
        answer
    }
}

impl Tracking {
    fn write(&mut self, store: &Store, mut entries: usize, changes: &mut Changes) -> bool {
        if !self.changed.hand_out(&mut entries, changes) {
            return false;
        }
        while entries > 0 {
            let Some(item) = self.changed.next_frozen() else { return true };
            entries -= 1;
            match item {
                Item::Head(key) => {
                    let mark = self.heads.get_mut(index(key));
                    if mark.is_some_and(|mark| self.changed.take(mark, true)) {
                        super::stored::put_head(&store.keys, store.max_parallelism, key, changes);
                    }
                }
                Item::Timer(at) => {
                    let Some(mark) = self.timers.get_mut(at) else { continue };
                    let stored = mark.is_stored();
                    if self.changed.take(mark, store.pending[at].is_some()) {
                        store.put_timer(at, stored, changes);
                    }
                }
                Item::Cell(at) => entries = entries.saturating_sub(self.write_cell(store, at, changes)),
            }
        }
        !self.changed.has_frozen()
    }

    /// Returns how many entries it wrote besides the first.
    fn write_cell(&mut self, store: &Store, at: usize, changes: &mut Changes) -> usize {
        let Some(mark) = self.cells.get_mut(at) else { return 0 };
        let stored = mark.is_stored();
        let is_frozen = self.changed.take(mark, !store.cells[at].is_empty());
        if !matches!(store.shape_at(at), StateShape::Map(_)) {
            if is_frozen {
                store.put_cell(at, stored, &mut self.lists, changes);
            }
            return 0;
        }
        let Some(marks) = self.maps.get_mut(&at) else { return 0 };
        marks.retain(|_, mark| !mark.is_clean());
        let frozen = marks.iter().filter(|(_, mark)| self.changed.is_frozen(**mark)).take(ENTRIES);
        let frozen: Vec<(Box<[u8]>, bool)> =
            frozen.map(|(map_key, mark)| (map_key.clone(), mark.is_stored())).collect();
        for (map_key, stored) in &frozen {
            marks.remove(map_key);
            store.put_map_entry(at, map_key, *stored, changes);
        }
        if marks.is_empty() {
            self.maps.remove(&at);
        } else if frozen.len() == ENTRIES {
            self.changed.put_back(Item::Cell(at));
        }
        frozen.len()
    }
}
