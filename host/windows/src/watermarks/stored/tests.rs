//! Watermarks that are written and restored: each rule of a restore, the bytes themselves, and bytes that are none of ours.

use tidegate_pipeline::{Strategy, WatermarkSpec};
use tidegate_types::Millis;

use super::*;
use crate::ClockStart;
use crate::chance::Chance;

const A: PartitionId = PartitionId(0);
const B: PartitionId = PartitionId(1);
const C: PartitionId = PartitionId(2);

fn spec() -> WatermarkSpec {
    let strategy = Strategy::BoundedOutOfOrderness { max_delay: Millis(5) };
    WatermarkSpec { strategy, idle_partition_timeout: Some(Millis(10)), max_drift: Some(Millis(20)) }
}

fn source(partitions: usize, start: ClockStart) -> SourceWatermarks {
    SourceWatermarks::new(&spec(), partitions, start)
}

fn written(source: &SourceWatermarks) -> Vec<u8> {
    let mut out = Vec::new();
    source.write(&mut out);
    out
}

fn restored(from: &SourceWatermarks, partitions: &[Option<usize>], start: ClockStart) -> SourceWatermarks {
    let bytes = written(from);
    let mut stored = Stored::new(&bytes);
    let mut source = source(partitions.len(), start);
    source.restore(&mut stored, partitions).expect("it was written here");
    assert_eq!(stored.end(), Ok(()), "nothing is left over");
    source
}

fn advance(source: &mut SourceWatermarks, to: i64) -> Vec<(i64, Watermark)> {
    let mut moves = Vec::new();
    source.advance_clock(to, |instant, watermark| moves.push((instant, watermark)));
    moves
}

fn give(source: &mut SourceWatermarks, id: PartitionId, time: i64) -> Option<Watermark> {
    source.hear(id);
    source.record(id, time, None)
}

/// A has 100, B 50; the clock stands at 7, and both were heard at 0.
fn two(start: ClockStart) -> SourceWatermarks {
    let mut source = source(2, start);
    advance(&mut source, 0);
    give(&mut source, A, 100);
    give(&mut source, B, 50);
    give(&mut source, B, 47);
    advance(&mut source, 7);
    source
}

#[test]
fn a_restored_report_counts_the_whole_job() {
    let before = two(ClockStart::FirstArrival);
    let mut after = restored(&before, &[Some(0), Some(1)], ClockStart::FirstArrival);
    assert_eq!(after.report(), before.report());
    give(&mut after, B, 40);
    let lateness = after.report().lateness();
    assert_eq!((lateness.count(), lateness.max()), (4, Millis(10)));
}

#[test]
fn an_added_partition_holds_the_watermark_where_it_is() {
    let before = two(ClockStart::FirstArrival);
    let mut after = restored(&before, &[None, Some(1), Some(0)], ClockStart::FirstArrival);
    assert_eq!(after.combined(), Watermark::at(45));
    assert_eq!(after.slowest(), Some((A, Watermark::MIN)));
    assert_eq!(give(&mut after, B, 200), None);
    assert_eq!(give(&mut after, A, 20), None, "behind the combined watermark: it stays");
    assert_eq!(give(&mut after, A, 90), Some(Watermark::at(85)));
    assert_eq!(after.report().partitions[2].watermark, Watermark::at(95));
    let mut silent = restored(&before, &[None, Some(1), Some(0)], ClockStart::FirstArrival);
    assert_eq!(advance(&mut silent, 10), [], "A and B are idle at 10, the added one from 17");
    assert_eq!(silent.next_idle(), Some(17));
}

#[test]
fn a_partition_that_is_gone_holds_nothing_back() {
    let mut after = restored(&two(ClockStart::FirstArrival), &[Some(0)], ClockStart::FirstArrival);
    assert_eq!(after.combined(), Watermark::at(45));
    assert_eq!(give(&mut after, A, 90), Some(Watermark::at(95)));
}

#[test]
fn on_a_virtual_clock_silence_goes_on_where_it_was() {
    let mut after = restored(&two(ClockStart::FirstArrival), &[Some(0), Some(1)], ClockStart::FirstArrival);
    assert_eq!(after.next_idle(), Some(10));
    give(&mut after, A, 110);
    assert_eq!(advance(&mut after, 12), [(10, Watermark::at(105))]);
}

#[test]
fn the_time_for_which_a_job_was_down_makes_no_partition_idle() {
    let before = two(ClockStart::Assignment(0));
    let mut after = restored(&before, &[Some(0), Some(1)], ClockStart::Assignment(5_000));
    assert_eq!((after.clock(), after.next_idle()), (5_000, Some(5_010)));
    advance(&mut after, 5_009);
    give(&mut after, A, 110);
    assert_eq!(advance(&mut after, 5_010), [(5_010, Watermark::at(105))]);
    let report = restored(&after, &[Some(0), Some(1)], ClockStart::Assignment(9_000)).report();
    let states = report.partitions.iter().map(|partition| partition.state);
    assert_eq!(states.collect::<Vec<_>>(), [PartitionState::Active, PartitionState::Idle]);
    let back = restored(&before, &[Some(0), Some(1)], ClockStart::Assignment(3));
    assert_eq!(back.clock(), 7, "a wall clock that was set back stands still");
}

#[test]
fn what_held_a_partition_in_the_ended_process_is_released_and_drift_is_not() {
    let mut before = two(ClockStart::FirstArrival);
    before.hold(A, HeldBy::Pause);
    before.hold(A, HeldBy::Drift);
    before.hold(B, HeldBy::Backpressure);
    let after = restored(&before, &[Some(0), Some(1)], ClockStart::FirstArrival);
    assert_eq!(after.report().partitions[0].held_by, [HeldBy::Drift]);
    assert!(!after.may_read(A) && after.may_read(B));
    assert_eq!(after.next_idle(), Some(17), "B's timeout starts again");
}

#[test]
fn ended_partitions_stay_ended_and_the_standing_before_keeps_its_partition() {
    let mut before = two(ClockStart::FirstArrival);
    before.end([A]);
    before.end([B]);
    let shown = before.report().before_end.expect("all have ended");
    assert_eq!(shown.slowest, Some((B, Watermark::at(45))));
    let mut after = restored(&before, &[Some(1), Some(0)], ClockStart::FirstArrival);
    let slowest = after.report().before_end.expect("all have ended").slowest;
    assert_eq!(slowest, Some((A, Watermark::at(45))));
    assert_eq!((after.has_ended(), after.end_all()), (true, Some(Watermark::MAX)));
    let added = restored(&before, &[Some(0), Some(1), None], ClockStart::FirstArrival);
    assert_eq!(
        (added.has_ended(), added.report().before_end, added.slowest()),
        (false, None, Some((C, Watermark::MIN)))
    );
}

#[test]
fn a_source_of_an_earlier_release_is_read() {
    let mut before = two(ClockStart::FirstArrival);
    before.end([A]);
    let golden: Vec<u8> = vec![
        1, 90, 14, 0, 0, 2, // version, combined 45, clock 7, nothing came back, no standing, partitions
        190, 1, 2, 0, 0, 0, 200, 1, 1, 0, 0, // A: 95, ended, since 0, no holds; newest 100, 1 in order
        90, 0, 0, 0, 0, 100, 1, 3, 1, 3,
        1, // B: 45, active, since 0, no holds; newest 50, 1 in order, one 3 behind
    ];
    assert_eq!(written(&before), golden);
    let mut source = source(2, ClockStart::FirstArrival);
    source.restore(&mut Stored::new(&golden), &[Some(0), Some(1)]).expect("a stored format");
    assert_eq!(source.report(), before.report());
}

#[test]
fn bytes_that_are_cut_or_changed_are_refused_or_read_but_never_panic() {
    let mut before = two(ClockStart::FirstArrival);
    for at in 0..50 {
        give(&mut before, A, 100 - at * at * 1_000);
    }
    before.end([A, B]);
    let bytes = written(&before);
    for len in 0..bytes.len() {
        let mut source = source(2, ClockStart::FirstArrival);
        assert!(source.restore(&mut Stored::new(&bytes[..len]), &[Some(0), Some(1)]).is_err(), "{len}");
    }
    let mut twice = source(2, ClockStart::FirstArrival);
    assert!(twice.restore(&mut Stored::new(&bytes), &[Some(0), Some(0)]).is_err());
    for seed in 0..4_000 {
        let mut chance = Chance::of_seed(seed);
        let mut damaged = bytes.clone();
        for _ in 0..=chance.below(3) {
            let at = usize::try_from(chance.below(bytes.len() as u64)).expect("few");
            damaged[at] = u8::try_from(chance.below(256)).expect("a byte");
        }
        let mut source = source(2, ClockStart::Assignment(9));
        if source.restore(&mut Stored::new(&damaged), &[Some(1), Some(0)]).is_ok() {
            let _ = (source.report().lateness().summary(), give(&mut source, A, 7), source.next_idle());
        }
    }
}
