//! The keyed exchange: which subtask owns the key group of each row.
//!
//! Every subtask gets the whole progress, and each row keeps its position in it, so that the result is the same for
//! every number of subtasks.

use tidegate_types::batch::{index, index32};
use tidegate_types::{Batch, key_group, subtask_of};

/// Deals rows to the subtasks of an operator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange {
    max_parallelism: u32,
    subtasks: u32,
}

impl Exchange {
    /// An exchange to `subtasks` subtasks that own contiguous ranges of `max_parallelism` key groups.
    pub(crate) fn new(max_parallelism: u32, subtasks: u32) -> Self {
        Self { max_parallelism, subtasks }
    }

    /// The number of subtasks.
    pub(crate) fn subtasks(&self) -> u32 {
        self.subtasks
    }

    /// The rows of each subtask, ascending; the batch has keys.
    pub(crate) fn rows(&self, batch: &Batch) -> Vec<Vec<u32>> {
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); index(self.subtasks)];
        let hashes: &[u64] = batch.keys.as_ref().map_or(&[], |keys| &keys.hashes);
        for (row, hash) in hashes.iter().enumerate() {
            let group = key_group(*hash, self.max_parallelism);
            rows[subtask_of(group, self.max_parallelism, self.subtasks)].push(index32(row));
        }
        rows
    }
}
