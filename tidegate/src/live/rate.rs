//! How long a run has taken and how fast it reads.

use std::time::{Duration, Instant};

/// The rate is that of about the last second.
const OVER: Duration = Duration::from_secs(1);

/// A stopwatch that also watches a count.
pub(super) struct Stopwatch {
    started: Instant,
    /// The count at the start of the stretch that is being measured.
    from: (Instant, u64),
    count: u64,
    rate: u64,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        let started = now();
        Self { started, from: (started, 0), count: 0, rate: 0 }
    }

    pub(super) fn elapsed(&self) -> Duration {
        now() - self.started
    }

    /// Takes the count of this moment; whether it has changed.
    pub(super) fn note(&mut self, count: u64) -> bool {
        let changed = count != self.count;
        self.count = count;
        let now = now();
        let (since, before) = self.from;
        if now - since >= OVER {
            self.rate = per_second(count - before, now - since);
            self.from = (now, count);
        }
        changed
    }

    /// Counts a second, of late; until one second is over, from the start.
    pub(super) fn rate(&self) -> u64 {
        if self.rate > 0 { self.rate } else { self.average(self.count) }
    }

    /// Counts a second, from the start.
    pub(super) fn average(&self, count: u64) -> u64 {
        per_second(count, self.elapsed())
    }
}

fn per_second(count: u64, time: Duration) -> u64 {
    let millis = time.as_millis().max(1);
    u64::try_from(u128::from(count) * 1000 / millis).unwrap_or(u64::MAX)
}

#[allow(clippy::disallowed_methods, reason = "how long a person waits is real time; no result depends on it")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_counts_in_a_second() {
        assert_eq!(per_second(500, Duration::from_millis(250)), 2000);
        assert_eq!(per_second(7, Duration::ZERO), 7000);
    }

    #[test]
    fn a_stopwatch_says_whether_the_count_moved() {
        let mut watch = Stopwatch::start();
        assert!(!watch.note(0));
        assert!(watch.note(10));
        assert!(!watch.note(10));
    }
}
