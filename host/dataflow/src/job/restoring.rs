//! A job whose state outlives it: what its parts are called, and how they take over what an earlier run kept.

use std::ops::Range;
use std::sync::Arc;

use tidegate_connectors::SourcePosition;
use tidegate_types::groups_of;
use tidegate_types::stored::{Malformed, Read};

use super::Job;
use crate::checkpoint::SubtaskId;
use crate::operator::Operator;
use crate::task::{read_head, read_state};

/// A subtask of a stateful operator, as one that has state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubtaskState {
    /// Which one it is.
    pub of: SubtaskId,
    /// The operator's id.
    pub operator: Arc<str>,
    /// Its key groups.
    pub groups: Range<u32>,
}

impl Job {
    /// All subtasks of all stateful operators.
    #[must_use]
    pub fn subtasks(&self) -> Vec<SubtaskState> {
        let mut states = Vec::new();
        for (operator, node) in self.nodes.iter().enumerate() {
            for (subtask, one) in node.subtasks.iter().enumerate() {
                states.push(SubtaskState {
                    of: SubtaskId { operator, subtask },
                    operator: Arc::clone(one.operator.id()),
                    groups: groups_of(subtask, self.max_parallelism, node.subtasks.len()),
                });
            }
        }
        states
    }

    /// State is kept at checkpoints: to be said before anything is restored.
    pub fn keep_changes(&mut self) {
        for subtask in self.nodes.iter_mut().flat_map(|node| &mut node.subtasks) {
            subtask.operator.keep_changes();
        }
    }

    /// Takes over what the source task of an earlier run handed over. Gives where reading has to go on; none: at the start.
    ///
    /// # Errors
    /// If it is none of ours, or of another pipeline.
    pub fn restore_source(&mut self, state: &[u8]) -> Read<Option<SourcePosition>> {
        let (position, mut stored) = read_state(state)?;
        self.sources.restore(&mut stored)?;
        for way in &mut self.ways {
            way.restore(&mut stored)?;
        }
        stored.end()?;
        self.position.clone_from(&position);
        Ok(position)
    }

    /// Takes over the heads of all subtasks of an earlier run; before any entry.
    ///
    /// # Errors
    /// If one is none of ours, or of another operator.
    pub fn restore_heads(&mut self, of: SubtaskId, heads: &[&[u8]]) -> Read<()> {
        let node = &mut self.nodes[of.operator];
        let subtask = &mut node.subtasks[of.subtask];
        for head in heads {
            let (inputs, mut stored) = read_head(head)?;
            if inputs.len() != node.inputs.len() {
                return Err(Malformed::new("as many inputs as the operator has"));
            }
            subtask.operator.restore_head(&mut stored)?;
            stored.end()?;
            subtask.heads.push(inputs);
        }
        Ok(())
    }

    /// Takes over an entry; all entries of the subtask's key groups come in the order of their keys.
    ///
    /// # Errors
    /// If it is none of the operator's.
    pub fn restore_entry(&mut self, of: SubtaskId, key: &[u8], value: &[u8]) -> Read<()> {
        self.operator(of).restore(key, value)
    }

    /// All entries were given.
    ///
    /// # Errors
    /// If they do not fit together.
    pub fn restored(&mut self, of: SubtaskId) -> Read<()> {
        self.operator(of).restored()
    }

    fn operator(&mut self, of: SubtaskId) -> &mut dyn Operator {
        self.nodes[of.operator].subtasks[of.subtask].operator.as_mut()
    }
}

/// Where reading goes on after what the source task has handed over; none: at the start.
#[must_use]
pub fn position_of(state: &[u8]) -> Option<SourcePosition> {
    read_state(state).ok()?.0
}
