//! How far a job's run is, kept for whoever asks: written by the sink task after each emission, read by the API.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tidegate_connectors::ReadPositions;
use tidegate_coordinator::{Lag, RunAccount, RunPanes, RunStatus};
use tidegate_dataflow::Account;
use tidegate_log::Log;
use tidegate_pipeline::Form;
use tidegate_types::{EventTime, PaneBatch, RowBatch, Watermark};
use tidegate_worker::{Observer, RunProgress};

use super::states::JobState;

/// How far a run is.
pub(super) struct Standing {
    /// What its windows hold.
    pub(super) state: JobState,
    parallelism: u32,
    form: Form,
    positions: Arc<ReadPositions>,
    runs: AtomicBool,
    latest: Mutex<Latest>,
}

struct Latest {
    account: Account,
    watermark: Watermark,
    /// The lag of each source that was seen last.
    lags: Vec<tidegate_connectors::Lag>,
}

impl Standing {
    /// Of a run that begins.
    pub(super) fn new(parallelism: u32, form: Form, positions: Arc<ReadPositions>, state: JobState) -> Arc<Self> {
        let latest = Latest { account: Account::default(), watermark: Watermark::MIN, lags: Vec::new() };
        let (runs, latest) = (AtomicBool::new(true), Mutex::new(latest));
        Arc::new(Self { state, parallelism, form, positions, runs, latest })
    }

    pub(super) fn runs(&self) -> bool {
        self.runs.load(Ordering::Acquire)
    }

    pub(super) fn has_ended(&self) {
        self.runs.store(false, Ordering::Release);
    }

    pub(super) fn status(&self, log: &dyn Log, now: EventTime) -> RunStatus {
        // A stream that was deleted meanwhile has the lag that it had.
        let lags = self.positions.lags(log, now);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(lags) = lags {
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
            checkpoints: None,
        }
    }
}

fn lag(lag: tidegate_connectors::Lag) -> Lag {
    Lag { records: lag.records, age_ms: i64::try_from(lag.age_ms).unwrap_or(i64::MAX) }
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
