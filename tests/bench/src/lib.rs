//! What benchmarks share: the clock, and the table that goes into docs/benchmarks.md.
//!
//! Each case is run in rounds of a fraction of a millisecond until its time is up, and the fastest round counts: what disturbs
//! a measurement on a shared machine only ever makes it slower.

use std::hint::black_box;
use std::time::{Duration, Instant};

pub mod events;

/// How long a case is measured.
const BUDGET: Duration = Duration::from_millis(1_500);
/// How long a round lasts at least: short against a scheduler's slice, long against the clock's resolution.
const ROUND: Duration = Duration::from_micros(200);

/// Nanoseconds for one run of `case`, by its fastest round.
pub fn nanos<T>(mut case: impl FnMut() -> T) -> f64 {
    let mut runs = 1;
    let mut fastest = f64::INFINITY;
    let started = now();
    while started.elapsed() < BUDGET {
        let round = now();
        for _ in 0..runs {
            black_box(case());
        }
        let taken = round.elapsed();
        if taken < ROUND {
            runs *= 2;
            continue;
        }
        fastest = fastest.min(taken.as_secs_f64() * 1e9 / f64::from(runs));
    }
    fastest
}

/// What `work` gives, and the seconds that it took.
pub fn seconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = now();
    let result = black_box(work());
    (result, started.elapsed().as_secs_f64())
}

#[allow(clippy::disallowed_methods, reason = "measuring time is what a benchmark is for")]
fn now() -> Instant {
    Instant::now()
}
