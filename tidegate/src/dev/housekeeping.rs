//! What has to be done from time to time: records that are older, or more, than their stream keeps are let go.
//!
//! Invariant: the first round is done before jobs start, so that a job begins with what is kept, and has a whole pause to get
//! going before the next one.

use std::sync::Arc;
use std::time::Duration;

use tidegate_log::Log;
use tidegate_types::Clock;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::clock::SystemClock;

/// Between two rounds. Retention is kept to this exactness.
const ROUND: Duration = Duration::from_secs(10);

/// Goes round until it is aborted. A round that fails is logged, and the next one tries again.
pub(super) async fn run(log: Arc<dyn Log>) {
    let mut rounds = interval_at(Instant::now() + ROUND, ROUND);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        rounds.tick().await;
        round(Arc::clone(&log)).await;
    }
}

/// One round.
pub(super) async fn round(log: Arc<dyn Log>) {
    match tokio::task::spawn_blocking(move || log.retain(SystemClock.now())).await {
        Ok(Ok(retained)) => tracing::debug!(?retained, "retention"),
        Ok(Err(error)) => tracing::error!(%error, "retention failed"),
        Err(error) => tracing::error!(%error, "retention broke off"),
    }
}
