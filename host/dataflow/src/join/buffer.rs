//! The kept rows of one input: by key and place for those that look for partners, by place for those that have to go.
//!
//! Looking up, keeping and dropping a row costs the logarithm of the number of kept rows, whatever the order of arrival.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use tidegate_types::{EventTime, Origin};

use super::keys::KeyId;
use crate::changed::{Changed, Mark};

/// A row's place: its time, and of equal times its arrival.
pub(super) type Place = (EventTime, u64);

/// A kept row.
#[derive(Debug)]
pub(super) struct Kept {
    /// The values that pairs show.
    pub(super) packed: Box<[u8]>,
    /// A copy of the row's own record, where a dead letter may have to show it.
    pub(super) origin: Option<Arc<Origin>>,
    /// Bytes of that copy.
    pub(super) origin_bytes: u32,
    /// Whether it has met a partner; of rows that come out without one only.
    pub(super) matched: bool,
    pub(super) mark: Mark,
}

pub(super) type RowKey = (KeyId, EventTime, u64);

/// Of two rows that a restore brought together from two subtasks, the places can be the same.
type OrderKey = (EventTime, u64, KeyId);

/// Bytes of a row's entries in both maps, whose nodes have room for eleven and hold six where rows arrive in order, and of
/// its values' allocation. (Of a million rows of as many keys, 264 bytes each were counted and 290 were used.)
const ENTRY_BYTES: u64 = ((size_of::<RowKey>() + size_of::<Kept>() + size_of::<OrderKey>()) * 11 / 6 + 16) as u64;

impl Kept {
    fn state_bytes(&self) -> u64 {
        ENTRY_BYTES + self.packed.len() as u64 + u64::from(self.origin_bytes)
    }
}

#[derive(Debug, Default)]
pub(super) struct Buffer {
    rows: BTreeMap<RowKey, Kept>,
    order: BTreeSet<OrderKey>,
    bytes: u64,
    /// What a checkpoint has to write.
    pub(super) changed: Changed<RowKey>,
}

impl Buffer {
    /// Keeps a row. No other row has its place.
    pub(super) fn insert(&mut self, key: KeyId, place: Place, kept: Kept) {
        self.bytes += kept.state_bytes();
        self.order.insert((place.0, place.1, key));
        self.rows.insert((key, place.0, place.1), kept);
    }

    /// A key's rows from a place up to a time, which is included, in order.
    pub(super) fn range(
        &self,
        key: KeyId,
        from: Bound<Place>,
        to: EventTime,
    ) -> impl Iterator<Item = (Place, &Kept)> + use<'_> {
        self.rows.range(bounds(key, from, to)).map(|(place, kept)| ((place.1, place.2), kept))
    }

    /// As [`Buffer::range`], to be changed; and where changes are noted.
    pub(super) fn range_mut(
        &mut self,
        key: KeyId,
        from: Bound<Place>,
        to: EventTime,
    ) -> (impl Iterator<Item = (Place, &mut Kept)> + use<'_>, &mut Changed<RowKey>) {
        let rows = self.rows.range_mut(bounds(key, from, to)).map(|(place, kept)| ((place.1, place.2), kept));
        (rows, &mut self.changed)
    }

    /// A row, to be changed; and where changes are noted.
    pub(super) fn row_mut(&mut self, row: &RowKey) -> (Option<&mut Kept>, &mut Changed<RowKey>) {
        (self.rows.get_mut(row), &mut self.changed)
    }

    /// Whether a row is kept.
    pub(super) fn has(&self, row: &RowKey) -> bool {
        self.rows.contains_key(row)
    }

    /// The rows, key by key.
    pub(super) fn places(&self) -> impl Iterator<Item = (KeyId, EventTime)> {
        self.rows.keys().map(|row| (row.0, row.1))
    }

    /// Forgets what is noted of rows that are gone, if that is much.
    pub(super) fn tidy(&mut self) {
        let rows = &self.rows;
        self.changed.tidy(rows.len(), |row| rows.contains_key(row));
    }

    /// The time of the key's first row at or after a time.
    pub(super) fn first_from(&self, key: KeyId, time: EventTime) -> Option<EventTime> {
        self.range(key, Bound::Included((time, 0)), EventTime::MAX).next().map(|(place, _)| place.0)
    }

    /// The place of the first row of any key.
    pub(super) fn oldest(&self) -> Option<Place> {
        self.order.first().map(|(time, arrival, _)| (*time, *arrival))
    }

    /// Takes the first row of any key.
    pub(super) fn take_oldest(&mut self) -> Option<(KeyId, Place, Kept)> {
        let (time, arrival, key) = self.order.pop_first()?;
        let kept = self.rows.remove(&(key, time, arrival)).expect("both maps have the same rows");
        self.bytes -= kept.state_bytes();
        Some((key, (time, arrival), kept))
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of the rows.
    pub(super) fn state_bytes(&self) -> u64 {
        self.bytes
    }
}

fn bounds(key: KeyId, from: Bound<Place>, to: EventTime) -> (Bound<RowKey>, Bound<RowKey>) {
    (from.map(|(time, arrival)| (key, time, arrival)), Bound::Included((key, to, u64::MAX)))
}
