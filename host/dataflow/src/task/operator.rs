//! The task of one subtask of a stateful operator: its rounds in, its results to sinks and to the operators behind it.

use std::sync::Arc;

use tidegate_state::Changes;
use tidegate_types::stored::{Malformed, Read, Stored};
use tidegate_types::{EventTime, Progress, ProgressEntry, Watermark};

use super::source::{deal, pass_on};
use super::{Emission, OperatorStatus, Results, Senders, Task, TaskError, TaskReport};
use crate::chain::{PaneRows, rows_part};
use crate::channel::Sender;
use crate::checkpoint::{HandOver, Handed, SubtaskId};
use crate::operator::{Operator, OperatorOutput, Work};
use crate::report::{OperatorReport, OperatorStanding, StateSize};
use crate::rounds::{Ends, Inputs, InputsHead, Next};
use crate::route::{Part, Route, Routed, send};

/// One subtask of a stateful operator.
pub struct OperatorTask {
    inputs: Inputs,
    operator: Box<dyn Operator>,
    ways: Ways,
    emissions: Sender<Emission>,
    subtask: u32,
    /// The most records, or nearly, that a step emits.
    most_records: usize,
    now: OperatorStanding,
    /// What `now` was when it was last emitted, with the bytes of state.
    told: (OperatorStanding, u64),
    before_end: Option<OperatorStanding>,
    peak: StateSize,
    /// The stretch whose output was full before it was done.
    paused: Option<UnderWay>,
    /// Where what is to be kept goes; none where there are no checkpoints.
    hand_over: Option<(HandOver, SubtaskId)>,
    /// The checkpoint for which changes are being handed over.
    saving: Option<Saving>,
}

/// A checkpoint whose barrier has passed, and of which some changes were not handed over yet.
struct Saving {
    checkpoint: u64,
    head: Vec<u8>,
}

/// So many entries are handed over in a step: little against the rows of a round.
const ENTRIES_AT_ONCE: usize = 256;
/// The version of a task's head.
const HEAD_VERSION: u8 = 1;

/// A stretch that is being worked through.
struct UnderWay {
    progress: Arc<Progress>,
    /// What the watermark of what is emitted and the clock do, as far as it was not sent yet.
    own: Arc<Progress>,
    ends: Ends,
    /// The wall clock when it came.
    came: Option<EventTime>,
}

impl UnderWay {
    /// Takes the changes of events before this position.
    fn take_before(&mut self, position: u32) -> Arc<Progress> {
        let count = self.own.entries.partition_point(|entry| entry.position < position);
        let (before, after) = self.own.entries.split_at(count);
        let taken = Arc::new(Progress { entries: before.to_vec() });
        self.own = Arc::new(Progress { entries: after.to_vec() });
        taken
    }
}

/// What leads out of an operator.
pub(crate) struct Ways {
    /// The sinks that take its results as they are.
    pub(crate) sinks: Vec<usize>,
    /// How its panes become rows; none where no operator reads them.
    pub(crate) rows: Option<RowsOf>,
    /// How far the watermark of what it emits trails its own, ms.
    pub(crate) holds_back: i64,
    /// Through maps, to operators.
    pub(crate) routes: Vec<Route>,
    /// For each route to an operator, in order of its place.
    pub(crate) outputs: Vec<Senders>,
}

/// How an operator's results become rows.
pub(crate) enum RowsOf {
    /// Panes.
    Panes(PaneRows),
    /// Rows with these fields.
    Rows(Arc<tidegate_types::Schema>),
}

impl Ways {
    /// Sends what was emitted to sinks and along the routes.
    fn send(&mut self, output: OperatorOutput, progress: &Arc<Progress>, ends: Ends) -> Result<Emission, TaskError> {
        let OperatorOutput { panes, rows, sides, account, .. } = output;
        let mut results = Vec::new();
        let mut routed = Routed::new(self.outputs.len());
        (routed.sides, routed.account) = (sides, account);
        for panes in panes {
            if let Some(RowsOf::Panes(of)) = &self.rows {
                let part = of.part(panes.clone());
                self.forward(part, &mut routed)?;
            }
            self.to_sinks(Results::Panes(panes), &mut results);
        }
        for rows in rows {
            routed.account.emitted += rows.times.len() as u64 * self.sinks.len() as u64;
            if let Some(RowsOf::Rows(schema)) = &self.rows {
                let part = rows_part(schema, rows.clone());
                self.forward(part, &mut routed)?;
            }
            self.to_sinks(Results::Rows(rows), &mut results);
        }
        for (senders, parts) in self.outputs.iter().zip(routed.dealt) {
            // How far a sender is must be known even if nothing comes of it; between rounds there is nothing to know.
            if ends != Ends::Itself || !parts.is_empty() {
                deal(senders, parts, progress, ends);
            }
        }
        results.extend(routed.results.into_iter().map(|(sink, rows)| (sink, Results::Rows(rows))));
        Ok(Emission { results, sides: routed.sides, account: routed.account, ..Emission::default() })
    }

    /// Hands results to each sink; the last gets them, the others copies.
    fn to_sinks(&self, of: Results, results: &mut Vec<(usize, Results)>) {
        let Some((last, others)) = self.sinks.split_last() else { return };
        results.extend(others.iter().map(|sink| (*sink, of.clone())));
        results.push((*last, of));
    }

    fn forward(&mut self, part: Part, routed: &mut Routed) -> Result<(), TaskError> {
        routed.account.forwarded += part.batch.len() as u64;
        Ok(send(&mut self.routes, part, routed)?)
    }

    fn has_credit(&self) -> bool {
        self.outputs.iter().flatten().all(Sender::has_credit)
    }
}

impl OperatorTask {
    pub(crate) fn new(
        inputs: Inputs,
        operator: Box<dyn Operator>,
        ways: Ways,
        emissions: Sender<Emission>,
        subtask: u32,
        most_records: usize,
    ) -> Self {
        let (now, peak) = (OperatorStanding::START, StateSize::default());
        Self {
            inputs,
            operator,
            ways,
            emissions,
            subtask,
            most_records,
            now,
            told: (now, 0),
            before_end: None,
            peak,
            paused: None,
            hand_over: None,
            saving: None,
        }
    }

    /// Hands over what it keeps at each checkpoint from now on.
    pub(crate) fn keep(&mut self, hand_over: HandOver, of: SubtaskId) {
        self.hand_over = Some((hand_over, of));
    }

    /// The barrier of a checkpoint has come from every sender.
    fn pass(&mut self, checkpoint: u64) {
        tidegate_faults::reach("barrier.sent.before");
        self.operator.freeze();
        let mut head = vec![HEAD_VERSION];
        self.inputs.write(&mut head);
        self.operator.head(&mut head);
        self.saving = Some(Saving { checkpoint, head });
        pass_on(&self.ways.outputs, &self.emissions, checkpoint);
        tidegate_faults::reach("barrier.sent.after");
    }

    /// Hands over some of what was frozen. Whether there was something to do.
    fn save_some(&mut self) -> bool {
        let (Some((hand_over, of)), Some(saving)) = (&self.hand_over, &mut self.saving) else { return false };
        if !hand_over.has_room() {
            return false;
        }
        let (checkpoint, mut changes) = (saving.checkpoint, Changes::default());
        let done = self.operator.write(ENTRIES_AT_ONCE, &mut changes);
        if !changes.is_empty() {
            hand_over.hand(Handed::Changes { checkpoint, of: *of, changes });
        }
        if done {
            let head = std::mem::take(&mut saving.head);
            hand_over.hand(Handed::Subtask { checkpoint, of: *of, head });
            self.saving = None;
        }
        true
    }

    /// What the operator shows of itself.
    #[must_use]
    pub fn report(&self) -> OperatorReport {
        OperatorReport {
            operator: Arc::clone(self.operator.id()),
            subtask: self.subtask,
            now: self.now,
            before_end: self.before_end,
            state: self.operator.state(),
            peak: self.peak,
        }
    }

    /// Sends what came of a stretch, or of the part of it that is done.
    fn worked(&mut self, work: Work, mut stretch: UnderWay, output: OperatorOutput) -> Result<(), TaskError> {
        let emission = match work {
            Work::Done => {
                self.note(&stretch.progress, stretch.came);
                self.ways.send(output, &stretch.own, stretch.ends)?
            }
            Work::Paused => {
                // Events are worked through in order: those before the last one that emitted are done.
                let sent = match (stretch.ends, output.last_position()) {
                    (Ends::Itself, _) | (_, None) => self.ways.send(output, &Arc::default(), Ends::Itself)?,
                    (_, Some(position)) => {
                        let progress = stretch.take_before(position);
                        self.ways.send(output, &progress, Ends::Before(position))?
                    }
                };
                self.paused = Some(stretch);
                sent
            }
        };
        self.emit(emission);
        Ok(())
    }

    fn emit(&mut self, mut emission: Emission) {
        emission.operator = self.status();
        if !emission.is_empty() {
            self.emissions.send(emission);
        }
    }

    /// How far the subtask is, if it has moved since it was last asked.
    fn status(&mut self) -> Option<OperatorStatus> {
        let state_bytes = self.operator.state().bytes;
        if (self.now, state_bytes) == self.told {
            return None;
        }
        self.told = (self.now, state_bytes);
        let operator = Arc::clone(self.operator.id());
        Some(OperatorStatus { operator, subtask: self.subtask, standing: self.now, state_bytes })
    }

    /// Notes, for the report, how far the operator came with this round, and what it keeps. `now`: the wall clock.
    fn note(&mut self, progress: &Progress, now: Option<EventTime>) {
        let entries = &progress.entries;
        let at =
            |entry: &ProgressEntry| OperatorStanding { watermark: entry.watermark, clock: now.unwrap_or(entry.clock) };
        let before = self.now;
        if let Some(last) = entries.last() {
            self.now = at(last);
        }
        if self.now.watermark == Watermark::MAX && self.before_end.is_none() {
            let last = entries.iter().rev().find(|entry| entry.watermark < Watermark::MAX);
            self.before_end = Some(last.map_or(before, at));
        }
        self.peak.raise(self.operator.state());
    }

    /// The progress of the rows that the operator emits.
    fn own(&self, progress: &Arc<Progress>) -> Arc<Progress> {
        if self.ways.outputs.is_empty() || self.ways.holds_back == 0 {
            return Arc::clone(progress);
        }
        let mut own = Progress::default();
        for entry in &progress.entries {
            let held = entry.watermark.finite().map(|time| time.saturating_sub(self.ways.holds_back));
            let watermark = held.map_or(entry.watermark, |time| Watermark::at(time.max(i64::MIN + 1)));
            own.push(ProgressEntry { watermark, ..*entry });
        }
        Arc::new(own)
    }
}

/// Reads what [`OperatorTask`] hands over as its head: where the inputs stood, and the operator's own.
pub(crate) fn read_head(head: &[u8]) -> Read<(InputsHead, Stored<'_>)> {
    let mut stored = Stored::new(head);
    if stored.byte()? != HEAD_VERSION {
        return Err(Malformed::new("a head of this version"));
    }
    Ok((InputsHead::read(&mut stored)?, stored))
}

impl Task for OperatorTask {
    fn step(&mut self, now: Option<EventTime>) -> Result<super::Progress, TaskError> {
        let saved = self.save_some();
        Ok(match self.work(now)? {
            super::Progress::Waiting { .. } if saved => super::Progress::Worked,
            progress => progress,
        })
    }
}

impl OperatorTask {
    /// One step without what a checkpoint has to do.
    fn work(&mut self, now: Option<EventTime>) -> Result<super::Progress, TaskError> {
        if !(self.emissions.has_credit() && self.ways.has_credit()) {
            return Ok(super::Progress::Waiting { until: None });
        }
        let mut output = OperatorOutput::of(self.most_records);
        if let Some(stretch) = self.paused.take() {
            let work = self.operator.resume(&mut output)?;
            self.worked(work, stretch, output)?;
            return Ok(super::Progress::Worked);
        }
        // A barrier must find nothing in hand.
        if let Some(now) = now.filter(|_| self.operator.has_more()) {
            self.operator.advance_clock(now, &mut output)?;
            let emission = self.ways.send(output, &Arc::default(), Ends::Itself)?;
            self.emit(emission);
            return Ok(super::Progress::Worked);
        }
        match self.inputs.next() {
            Next::Stretch(batches, progress, ends) => {
                let work = self.operator.process(batches, &progress, now, &mut output)?;
                let own = self.own(&progress);
                self.worked(work, UnderWay { progress, own, ends, came: now }, output)?;
            }
            Next::Between(batches) => {
                let progress = Arc::new(Progress::default());
                let work = self.operator.process(batches, &progress, now, &mut output)?;
                let own = Arc::clone(&progress);
                self.worked(work, UnderWay { progress, own, ends: Ends::Itself, came: now }, output)?;
            }
            Next::Barrier(checkpoint) => self.pass(checkpoint),
            // What the last barrier has left to be handed over comes first.
            Next::Ended if self.saving.is_some() => return Ok(super::Progress::Waiting { until: None }),
            Next::Ended => {
                let report = Some(TaskReport::Operator(self.report()));
                self.emissions.send(Emission { report, ..Emission::default() });
                return Ok(super::Progress::Finished);
            }
            Next::Nothing => match (now, self.operator.next_instant()) {
                (Some(now), Some(next)) if now >= next => {
                    self.operator.advance_clock(now, &mut output)?;
                    let emission = self.ways.send(output, &Arc::default(), Ends::Itself)?;
                    self.emit(emission);
                }
                (Some(_), next) => return Ok(super::Progress::Waiting { until: next }),
                (None, _) => return Ok(super::Progress::Waiting { until: None }),
            },
        }
        Ok(super::Progress::Worked)
    }
}
