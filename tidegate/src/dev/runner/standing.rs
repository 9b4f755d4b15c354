//! How far a job's run is, kept for whoever asks: written by the sink task after each emission, read by the API.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tidegate_connectors::ReadPositions;
use tidegate_coordinator::{
    CheckpointStatus, CompletedCheckpoint, FailingCheckpoints, Lag, RestoredCheckpoint, RunAccount, RunPanes, RunStatus,
};
use tidegate_dataflow::Account;
use tidegate_log::Log;
use tidegate_pipeline::Form;
use tidegate_types::{EventTime, PaneBatch, RowBatch, Watermark};
use tidegate_worker::{CheckpointBoard, Observer, RunProgress};

use super::states::JobState;

/// How far a run is.
pub(super) struct Standing {
    /// What its windows hold.
    pub(super) state: JobState,
    parallelism: u32,
    form: Form,
    /// How far its source is; none of a job that had finished before.
    positions: Option<Arc<ReadPositions>>,
    board: Arc<CheckpointBoard>,
    runs: AtomicBool,
    latest: Mutex<Latest>,
}

struct Latest {
    account: Account,
    watermark: Watermark,
    /// The lag of each source that was seen last.
    lags: Vec<tidegate_connectors::Lag>,
}

/// What a run begins with.
pub(super) struct Begins {
    pub(super) parallelism: u32,
    pub(super) form: Form,
    pub(super) positions: Option<Arc<ReadPositions>>,
    pub(super) state: JobState,
    pub(super) account: Account,
    pub(super) board: Arc<CheckpointBoard>,
}

impl Standing {
    /// Of a run that begins.
    pub(super) fn new(begins: Begins) -> Arc<Self> {
        let Begins { parallelism, form, positions, state, account, board } = begins;
        let latest = Latest { account, watermark: Watermark::MIN, lags: Vec::new() };
        let (runs, latest) = (AtomicBool::new(true), Mutex::new(latest));
        Arc::new(Self { state, parallelism, form, positions, board, runs, latest })
    }

    pub(super) fn runs(&self) -> bool {
        self.runs.load(Ordering::Acquire)
    }

    pub(super) fn has_ended(&self) {
        self.runs.store(false, Ordering::Release);
    }

    pub(super) fn status(&self, log: &dyn Log, now: EventTime) -> RunStatus {
        // A stream that was deleted meanwhile has the lag that it had.
        let lags = self.positions.as_ref().map(|positions| positions.lags(log, now));
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Ok(lags)) = lags {
            latest.lags = lags;
        }
        let watermark = latest.watermark.finite();
        RunStatus {
            parallelism: self.parallelism,
            lag: lag(tidegate_connectors::Lag::total(&latest.lags)),
            source_lags: latest.lags.iter().copied().map(lag).collect(),
            watermark,
            watermark_lag_ms: watermark.map(|watermark| now.saturating_sub(watermark)),
            account: shown(&latest.account, self.form),
            checkpoints: Some(checkpoints(self.board.status(), now)),
        }
    }
}

fn lag(lag: tidegate_connectors::Lag) -> Lag {
    Lag { records: lag.records, age_ms: i64::try_from(lag.age_ms).unwrap_or(i64::MAX) }
}

/// How checkpoints go, as users read it.
fn checkpoints(status: tidegate_worker::CheckpointStatus, now: EventTime) -> CheckpointStatus {
    let completed = |last: tidegate_worker::Completed| CompletedCheckpoint {
        id: last.checkpoint,
        completed_at: last.completed_at,
        duration_ms: last.duration_ms,
        alignment_ms: last.aligned_ms,
        bytes_full: last.full_bytes,
        bytes_transferred: last.transferred_bytes,
        bytes_referenced: last.referenced_bytes,
    };
    let failing = status.failing_since.map(|since| FailingCheckpoints {
        in_a_row: status.failures_in_a_row.into(),
        since,
        last_error: status.last_error.unwrap_or_default().to_owned(),
    });
    let restored = status.restored.map(|restored| RestoredCheckpoint {
        id: restored.checkpoint,
        taken_at: restored.taken_at,
        assign_ms: Some(restored.phases.assign_ms),
        download_ms: Some(restored.phases.download_ms),
        open_ms: Some(restored.phases.open_ms),
        warm_ms: Some(restored.phases.warm_ms),
        replay_ms: None,
    });
    CheckpointStatus {
        completed: status.completed,
        failures: status.failures,
        failing,
        oldest_kept_age_ms: status.oldest_kept_at.map(|taken_at| now.saturating_sub(taken_at)),
        store_bytes_per_second: status.last.and_then(|last| last.throughput).map(whole),
        last: status.last.map(completed),
        restored,
        oldest_prepared_transaction_ms: None,
    }
}

/// A rate in whole bytes.
fn whole(rate: f64) -> u64 {
    format!("{rate:.0}").parse().unwrap_or(u64::MAX)
}

/// The account as users read it.
fn shown(account: &Account, form: Form) -> RunAccount {
    let of_graph = |count| (form == Form::Long).then_some(count);
    RunAccount {
        forwarded: of_graph(account.forwarded),
        emitted: of_graph(account.emitted),
        read: account.read,
        expanded: account.expanded,
        accepted: account.accepted,
        filtered: account.filtered,
        too_late: account.too_late,
        duplicate: account.duplicate,
        rejected: account.rejected,
        partly_late: account.partly_late,
        unshown: account.unshown,
        panes: RunPanes { early: account.panes_early, on_time: account.panes_on_time, late: account.panes_late },
        retractions: account.retractions,
    }
}

/// Writes a run's standing.
pub(super) struct Watching(pub(super) Arc<Standing>);

impl Observer for Watching {
    fn panes(&mut self, _sink: usize, _panes: &PaneBatch) {}

    fn rows(&mut self, _sink: usize, _rows: &RowBatch) {}

    fn progress(&mut self, progress: &RunProgress) {
        self.0.state.note(progress.operators.iter().map(|operator| (&operator.operator, operator.state_bytes)));
        let mut latest = self.0.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.account = progress.account;
        latest.watermark = progress.watermark;
    }
}
