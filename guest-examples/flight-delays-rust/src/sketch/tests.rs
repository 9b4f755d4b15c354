//! The sketch against the flights themselves.

use tidegate_sdk::testing::{AggregatorHarness, Group};

use super::{BUCKETS, DelaySketch, Delays, Departure, bucket_of, lower_edge};

const FLIGHTS: &str = include_str!("../../data/flights-2013-01-first-3000.ndjson");

fn departures(delays: &[Option<i64>]) -> Vec<Departure> {
    delays.iter().map(|&delay_min| Departure { delay_min, cancelled: delay_min.is_none() }).collect()
}

fn real_delays() -> Vec<Option<i64>> {
    let parse = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["dep_delay_min"].as_i64();
    FLIGHTS.lines().map(parse).collect()
}

fn aggregate(delays: &[Option<i64>]) -> Delays {
    let hook = AggregatorHarness::<DelaySketch>::open("null").unwrap();
    hook.aggregate(&Group::default(), &departures(delays)).unwrap().0
}

#[test]
fn every_delay_falls_between_the_edges_of_its_bucket() {
    for delay in -30..3_000 {
        let bucket = bucket_of(delay);
        let next = if bucket + 1 < BUCKETS { lower_edge(bucket + 1) } else { i64::MAX };
        assert!(lower_edge(bucket) <= delay && delay < next, "{delay} in bucket {bucket}");
    }
    assert_eq!((bucket_of(-500), bucket_of(100_000)), (0, BUCKETS - 1));
}

#[test]
fn percentiles_of_real_flights_are_right_to_a_bucket() {
    let all = real_delays();
    let mut sorted: Vec<i64> = all.iter().flatten().copied().collect();
    sorted.sort_unstable();
    let pane = aggregate(&all);
    for (percent, shown) in [(50, pane.p50_min), (90, pane.p90_min), (99, pane.p99_min)] {
        let exact = sorted[(percent * sorted.len()).div_ceil(100) - 1];
        assert_eq!(shown, Some(lower_edge(bucket_of(exact))), "p{percent} is {exact}");
    }
    let mean = sorted.iter().sum::<i64>() as f64 / sorted.len() as f64;
    let cancelled = (all.len() - sorted.len()) as f64 / all.len() as f64;
    assert_eq!((pane.mean_min, pane.cancelled_share), (Some(mean), Some(cancelled)));
}

#[test]
fn halves_merge_to_the_whole() {
    let all = real_delays();
    let hook = AggregatorHarness::<DelaySketch>::open("null").unwrap();
    let group = Group::default();
    let of = |delays: &[Option<i64>]| hook.accumulate(&group, &hook.fresh(), &departures(delays)).unwrap().0;
    let (left, right) = all.split_at(all.len() / 3);
    assert_eq!(hook.merge(&of(left), &of(right)).unwrap(), of(&all));
}

#[test]
fn a_pane_without_flights_shows_nothing() {
    let empty =
        Delays { departed: 0, mean_min: None, p50_min: None, p90_min: None, p99_min: None, cancelled_share: None };
    assert_eq!(aggregate(&[]), empty);
}

#[test]
fn an_hour_of_cancelled_flights_has_a_share_but_no_delay() {
    let pane = aggregate(&[None, None]);
    assert_eq!((pane.departed, pane.p50_min, pane.cancelled_share), (0, None, Some(1.0)));
}
