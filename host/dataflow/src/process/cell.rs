//! What one key holds under one state: a row, a list of rows, or an ordered map of rows, all encoded.

use std::collections::BTreeMap;

/// What an allocation costs besides its bytes.
pub(super) const ALLOCATION: usize = 16;
/// What an entry of a map takes besides its bytes: its place in a node of the tree (two thirds full), and two allocations.
const MAP_ENTRY: usize = of_tree(size_of::<(Box<[u8]>, Box<[u8]>)>()) + 2 * ALLOCATION;

/// What an element of this size takes in an ordered tree.
pub(super) const fn of_tree(element: usize) -> usize {
    element * 11 / 6
}

/// What one key holds under one state.
#[derive(Debug, Default)]
pub(super) enum Cell {
    /// Nothing.
    #[default]
    Empty,
    /// One row.
    Value(Box<[u8]>),
    /// Rows in the order in which they were appended.
    List(Box<List>),
    /// Rows by map key.
    Map(Box<Map>),
}

/// Rows end to end.
#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) data: Vec<u8>,
    pub(super) rows: u32,
}

/// Rows by their encoded map keys, whose order is that of the map keys.
#[derive(Debug, Default)]
pub(super) struct Map {
    rows: BTreeMap<Box<[u8]>, Box<[u8]>>,
    bytes: usize,
}

/// How much something takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Weight {
    pub(super) rows: usize,
    pub(super) bytes: usize,
}

impl List {
    /// Appends a row.
    pub(super) fn append(&mut self, row: &[u8]) {
        if self.data.capacity() - self.data.len() < row.len() {
            // Spare room stays small beside what is metered.
            self.data.reserve_exact(row.len().max(self.data.len() / 8));
        }
        self.data.extend_from_slice(row);
        self.rows = self.rows.checked_add(1).expect("a key's bound counts at least one byte for each row");
    }
}

impl Map {
    pub(super) fn get(&self, map_key: &[u8]) -> Option<&[u8]> {
        self.rows.get(map_key).map(AsRef::as_ref)
    }

    /// Sets or removes the row under a map key; returns what was there.
    pub(super) fn set(&mut self, map_key: Box<[u8]>, row: Option<Box<[u8]>>) -> Option<Box<[u8]>> {
        let length = map_key.len();
        let added = row.as_ref().map_or(0, |row| length + row.len());
        let before = match row {
            Some(row) => self.rows.insert(map_key, row),
            None => self.rows.remove(&map_key),
        };
        self.bytes += added;
        self.bytes -= before.as_ref().map_or(0, |row| length + row.len());
        before
    }

    /// The rows with their map keys, ascending by map key.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.rows.iter().map(|(map_key, row)| (map_key.as_ref(), row.as_ref()))
    }
}

impl Cell {
    /// Whether the key holds nothing.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Value(_) => false,
            Self::List(list) => list.rows == 0,
            Self::Map(map) => map.rows.is_empty(),
        }
    }

    /// Its rows, and the bytes that it takes in memory beside its slot. It depends on what is held alone, so that what is taken
    /// back weighs as before; a row without bytes counts as one byte.
    pub(super) fn weight(&self) -> Weight {
        match self {
            Self::Empty => Weight::default(),
            Self::Value(row) => Weight { rows: 1, bytes: row.len().max(1) + ALLOCATION },
            Self::List(list) => {
                let rows = tidegate_types::batch::index(list.rows);
                Weight { rows, bytes: list.data.len().max(rows) + size_of::<List>() + 2 * ALLOCATION }
            }
            // It goes once the call is published.
            Self::Map(map) if map.rows.is_empty() => Weight::default(),
            Self::Map(map) => {
                let rows = map.rows.len();
                Weight { rows, bytes: map.bytes + rows * MAP_ENTRY + size_of::<Map>() + ALLOCATION }
            }
        }
    }
}
