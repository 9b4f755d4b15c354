//! Makes tasks of a job, and the channels between them.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_connectors::{SourceBatch, SourceError};

use super::{Job, Node, Subtask, targets};
use crate::channel::{Receiver, Sender, Signal, channel};
use crate::checkpoint::{HandOver, SubtaskId};
use crate::operator::RECORDS_BEFORE_PAUSE;
use crate::rounds::{Inputs, Piece};
use crate::route::InputId;
use crate::task::{Emission, OperatorTask, Senders, SourceTask, Ways};

/// Records that a step emits for each row of a source batch, at most or nearly.
const RECORDS_OF_A_ROW: usize = 16;

/// Elements that a channel between two tasks holds.
const CHANNEL_CAPACITY: usize = 4;

/// The tasks of a job.
pub struct Tasks {
    /// Reads, decodes, maps and deals.
    pub source: SourceTask,
    /// The subtasks of each stateful operator, each operator after those that it reads.
    pub operators: Vec<Vec<OperatorTask>>,
    /// What they emit: of the source task, then of each operator task.
    pub emissions: Vec<Receiver<Emission>>,
}

/// The channels to the operators' inputs.
struct Channels<'a> {
    signal: &'a Arc<Signal>,
    /// How many subtasks an operator has.
    subtasks: BTreeMap<usize, usize>,
    /// For each input, the receivers of each subtask.
    receivers: BTreeMap<InputId, Vec<Vec<Receiver<Piece>>>>,
}

impl Channels<'_> {
    /// A sender for each subtask of these inputs, from one task.
    fn senders(&mut self, inputs: &[InputId]) -> Vec<Senders> {
        let mut senders = Vec::new();
        for input in inputs {
            let subtasks = self.subtasks[&input.operator];
            let receivers = self.receivers.entry(*input).or_insert_with(|| (0..subtasks).map(|_| Vec::new()).collect());
            let mut to = Vec::new();
            for receivers in receivers {
                let (sender, receiver) = channel(CHANNEL_CAPACITY, self.signal);
                receivers.push(receiver);
                to.push(sender);
            }
            senders.push(to);
        }
        senders
    }

    /// The receivers of an input of a subtask, one for each task that sends to it.
    fn receivers(&mut self, input: InputId, subtask: usize) -> Vec<Receiver<Piece>> {
        let receivers = self.receivers.get_mut(&input).expect("every input is fed by a task before it");
        std::mem::take(&mut receivers[subtask])
    }
}

impl Job {
    /// Makes tasks of the job, which read from `input`, wake whoever waits for `signal`, and hand over what they keep; none: there
    /// are no checkpoints.
    #[must_use]
    pub fn into_tasks(
        self,
        input: Receiver<Result<SourceBatch, SourceError>>,
        signal: &Arc<Signal>,
        hand_over: Option<&HandOver>,
    ) -> Tasks {
        let subtasks = self.nodes.iter().map(|node| (node.operator, node.subtasks.len())).collect();
        let mut channels = Channels { signal, subtasks, receivers: BTreeMap::new() };
        // Small batches make small steps, so that tests of small inputs stop wherever a large one would.
        let most_records = RECORDS_BEFORE_PAUSE.min(self.batch_rows.saturating_mul(RECORDS_OF_A_ROW));
        let (emitted, receiver) = channel(CHANNEL_CAPACITY, signal);
        let mut emissions = vec![receiver];
        let outputs = channels.senders(&targets(self.ways.iter().flat_map(|way| &way.routes)));
        let mut source = SourceTask::new(input, self.sources, self.ways, outputs, emitted);
        let mut operators: Vec<Vec<OperatorTask>> =
            self.nodes.into_iter().map(|node| tasks_of(node, most_records, &mut channels, &mut emissions)).collect();
        if let Some(hand_over) = hand_over {
            source.keep(hand_over.clone(), self.position);
            for (operator, tasks) in operators.iter_mut().enumerate() {
                for (subtask, task) in tasks.iter_mut().enumerate() {
                    task.keep(hand_over.clone(), SubtaskId { operator, subtask });
                }
            }
        }
        Tasks { source, operators, emissions }
    }
}

fn tasks_of(
    node: Node,
    most_records: usize,
    channels: &mut Channels<'_>,
    emissions: &mut Vec<Receiver<Emission>>,
) -> Vec<OperatorTask> {
    let Node { operator: place, inputs, subtasks } = node;
    let task = |(at, subtask): (usize, Subtask)| {
        let Subtask { operator, heads, sinks, rows, holds_back, routes } = subtask;
        let receivers = inputs
            .iter()
            .enumerate()
            .map(|(input, schema)| (Arc::clone(schema), channels.receivers(InputId { operator: place, input }, at)));
        let mut inputs = Inputs::new(receivers.collect(), most_records);
        heads.iter().for_each(|head| inputs.restore(head));
        let outputs = channels.senders(&targets(&routes));
        let (emitted, receiver): (Sender<Emission>, _) = channel(CHANNEL_CAPACITY, channels.signal);
        emissions.push(receiver);
        let ways = Ways { sinks, rows, holds_back, routes, outputs };
        let number = tidegate_types::batch::index32(at);
        OperatorTask::new(inputs, operator, ways, emitted, number, most_records)
    };
    subtasks.into_iter().enumerate().map(task).collect()
}
