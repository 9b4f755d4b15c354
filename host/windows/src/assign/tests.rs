//! Paper calculations of window grids.

use super::*;

fn spans(time: i64, size: i64, slide: i64, offset: i64) -> Vec<(i64, i64)> {
    covering_windows(time, Millis(size), Millis(slide), Millis(offset)).map(|span| (span.start, span.end)).collect()
}

#[test]
fn floors_negative_times() {
    assert_eq!(tumbling_start(-1, Millis(10), Millis(0)), -10);
    assert_eq!(tumbling_start(-10, Millis(10), Millis(0)), -10);
    assert_eq!(tumbling_start(2, Millis(10), Millis(3)), -7);
    assert_eq!(tumbling_start(3, Millis(10), Millis(3)), 3);
}

#[test]
fn sliding_windows_hold_their_start_and_not_their_end() {
    assert_eq!(spans(10, 10, 5, 0), [(5, 15), (10, 20)]);
    assert_eq!(spans(14, 10, 5, 0), [(5, 15), (10, 20)]);
    assert_eq!(spans(15, 10, 5, 0), [(10, 20), (15, 25)]);
    assert_eq!(spans(7, 10, 10, 0), [(0, 10)]);
    assert_eq!(spans(-1, 10, 4, 1), [(-7, 3), (-3, 7)]);
}

/// A size that the slide does not divide: the number of windows alternates.
#[test]
fn sizes_that_the_slide_does_not_divide() {
    for time in -30..30 {
        let direct: Vec<(i64, i64)> = (-60..60)
            .filter(|start| (start - 1_i64).rem_euclid(3) == 0 && *start <= time && time < start + 7)
            .map(|s| (s, s + 7))
            .collect();
        assert_eq!(spans(time, 7, 3, 1), direct, "time {time}");
    }
}

#[test]
fn a_window_is_gone_exactly_at_end_plus_lateness() {
    assert!(!is_gone(10, Millis(5), Watermark::at(14)));
    assert!(is_gone(10, Millis(5), Watermark::at(15)));
    assert!(!is_gone(EventTime::MAX, Millis(0), Watermark::at(i64::MAX - 1)));
    assert!(is_gone(EventTime::MAX, Millis(0), Watermark::MAX));
}
