//! Whose turn it is: the partition of the next append that names none.
//!
//! Invariant: of `n` such appends to a stream in a row, each partition gets `n / partitions`, rounded up or down. The turn
//! is kept in memory only: after a restart it begins at partition 0.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tidegate_types::{Name, TenantId};

/// So many streams have a turn; beyond, all begin again.
const MAX_STREAMS: usize = 10_000;

/// The turn of each stream.
#[derive(Debug, Default)]
pub(crate) struct Rounds(Mutex<BTreeMap<(TenantId, Name), u32>>);

impl Rounds {
    /// The partition whose turn it is. `partitions` is at least 1.
    pub(crate) fn next(&self, tenant: &TenantId, stream: &Name, partitions: u32) -> u32 {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if turns.len() >= MAX_STREAMS {
            turns.clear();
        }
        let turn = turns.entry((tenant.clone(), stream.clone())).or_default();
        let now = *turn % partitions.max(1);
        *turn = (now + 1) % partitions.max(1);
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stream_has_a_turn_of_its_own() {
        let rounds = Rounds::default();
        let (acme, bolt) = ("acme".parse().unwrap(), "bolt".parse().unwrap());
        let name: Name = "events".parse().unwrap();
        let turns: Vec<u32> = (0..5).map(|_| rounds.next(&acme, &name, 2)).collect();
        assert_eq!(turns, [0, 1, 0, 1, 0]);
        assert_eq!(rounds.next(&bolt, &name, 2), 0);
    }
}
