//! Deeds with a processor's state and timers.

use std::hint::black_box;

use tidegate_sdk::KeyedState;
use tidegate_sdk::columns::{Column, Values, VarBytes};

use crate::config::Evil;

/// The states of the plan: a value, a list, a map.
pub(crate) const ROWS: u32 = 0;
pub(crate) const MARKS: u32 = 1;
pub(crate) const BY_MARK: u32 = 2;
/// The timers of the plan: one in event time, one in processing time.
pub(crate) const SOON: u32 = 0;

const KIB: usize = 1024;

/// Does the deed, in a call of so many keys, if it is one of these.
pub(crate) fn misuse(evil: Evil, state: &dyn KeyedState, keys: u32) {
    let int = || [Column::from_ints(vec![1])];
    let text = |bytes: usize| [Column::from_texts(["w".repeat(bytes)])];
    match evil {
        Evil::StateKey => drop(state.get(ROWS, &[0, keys])),
        Evil::StateNumber => drop(state.get(99, &[0])),
        Evil::StateShape => state.append(ROWS, &[0], &int()),
        Evil::StateKind => state.put(ROWS, &[0], &text(1)),
        Evil::StateRows => state.put(ROWS, &[0, 0], &int()),
        Evil::StateNull => state.put(ROWS, &[0], &int().map(|column| Column { present: Some(vec![0]), ..column })),
        Evil::StateMapKey => state.map_put(BY_MARK, &[0], &Column::from_ints(vec![1]), &int()),
        Evil::StateOffsets => {
            let past = Values::Texts(VarBytes { offsets: vec![0, u32::MAX], data: b"abcd".to_vec() });
            state.append(MARKS, &[0], &[Column::new(past)]);
        }
        Evil::StateFill => (0..4 * KIB * 4).for_each(|_| state.append(MARKS, &[0], &text(200 * KIB))),
        Evil::StateHuge => state.append(MARKS, &[0], &text(16 * KIB * KIB)),
        Evil::StateRemove => {
            let names = Column::from_texts(std::iter::repeat_n("w".repeat(180), 1_000));
            (0..1_000_000).for_each(|_| state.map_remove(BY_MARK, &[0; 1_000], &names));
        }
        Evil::StateRead => {
            state.append(MARKS, &[0], &text(200 * KIB));
            black_box(state.get_list(MARKS, &[0; 1_000]));
        }
        Evil::StateFlood => loop {
            black_box(state.get(ROWS, &[]));
        },
        Evil::StateThenTrap => {
            state.put(ROWS, &[0], &[Column::from_ints(vec![77])]);
            state.append(MARKS, &[0], &text(3));
            state.map_put(BY_MARK, &[0], &text(3)[0], &int());
            state.set_timer(SOON, &[0], &[77]);
            panic!("evil panic");
        }
        Evil::TimerNumber => state.set_timer(99, &[0], &[0]),
        Evil::TimerShort => state.set_timer(SOON, &[0, 0], &[1]),
        Evil::TimerFlood => loop {
            state.set_timer(SOON, &[0], &[0]);
        },
        _ => {}
    }
}
