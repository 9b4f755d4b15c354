//! Paper calculations of docs/semantics.md, section 2.

mod holds;
mod random;

use super::*;

const A: PartitionId = PartitionId(0);
const B: PartitionId = PartitionId(1);

fn source(strategy: Strategy, idle: Option<i64>, partitions: usize) -> SourceWatermarks {
    let spec = WatermarkSpec { strategy, idle_partition_timeout: idle.map(Millis), max_drift: Some(Millis(20)) };
    SourceWatermarks::new(&spec, partitions, ClockStart::FirstArrival)
}

fn bounded(delay: i64) -> Strategy {
    Strategy::BoundedOutOfOrderness { max_delay: Millis(delay) }
}

fn advance(source: &mut SourceWatermarks, to: i64) -> Vec<(i64, Watermark)> {
    let mut moves = Vec::new();
    source.advance_clock(to, |instant, watermark| moves.push((instant, watermark)));
    moves
}

#[test]
fn the_slowest_partition_holds_the_watermark_back() {
    let mut source = source(bounded(5), None, 2);
    assert_eq!(source.record(A, 100, None), None);
    assert_eq!(source.slowest(), Some((B, Watermark::MIN)));
    assert_eq!(source.record(B, 50, None), Some(Watermark::at(45)));
    assert_eq!(source.record(B, 40, None), None);
    assert_eq!(source.record(B, 200, None), Some(Watermark::at(95)));
    assert_eq!(source.end([A]), Some(Watermark::at(195)));
    assert_eq!(source.end([B]), None);
    assert_eq!(source.end_all(), Some(Watermark::MAX));
}

#[test]
fn idleness_takes_effect_at_the_last_arrival_plus_the_timeout() {
    let mut source = source(bounded(0), Some(10), 2);
    assert_eq!(advance(&mut source, 0), []);
    source.hear(A);
    assert_eq!(source.record(A, 100, None), None);
    assert_eq!(advance(&mut source, 9), []);
    source.hear(A);
    assert_eq!(source.record(A, 110, None), None);
    assert_eq!(advance(&mut source, 12), [(10, Watermark::at(110))]);
    source.hear(B);
    assert_eq!(source.combined(), Watermark::at(110));
    assert_eq!(source.record(B, 50, None), None, "the combined watermark never moves back");
}

#[test]
fn partitions_that_fall_due_together_become_idle_together() {
    let mut source = source(bounded(0), Some(10), 3);
    advance(&mut source, 0);
    for (id, time) in [(A, 5), (B, 7)] {
        source.hear(id);
        source.record(id, time, None);
    }
    advance(&mut source, 4);
    source.hear(PartitionId(2));
    source.record(PartitionId(2), 50, None);
    assert_eq!(source.combined(), Watermark::at(5));
    assert_eq!(advance(&mut source, 14), [(10, Watermark::at(50))], "all idle at 14: the watermark stays");
    source.hear(A);
    assert_eq!(source.record(A, 60, None), Some(Watermark::at(60)));
}

#[test]
fn an_assigned_partition_holds_the_watermark_where_it_is() {
    let mut source = source(bounded(0), Some(10), 1);
    advance(&mut source, 0);
    source.hear(A);
    assert_eq!(source.record(A, 100, None), Some(Watermark::at(100)));
    advance(&mut source, 5);
    assert_eq!(source.assign(), B);
    assert_eq!(source.slowest(), Some((B, Watermark::MIN)));
    source.hear(A);
    assert_eq!(source.record(A, 120, None), None);
    assert_eq!(source.combined(), Watermark::at(100));
    source.hear(B);
    assert_eq!(source.record(B, 50, None), None, "behind the combined watermark: it stays");
    assert_eq!(source.record(B, 110, None), Some(Watermark::at(110)));
}

#[test]
fn the_timeout_of_an_assigned_partition_runs_from_its_assignment() {
    let mut source = source(bounded(0), Some(10), 1);
    advance(&mut source, 0);
    source.assign();
    advance(&mut source, 7);
    source.assign();
    source.hear(A);
    assert_eq!(source.record(A, 100, None), None);
    assert_eq!(advance(&mut source, 10), [], "the one assigned at 7 still counts");
    source.hear(A);
    assert_eq!(advance(&mut source, 17), [(17, Watermark::at(100))]);
}

#[test]
fn a_source_without_partitions_waits_for_the_first() {
    let mut source = source(bounded(0), None, 0);
    assert_eq!(source.combined(), Watermark::MIN);
    let first = source.assign();
    assert_eq!(source.record(first, 5, None), Some(Watermark::at(5)));
    assert_eq!(self::source(bounded(0), None, 0).end_all(), Some(Watermark::MAX));
}

#[test]
fn a_punctuated_source_moves_by_its_claims_only() {
    let mut source = source(Strategy::Punctuated { field: "mark".into() }, None, 1);
    assert_eq!(source.record(A, 100, None), None);
    assert_eq!(source.record(A, 100, Some(90)), Some(Watermark::at(90)));
    assert_eq!(source.record(A, 100, Some(80)), None);
}

#[test]
fn a_partition_heard_twice_at_one_instant_after_being_idle_can_fall_idle_again() {
    let mut source = source(bounded(0), Some(10), 2);
    advance(&mut source, 0);
    source.hear(A);
    source.record(A, 1, None);
    advance(&mut source, 10);
    source.hear(B);
    source.record(B, 3, None);
    assert_eq!(source.combined(), Watermark::at(3));
    advance(&mut source, 15);
    source.hear(A);
    source.hear(A);
    source.record(A, 9, None);
    assert_eq!(source.combined(), Watermark::at(3));
    assert_eq!(advance(&mut source, 20), [(20, Watermark::at(9))]);
    assert_eq!(source.next_idle(), Some(25));
}
