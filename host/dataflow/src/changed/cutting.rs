//! Cuts runs of operators for tests: freezes them, writes what is frozen piece by piece, and restores fresh ones.
//!
//! A backend is an ordered map; it insists that nothing is deleted that it does not have.

use std::collections::BTreeMap;

use tidegate_state::{Changes, group_of};
use tidegate_types::stored::Stored;
use tidegate_types::subtask_of;

use crate::operator::Operator;

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// An operator, however it is kept.
pub(crate) trait Subtask {
    fn of(&mut self) -> &mut dyn Operator;
}

impl Subtask for Box<dyn Operator> {
    fn of(&mut self) -> &mut dyn Operator {
        self.as_mut()
    }
}

/// What subtasks have written.
#[derive(Debug, Default)]
pub(crate) struct Cutter {
    backends: Vec<Entries>,
    heads: Vec<Vec<u8>>,
    done: Vec<bool>,
}

/// A whole checkpoint.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) entries: Entries,
    pub(crate) heads: Vec<Vec<u8>>,
}

impl Cutter {
    /// Fresh operators; they keep changes from now on.
    pub(crate) fn new(operators: &mut [impl Subtask]) -> Self {
        let backends: Vec<Entries> =
            operators.iter_mut().map(|operator| (operator.of().keep_changes(), Entries::new()).1).collect();
        Self { heads: vec![Vec::new(); backends.len()], done: vec![true; backends.len()], backends }
    }

    /// A barrier comes to all of them.
    pub(crate) fn freeze(&mut self, operators: &mut [impl Subtask]) {
        for (subtask, operator) in operators.iter_mut().map(Subtask::of).enumerate() {
            operator.freeze();
            self.heads[subtask].clear();
            operator.head(&mut self.heads[subtask]);
            self.done[subtask] = false;
        }
    }

    /// Each writes about so many entries. The checkpoint, once all is written.
    pub(crate) fn write(&mut self, operators: &mut [impl Subtask], entries: usize) -> Option<Snapshot> {
        for (subtask, operator) in operators.iter_mut().map(Subtask::of).enumerate() {
            if self.done[subtask] {
                continue;
            }
            let mut changes = Changes::default();
            self.done[subtask] = operator.write(entries, &mut changes);
            for (key, value) in changes.iter() {
                match value {
                    Some(value) => drop(self.backends[subtask].insert(key.to_vec(), value.to_vec())),
                    None => {
                        let was_there = self.backends[subtask].remove(key).is_some();
                        assert!(was_there, "what was never stored is not deleted: {key:?}");
                    }
                }
            }
        }
        let is_whole = self.done.iter().all(|done| *done);
        is_whole.then(|| Snapshot {
            entries: self.backends.iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect(),
            heads: self.heads.clone(),
        })
    }
}

impl Snapshot {
    /// Restores fresh operators, each with the key groups that it owns.
    pub(crate) fn restore(&self, groups: u32, operators: &mut [impl Subtask]) -> Cutter {
        let parallelism = u32::try_from(operators.len()).expect("few");
        let mut cutter = Cutter::default();
        for (subtask, operator) in operators.iter_mut().map(Subtask::of).enumerate() {
            operator.keep_changes();
            for head in &self.heads {
                let mut head = Stored::new(head);
                operator.restore_head(&mut head).expect("it was written here");
                assert!(head.is_empty(), "a head is read whole");
            }
            let mut own = Entries::new();
            for (key, value) in &self.entries {
                let (_, group, _) = group_of(key).expect("it was written here");
                if subtask_of(group, groups, parallelism) == subtask {
                    operator.restore(key, value).expect("it was written here");
                    own.insert(key.clone(), value.clone());
                }
            }
            operator.restored().expect("it was written here");
            cutter.backends.push(own);
            cutter.heads.push(Vec::new());
            cutter.done.push(true);
        }
        cutter
    }
}
