//! What has to be done from time to time: records that are older, or more, than their stream keeps are let go.

use std::sync::Arc;
use std::time::Duration;

use tidegate_log::Log;
use tidegate_types::Clock;
use tokio::time::{MissedTickBehavior, interval};

use crate::clock::SystemClock;

/// Between two rounds. Retention is kept to this exactness.
const ROUND: Duration = Duration::from_secs(10);

/// Goes round until it is aborted. A round that fails is logged, and the next one tries again.
pub(super) async fn run(log: Arc<dyn Log>) {
    let mut rounds = interval(ROUND);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        rounds.tick().await;
        let log = Arc::clone(&log);
        match tokio::task::spawn_blocking(move || log.retain(SystemClock.now())).await {
            Ok(Ok(retained)) => tracing::debug!(?retained, "retention"),
            Ok(Err(error)) => tracing::error!(%error, "retention failed"),
            Err(error) => tracing::error!(%error, "retention broke off"),
        }
    }
}
