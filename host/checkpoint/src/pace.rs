//! Bytes per second: uploads leave room for what else the machine and the store have to do.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Spreads bytes over time. Shared by everything that uploads.
pub(crate) struct Pace {
    bytes_per_second: Option<u64>,
    next: Mutex<Option<Instant>>,
}

impl Pace {
    /// None: as fast as it goes.
    pub(crate) fn new(bytes_per_second: Option<u64>) -> Self {
        Self { bytes_per_second: bytes_per_second.filter(|rate| *rate > 0), next: Mutex::new(None) }
    }

    /// Waits until so many bytes may be sent.
    pub(crate) async fn take(&self, bytes: u64) {
        let Some(rate) = self.bytes_per_second else { return };
        sleep_until(self.turn(bytes, rate)).await;
    }

    fn turn(&self, bytes: u64, rate: u64) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let turn = next.map_or(now, |next| next.max(now));
        *next = Some(turn + lasts(bytes, rate));
        turn
    }
}

/// How long so many bytes take.
fn lasts(bytes: u64, rate: u64) -> Duration {
    let micros = u128::from(bytes) * 1_000_000 / u128::from(rate);
    Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_wait_for_those_before_them() {
        let pace = Pace::new(Some(1_000));
        let first = pace.turn(500, 1_000);
        assert_eq!(pace.turn(2_000, 1_000), first + Duration::from_millis(500));
        assert_eq!(pace.turn(1, 1_000), first + Duration::from_millis(2_500));
    }

    #[test]
    fn a_rate_of_nothing_is_no_rate() {
        assert_eq!(Pace::new(Some(0)).bytes_per_second, None);
    }
}
