//! The keyed exchange: deals a batch's rows to the subtasks that own their key groups.
//!
//! Every subtask gets the whole progress, and each row keeps its position in it, so that the result is the same for
//! every number of subtasks.

use tidegate_types::batch::index32;
use tidegate_types::{Batch, key_group, subtask_of};

/// Deals rows to `parallelism` subtasks.
#[derive(Debug, Clone, Copy)]
pub struct Exchange {
    max_parallelism: u32,
    parallelism: u32,
}

impl Exchange {
    /// An exchange to `parallelism` subtasks that own contiguous ranges of `max_parallelism` key groups.
    #[must_use]
    pub fn new(max_parallelism: u32, parallelism: u32) -> Self {
        Self { max_parallelism, parallelism }
    }

    /// One batch for each subtask; a subtask without rows still gets the progress.
    #[must_use]
    pub fn deal(&self, batch: Batch) -> Vec<Batch> {
        if self.parallelism <= 1 {
            return vec![batch];
        }
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); tidegate_types::batch::index(self.parallelism)];
        let hashes: &[u64] = batch.keys.as_ref().map_or(&[], |keys| &keys.hashes);
        for (row, hash) in hashes.iter().enumerate() {
            let group = key_group(*hash, self.max_parallelism);
            rows[subtask_of(group, self.max_parallelism, self.parallelism)].push(index32(row));
        }
        rows.iter().map(|rows| batch.take(rows)).collect()
    }
}
