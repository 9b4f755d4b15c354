//! The histogram against the sorted list of what was recorded.

use tidegate_types::time::{EARLIEST_TIME, LATEST_TIME};

use super::*;
use crate::chance::Chance;

fn of(values: &[i64]) -> LatenessHistogram {
    let mut histogram = LatenessHistogram::default();
    values.iter().for_each(|value| histogram.record(Millis(*value)));
    histogram
}

/// The least value that at least this many in a thousand keep to.
fn exactly(sorted: &[i64], per_mille: usize) -> i64 {
    sorted[(sorted.len() * per_mille).div_ceil(1000).max(1) - 1]
}

/// Lateness as sources have it: mostly none, sometimes milliseconds, rarely years.
fn drawn(chance: &mut Chance, count: u64) -> Vec<i64> {
    let value = |chance: &mut Chance| match chance.below(4) {
        0 => 0,
        1 => chance.below(300),
        2 => chance.below(1 << 24),
        _ => chance.below(1 << 49),
    };
    (0..count).map(|_| i64::try_from(value(chance)).unwrap()).collect()
}

#[test]
fn lateness_is_the_distance_to_the_newest_time_before() {
    let mut recorder = LatenessRecorder::new();
    assert_eq!(recorder.newest(), None);
    for time in [-5, -5, 10, 7, 10, 12, -8] {
        recorder.observe(time);
    }
    assert_eq!(recorder.newest(), Some(12));
    let buckets: Vec<_> = recorder.histogram().buckets().map(|bucket| (bucket.to.0, bucket.records)).collect();
    assert_eq!(buckets, [(0, 5), (3, 1), (20, 1)]);
}

#[test]
fn the_first_record_is_in_order_whatever_its_time() {
    for time in [EventTime::MIN, -1, 0, EventTime::MAX] {
        let mut recorder = LatenessRecorder::new();
        recorder.observe(time);
        assert_eq!((recorder.histogram().max(), recorder.histogram().count()), (Millis(0), 1), "{time}");
    }
}

#[test]
fn quantiles_are_never_too_small_and_at_most_one_128th_too_large() {
    for seed in 0..60 {
        let mut chance = Chance::of_seed(seed);
        let count = 1 + chance.below(3000);
        let mut values = drawn(&mut chance, count);
        let histogram = of(&values);
        values.sort_unstable();
        for per_mille in [1, 500, 900, 990, 999, 1000] {
            let exact = exactly(&values, usize::try_from(per_mille).unwrap());
            let shown = histogram.at_per_mille(per_mille).0;
            assert!(shown >= exact, "seed {seed}, {per_mille}: {shown} for {exact}");
            assert!(shown - exact <= exact / 128, "seed {seed}, {per_mille}: {shown} for {exact}");
        }
        assert_eq!(histogram.max().0, *values.last().unwrap(), "seed {seed}");
        assert_eq!(histogram.count(), u64::try_from(values.len()).unwrap(), "seed {seed}");
        // The promise of `max_delay_for_999`, in its own words.
        let kept = values.iter().filter(|value| **value <= histogram.max_delay_for_999().0).count();
        assert!(kept * 1000 >= values.len() * 999, "seed {seed}: {kept} of {}", values.len());
    }
}

#[test]
fn buckets_hold_every_record_once() {
    for seed in 0..50 {
        let mut chance = Chance::of_seed(seed);
        let values = drawn(&mut chance, 500);
        let mut before = -1;
        let mut records = 0;
        for bucket in of(&values).buckets() {
            assert!(before < bucket.from.0 && bucket.from <= bucket.to, "seed {seed}: {bucket:?} after {before}");
            let within = values.iter().filter(|value| (bucket.from.0..=bucket.to.0).contains(*value)).count();
            assert_eq!(u64::try_from(within).unwrap(), bucket.records, "seed {seed}: {bucket:?}");
            before = bucket.to.0;
            records += bucket.records;
        }
        assert_eq!(records, 500, "seed {seed}");
    }
}

#[test]
fn a_merge_is_what_one_histogram_of_all_records_holds() {
    for seed in 0..60 {
        let mut chance = Chance::of_seed(seed);
        let parts: Vec<Vec<i64>> = (0..3)
            .map(|_| {
                let count = chance.below(40);
                drawn(&mut chance, count)
            })
            .collect();
        let mut merged = LatenessHistogram::default();
        parts.iter().for_each(|part| merged.merge(&of(part)));
        let whole = of(&parts.concat());
        let buckets = |histogram: &LatenessHistogram| histogram.buckets().collect::<Vec<_>>();
        assert_eq!(buckets(&merged), buckets(&whole), "seed {seed}");
        assert_eq!((merged.summary(), merged.count()), (whole.summary(), whole.count()), "seed {seed}");
    }
}

#[test]
fn no_records_need_no_delay() {
    let histogram = LatenessHistogram::default();
    assert_eq!(histogram.summary(), LatenessSummary::default());
    assert_eq!((histogram.count(), histogram.buckets().count()), (0, 0));
}

#[test]
fn memory_is_bounded() {
    let largest = of(&[LATEST_TIME - EARLIEST_TIME]);
    assert!(largest.behind.unwrap().distinct_values() * size_of::<u64>() <= 43 << 10);
}
