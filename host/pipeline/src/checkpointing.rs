//! When a deployed job saves its state, and how long its transactions must live: the defaults in one place.
//!
//! Invariant: a transaction that is in a checkpoint outlives every recovery that the restart policy allows. A job is refused
//! whose file could not keep that; the defaults keep it by themselves.

use tidegate_types::Millis;

use crate::check::Fault;
use crate::model::{Checkpoint, CheckpointMode, Pipeline, Sink};
use crate::path::key;

/// What a deployed job does whose file has no `checkpoint`.
const DEFAULT: Checkpoint = Checkpoint {
    interval: Millis(10_000),
    mode: CheckpointMode::Aligned,
    unaligned_after: None,
    tolerable_failures: None,
};

/// How long alignment is counted with where the file has no `unaligned_after`.
pub(crate) const DEFAULT_UNALIGNED_AFTER: Millis = Millis(60_000);

/// How long a transaction may stay open where its sink has no `transaction_timeout`.
pub(crate) const DEFAULT_TRANSACTION_TIMEOUT: Millis = Millis(15 * 60_000);

/// The longest recovery that is counted with: the longest pause of the restart policy (60 s) times its restarts in a row (7).
/// The pauses themselves are 1, 2, 4 … 32 and 60 s, about two minutes together; the other five are for the starts between
/// them: to fetch state, to open it, and to commit what was prepared. After that row the job has failed, and nothing of it
/// is committed any more. (The coordinator's tests hold its policy against this.)
pub const WORST_RECOVERY: Millis = Millis(7 * 60_000);

impl Pipeline {
    /// When the job saves its state once it is deployed: what the file says, or every 10 s, aligned. `tidegate run` takes no
    /// checkpoints, whatever the file says.
    #[must_use]
    pub fn checkpointing(&self) -> Checkpoint {
        self.checkpoint.unwrap_or(DEFAULT)
    }
}

impl Checkpoint {
    /// Whether so many failures in a row are borne: processing goes on, and the next checkpoint is tried. One that is not
    /// fails the run, and the restart policy takes over.
    #[must_use]
    pub fn tolerates(&self, failures_in_a_row: u64) -> bool {
        self.tolerable_failures.is_none_or(|tolerable| failures_in_a_row <= u64::from(tolerable))
    }
}

/// A transaction must not be dropped while a checkpoint may still commit it.
pub(crate) fn check(pipeline: &Pipeline) -> Result<(), Fault> {
    let Checkpoint { interval, unaligned_after, .. } = pipeline.checkpointing();
    let alignment = unaligned_after.unwrap_or(DEFAULT_UNALIGNED_AFTER);
    let needed = Millis(interval.0.saturating_add(alignment.0).saturating_add(WORST_RECOVERY.0));
    for (place, sink) in pipeline.sinks.iter().enumerate() {
        let Sink::TransactionalLog { transaction_timeout, .. } = &sink.sink else { continue };
        if *transaction_timeout > needed {
            continue;
        }
        let reason = format!(
            "a transaction may stay open for {transaction_timeout}, and a checkpoint can need {needed} until it is committed: \
             {interval} (`checkpoint.interval`) + {alignment} (`checkpoint.unaligned_after`, {DEFAULT_UNALIGNED_AFTER} where \
             absent) + {WORST_RECOVERY} (the longest recovery); a transaction that is dropped before takes its results with \
             it, so use more than {needed}, or shorten the interval"
        );
        let base = pipeline.sink_path(place);
        return Err(Fault::new(key(&base, "transaction_timeout"), base, reason));
    }
    Ok(())
}

/// What the file asks for and this release does not do.
pub(crate) fn remarks(pipeline: &Pipeline) -> Vec<Fault> {
    let Some(checkpoint) = &pipeline.checkpoint else { return Vec::new() };
    let remark = |name: &str, reason: &str| Fault::new(key("checkpoint", name), "checkpoint", reason);
    let mut remarks = Vec::new();
    if checkpoint.mode == CheckpointMode::Unaligned {
        remarks.push(remark(
            "mode",
            "accepted, but this release aligns every checkpoint: inputs wait for each other's barrier",
        ));
    }
    if checkpoint.unaligned_after.is_some() {
        let reason = "accepted, but this release aligns every checkpoint, however long that takes; here it only counts into \
                      what `sink.transaction_timeout` must exceed";
        remarks.push(remark("unaligned_after", reason));
    }
    remarks
}

#[cfg(test)]
mod tests;
