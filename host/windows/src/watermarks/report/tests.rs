//! What a report says at chosen moments.

use tidegate_pipeline::{Strategy, WatermarkSpec};
use tidegate_types::Millis;

use super::*;
use crate::watermarks::ClockStart;

const A: PartitionId = PartitionId(0);
const B: PartitionId = PartitionId(1);

fn source() -> SourceWatermarks {
    let strategy = Strategy::BoundedOutOfOrderness { max_delay: Millis(5) };
    let spec = WatermarkSpec { strategy, idle_partition_timeout: Some(Millis(100)), max_drift: None };
    SourceWatermarks::new(&spec, 2, ClockStart::FirstArrival)
}

fn read(source: &mut SourceWatermarks, id: PartitionId, times: &[EventTime]) {
    for time in times {
        source.hear(id);
        source.record(id, *time, None);
    }
}

#[test]
fn the_lag_is_from_the_watermark_to_the_clock() {
    let mut source = source();
    read(&mut source, A, &[1000]);
    assert_eq!(source.report().now.lag(), None, "neither a clock nor a watermark");
    source.advance_clock(1100, |_, _| ());
    assert_eq!(source.report().now.lag(), None, "no watermark: the other partition was never heard");
    read(&mut source, B, &[1050]);
    let now = source.report().now;
    assert_eq!((now.lag(), now.slowest), (Some(105), Some((A, Watermark::at(995)))));
}

#[test]
fn a_partition_shows_how_late_its_records_are() {
    let mut source = source();
    read(&mut source, A, &[1000, 990, 1010, 1000]);
    read(&mut source, B, &[500, 600]);
    let report = source.report();
    let [a, b] = report.partitions.as_slice() else { panic!("two partitions") };
    assert_eq!((a.newest, a.watermark, a.lateness.count()), (Some(1010), Watermark::at(1005), 4));
    assert_eq!((a.lateness.max(), a.lateness.max_delay_for_999()), (Millis(10), Millis(10)));
    assert_eq!((b.newest, b.lateness.max()), (Some(600), Millis(0)));
    assert_eq!((report.lateness().count(), report.lateness().max()), (6, Millis(10)));
}

#[test]
fn what_stood_before_the_end_is_still_told_after_it() {
    let mut source = source();
    source.advance_clock(0, |_, _| ());
    read(&mut source, A, &[1000]);
    read(&mut source, B, &[900]);
    assert_eq!(source.report().before_end, None);
    source.end([A]);
    assert_eq!(source.report().before_end, None, "the other goes on");
    source.end([B]);
    source.end_all();
    let report = source.report();
    assert_eq!((report.now.watermark, report.now.slowest, report.now.lag()), (Watermark::MAX, None, None));
    let before = report.before_end.unwrap();
    assert_eq!((before.watermark, before.slowest), (Watermark::at(895), Some((B, Watermark::at(895)))));
    assert!(report.partitions.iter().all(|partition| partition.state == PartitionState::Ended));
}
