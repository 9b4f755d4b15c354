//! What the accumulators of every built-in function can do.
//!
//! Slots are dense small integers that the operator hands out and reuses. A store never fails: rows that it could refuse
//! are found before (see `Prepared::mismatch` and `Builtins::overflow`).

use std::fmt::Debug;

use tidegate_types::batch::index;
use tidegate_types::stored::{Read, Stored};
use tidegate_types::{Batch, Column, ValueRef};

use super::Additions;
use super::prepared::{Input, Selection};

/// The accumulators of one function, one per slot.
///
/// 1. `reserve` makes the slots `0..slots` exist; new ones are fresh. It never takes slots away.
/// 2. `reset` makes a slot what it was after `reserve`.
/// 3. The order of `add`s and `merge`s MUST NOT change what `finish` shows, except that `first` and `last` break ties
///    of time and arrival by it.
/// 4. `merge` leaves `from` as it is. The two are never one slot.
/// 5. `bytes` is cheap enough to be called once per batch.
/// 6. `write` appends what a slot holds, and `read` makes a fresh slot hold it: from then on both show the same, whatever is
///    added, merged or taken back. What `read` is given are the bytes of one `write`, all of them, or malformed ones.
/// 7. `undo` takes rows back, whether or not they were added: `finish` shows what the rows added less those taken back
///    make. Only stores that were made for it are asked to.
pub(super) trait Store: Debug + Send {
    fn reserve(&mut self, slots: usize);
    fn reset(&mut self, slot: usize);
    fn add(&mut self, rows: &Rows<'_>);
    fn undo(&mut self, _rows: &Rows<'_>) {
        unreachable!("the pipeline's check lets retractions only into functions that can undo");
    }
    fn merge(&mut self, into: usize, from: usize);
    fn finish(&mut self, slots: &[u32]) -> Column;
    fn write(&self, slot: usize, out: &mut Vec<u8>);
    fn read(&mut self, slot: usize, stored: &mut Stored<'_>) -> Read<()>;
    fn bytes(&self) -> u64;
}

/// Whether rows come or are taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Add,
    Undo,
}

impl Change {
    /// How the count of what it is done to changes.
    #[inline]
    pub(super) fn sign(self) -> i64 {
        match self {
            Self::Add => 1,
            Self::Undo => -1,
        }
    }
}

/// Rows of a batch and the slots that they go to, as one function sees them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) batch: &'a Batch,
    pub(super) input: &'a Input,
    pub(super) additions: &'a Additions<'a>,
}

impl Rows<'_> {
    /// Calls `visit(row, slot)` for each pair whose row the function looks at: `where` holds and the value is not null.
    #[inline]
    pub(super) fn each(&self, mut visit: impl FnMut(usize, usize)) {
        let pairs = self.additions.rows.iter().zip(self.additions.slots);
        match &self.input.selection {
            Selection::Nothing => {}
            Selection::All => pairs.for_each(|(row, slot)| visit(index(*row), index(*slot))),
            Selection::Some(selected) => {
                for (row, slot) in pairs {
                    if selected[index(*row)] {
                        visit(index(*row), index(*slot));
                    }
                }
            }
        }
    }

    /// As [`Self::each`], with the values: `visit(row, slot, value)`. The values are not null.
    #[inline]
    pub(super) fn each_value(&self, mut visit: impl FnMut(usize, usize, ValueRef<'_>)) {
        match &self.input.column {
            None | Some(Column::Null(_)) => {}
            Some(Column::Int(array)) => self.each(|row, slot| visit(row, slot, ValueRef::Int(array.value(row)))),
            Some(Column::Float(array)) => self.each(|row, slot| visit(row, slot, ValueRef::Float(array.value(row)))),
            Some(Column::Text(array)) => self.each(|row, slot| visit(row, slot, ValueRef::Text(array.value(row)))),
            Some(column) => self.each(|row, slot| visit(row, slot, column.value(row))),
        }
    }
}

/// The size of so many entries, in bytes.
pub(super) fn bytes_of<T>(entries: usize) -> u64 {
    bytes(entries * size_of::<T>())
}

/// A size in memory as a metered number.
pub(super) fn bytes(size: usize) -> u64 {
    u64::try_from(size).expect("a size in memory fits 64 bits")
}
