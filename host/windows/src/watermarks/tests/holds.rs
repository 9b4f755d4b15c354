//! Partitions that the engine holds back: backpressure, drift control, a pause.

use super::*;

const C: PartitionId = PartitionId(2);

/// A source whose partitions were heard at 0, at these times. The timeout is 10, the largest drift 20.
fn heard(times: &[i64]) -> SourceWatermarks {
    let mut source = source(bounded(0), Some(10), times.len());
    advance(&mut source, 0);
    for (id, time) in (0_u32..).map(PartitionId).zip(times) {
        source.hear(id);
        source.record(id, *time, None);
    }
    source
}

fn change(held: &[PartitionId], released: &[PartitionId]) -> DriftChange {
    DriftChange { held: held.to_vec(), released: released.to_vec() }
}

#[test]
fn a_held_partition_is_never_idle_and_its_timeout_starts_again_on_release() {
    let mut source = heard(&[5, 50]);
    advance(&mut source, 8);
    source.hold(A, HeldBy::Backpressure);
    assert!(!source.may_read(A) && source.may_read(B));
    source.hear(B);
    assert_eq!(advance(&mut source, 1_000), [], "only the partition that is not held fell idle");
    assert_eq!(source.slowest(), Some((A, Watermark::at(5))));
    source.hear(B);
    source.release(A, HeldBy::Backpressure);
    assert!(source.may_read(A));
    advance(&mut source, 1_005);
    source.hear(B);
    assert_eq!(advance(&mut source, 1_009), []);
    assert_eq!(advance(&mut source, 1_010), [(1_010, Watermark::at(50))]);
}

#[test]
fn a_standstill_of_the_source_is_nobodys_silence() {
    let mut source = heard(&[5, 50]);
    advance(&mut source, 4);
    source.hear(B);
    source.stood_still(6, 1_006);
    assert_eq!(advance(&mut source, 1_006), [], "6 of 10 have run for A, 2 for B");
    assert_eq!(advance(&mut source, 1_010), [(1_010, Watermark::at(50))]);
    source.stood_still(1_010, 2_000);
    source.record(B, 90, None);
    assert_eq!(source.combined(), Watermark::at(90), "an idle partition stays idle");
}

#[test]
fn a_partition_is_held_until_every_reason_is_gone() {
    let mut source = heard(&[5, 50]);
    for by in [HeldBy::Pause, HeldBy::Drift, HeldBy::Pause] {
        source.hold(A, by);
    }
    source.release(A, HeldBy::Pause);
    assert_eq!(source.report().partitions[0].held_by, [HeldBy::Drift]);
    advance(&mut source, 100);
    assert_eq!(source.report().partitions[0].state, PartitionState::Active);
    source.release(A, HeldBy::Drift);
    assert!(source.may_read(A));
}

#[test]
fn holding_an_idle_partition_makes_it_count_and_moves_nothing() {
    let mut source = heard(&[5, 50]);
    advance(&mut source, 5);
    source.hear(B);
    assert_eq!(advance(&mut source, 10), [(10, Watermark::at(50))]);
    source.hold(A, HeldBy::Pause);
    assert_eq!((source.combined(), source.slowest()), (Watermark::at(50), Some((A, Watermark::at(5)))));
    assert_eq!(source.record(B, 90, None), None, "the held partition holds the watermark");
    source.release(A, HeldBy::Pause);
    advance(&mut source, 12);
    source.hear(B);
    assert_eq!(advance(&mut source, 20), [(20, Watermark::at(90))], "idle again, a whole timeout after the release");
}

#[test]
fn a_partition_more_than_max_drift_ahead_is_not_read_until_it_is_in_range() {
    let mut source = heard(&[100, 120, 121]);
    assert_eq!(source.control_drift(), change(&[C], &[]), "exactly max_drift ahead is in range");
    assert_eq!([A, B, C].map(|id| source.may_read(id)), [true, true, false]);
    assert_eq!(source.control_drift(), change(&[], &[]));
    source.record(A, 101, None);
    assert_eq!(source.control_drift(), change(&[], &[C]));
}

#[test]
fn drift_is_measured_from_the_slowest_active_partition() {
    let mut source = heard(&[100, 200, 300]);
    assert_eq!(source.control_drift(), change(&[B, C], &[]));
    assert_eq!(advance(&mut source, 10), [(10, Watermark::at(200))], "A fell idle; B and C are held and cannot");
    assert_eq!(source.control_drift(), change(&[], &[B]));
    source.end([B]);
    assert_eq!(source.combined(), Watermark::at(300));
    assert_eq!(source.control_drift(), change(&[], &[C]));
    source.hear(A);
    assert_eq!(source.control_drift(), change(&[C], &[]), "A is back, at 100");
    assert_eq!(source.combined(), Watermark::at(300));
}

#[test]
fn a_partition_that_was_never_heard_lets_nobody_run_ahead() {
    let mut source = source(bounded(0), Some(10), 2);
    assert_eq!(source.control_drift(), change(&[], &[]), "nobody is ahead");
    advance(&mut source, 0);
    source.hear(A);
    source.record(A, 5, None);
    assert_eq!(source.control_drift(), change(&[A], &[]));
    assert_eq!(advance(&mut source, 10), [(10, Watermark::at(5))], "the silent one falls idle");
    assert_eq!(source.control_drift(), change(&[], &[A]));
}

#[test]
fn an_idle_partition_that_is_out_of_range_is_held_and_counts() {
    let mut source = heard(&[100, 500]);
    advance(&mut source, 5);
    source.hear(A);
    advance(&mut source, 10);
    assert_eq!(source.report().partitions[1].state, PartitionState::Idle);
    assert_eq!(source.control_drift(), change(&[B], &[]));
    assert_eq!(source.report().partitions[1].state, PartitionState::Active);
    assert_eq!(source.combined(), Watermark::at(100));
}

#[test]
fn without_max_drift_nobody_is_held_back() {
    let strategy = bounded(0);
    let spec = WatermarkSpec { strategy, idle_partition_timeout: None, max_drift: None };
    let mut source = SourceWatermarks::new(&spec, 2, ClockStart::FirstArrival);
    source.record(A, i64::MAX / 2, None);
    source.record(B, 0, None);
    assert_eq!(source.control_drift(), DriftChange::default());
}
