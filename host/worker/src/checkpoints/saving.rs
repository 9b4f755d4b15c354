//! The second half of a checkpoint: everybody has answered, and it is saved, or comes to nothing.
//!
//! Invariant: tasks hear that a checkpoint is complete only after it is saved for good; what is kept of the input is let go of
//! only once no kept checkpoint begins before.

use tidegate_checkpoint::{
    CheckpointError, Kept, NewCheckpoint, OperatorPart, SinkPart, checkpoint_folder, snapshot_folder,
};
use tidegate_connectors::SourcePosition;
use tidegate_dataflow::checkpoint::SubtaskId;
use tidegate_dataflow::position_of;
use tidegate_state::StateError;
use tidegate_types::EventTime;
use tidegate_types::batch::index32;

use super::{Failure, KEPT_CHECKPOINTS, KeepError, LAST_AGAIN, Sinks, Taker, UnderWay, Whole, millis, remove_folder};

impl Taker {
    fn snapshot(&self, checkpoint: u64, of: SubtaskId, head: Vec<u8>) -> Result<OperatorPart, StateError> {
        let (state, backend) = &self.backends[&of];
        let subtask = index32(of.subtask);
        let folder = snapshot_folder(&self.folder, checkpoint, &state.operator, subtask);
        tidegate_faults::reach("state.snapshot.before");
        let files = backend.snapshot(&folder)?;
        tidegate_faults::reach("state.snapshot.after");
        let (operator, groups) = (state.operator.to_string(), state.groups.clone());
        Ok(OperatorPart { operator, subtask, groups, head, folder, files })
    }

    pub(super) fn save_if_whole(&mut self) -> Result<(), KeepError> {
        let is_whole = |under_way: &UnderWay| {
            under_way.source.is_some() && under_way.sinks.is_some() && under_way.heads.len() == self.backends.len()
        };
        let Some(under_way) = self.under_way.take_if(|under_way| is_whole(under_way)) else { return Ok(()) };
        let UnderWay { checkpoint, since, source: Some(source), heads, sinks: Some((sinks, aligned)) } = under_way
        else {
            return Ok(());
        };
        let whole = Whole { source, heads, sinks };
        if self.saved.as_ref() == Some(&whole) {
            // Nothing has happened since the last one, which stands for this one too.
            self.failures_in_a_row = 0;
            self.checkpoints.complete(checkpoint);
            self.board.unchanged(self.clock.now());
            return Ok(());
        }
        self.save(checkpoint, since, aligned.saturating_sub(since), whole)
    }

    fn save(&mut self, checkpoint: u64, since: EventTime, aligned_ms: i64, whole: Whole) -> Result<(), KeepError> {
        match self.try_save(checkpoint, since, &whole) {
            Ok(kept) => {
                self.completed(checkpoint, since, aligned_ms, &kept);
                self.note_begin(since, position_of(&whole.source));
                self.saved = Some(whole);
                Ok(())
            }
            Err(failure) => self.failed(checkpoint, failure),
        }
    }

    fn try_save(&mut self, checkpoint: u64, since: EventTime, whole: &Whole) -> Result<Kept, Failure> {
        let Whole { source, heads, sinks } = whole;
        let parts = heads.iter().map(|(of, head)| self.snapshot(checkpoint, *of, head.clone()));
        let operators = parts.collect::<Result<Vec<_>, _>>()?;
        let new = self.new_checkpoint(checkpoint, since, source.clone(), operators, sinks.clone(), false);
        Ok(self.store.save(new)?)
    }

    /// All input was read and everything has fired: what was emitted counts once this checkpoint is saved. If that fails, it is
    /// tried again until somebody stops the run.
    pub(super) fn save_last(&mut self, sinks: Sinks) -> Result<(), KeepError> {
        let (checkpoint, taken_at) = (self.checkpoints.wanted() + 1, self.clock.now());
        self.checkpoints.want(checkpoint);
        let again = sinks.clone();
        let new = self.new_checkpoint(checkpoint, taken_at, Vec::new(), Vec::new(), sinks, true);
        match self.store.save(new) {
            Ok(kept) => {
                self.completed(checkpoint, taken_at, 0, &kept);
                Ok(())
            }
            Err(error) => {
                self.next_at = self.clock.now().saturating_add(millis(LAST_AGAIN));
                self.last = Some(again);
                self.failed(checkpoint, error.into())
            }
        }
    }

    fn new_checkpoint(
        &self,
        checkpoint: u64,
        taken_at: EventTime,
        source: Vec<u8>,
        operators: Vec<OperatorPart>,
        sinks: Sinks,
        finished: bool,
    ) -> NewCheckpoint {
        let sink = |(name, prepared): (&String, Option<Vec<u8>>)| SinkPart { name: name.clone(), prepared };
        NewCheckpoint {
            checkpoint,
            taken_at,
            max_parallelism: self.max_parallelism,
            finished,
            source,
            sinks: self.sinks.iter().zip(sinks.prepared).map(sink).collect(),
            account: sinks.account,
            operators,
        }
    }

    fn completed(&mut self, checkpoint: u64, since: EventTime, aligned_ms: i64, kept: &Kept) {
        self.failures_in_a_row = 0;
        self.checkpoints.complete(checkpoint);
        self.board.completed(checkpoint, since, self.clock.now(), aligned_ms, kept);
        if let Some(before) = self.local.replace(checkpoint) {
            self.drop_snapshots(before);
        }
    }

    /// A checkpoint that is kept begins there. Once all that are kept are known, the input before the oldest is not needed.
    fn note_begin(&mut self, taken_at: EventTime, position: Option<SourcePosition>) {
        self.begins.push_back((taken_at, position));
        while self.begins.len() > KEPT_CHECKPOINTS {
            self.begins.pop_front();
        }
        let Some((oldest_at, oldest)) = self.begins.front() else { return };
        self.board.keeps_since(*oldest_at);
        if let (KEPT_CHECKPOINTS, Some(oldest)) = (self.begins.len(), oldest) {
            (self.release)(oldest);
        }
    }

    /// A checkpoint has come to nothing. Processing goes on, unless a later run has taken over or too many have failed.
    pub(super) fn failed(&mut self, checkpoint: u64, failure: Failure) -> Result<(), KeepError> {
        self.failures_in_a_row += 1;
        self.board.failed(self.clock.now(), &failure);
        tracing::warn!(checkpoint, in_a_row = self.failures_in_a_row, error = %failure, "a checkpoint failed; the job goes on");
        self.drop_snapshots(checkpoint);
        match failure {
            Failure::Store(error @ CheckpointError::Fenced { .. }) => Err(KeepError::Fenced(error)),
            source if self.settings.tolerable_failures.is_some_and(|most| self.failures_in_a_row > most) => {
                Err(KeepError::Failed { failures: self.failures_in_a_row, source })
            }
            _ => Ok(()),
        }
    }

    /// Removes a checkpoint's snapshots from this machine.
    pub(super) fn drop_snapshots(&self, checkpoint: u64) {
        remove_folder(&checkpoint_folder(&self.folder, checkpoint));
    }
}
