//! Interval joins, sentence by sentence.

use tidegate_pipeline::{JoinKind, Matching};
use tidegate_types::{Value, Watermark};

use super::bench::{END, Event, at, interval, join, left, right, run};
use crate::StateSize;
use crate::join::hold_back;

/// Left mark, right mark, time.
fn pair(left: i64, right: i64, time: i64) -> (Option<i64>, Option<i64>, i64) {
    (Some(left), Some(right), time)
}

#[test]
fn both_ends_of_the_interval_belong_to_it() {
    let events = [left("a", 100, 1), right("a", 94, 2), right("a", 95, 3), right("a", 110, 4), right("a", 111, 5)];
    let ran = run(&interval(-5, 10, Matching::Inner), &events);
    assert_eq!(ran.rows(), [pair(1, 3, 100), pair(1, 4, 110)]);
    assert_eq!(ran.account.accepted, 5);
}

#[test]
fn it_does_not_matter_which_row_comes_first() {
    let events = [right("a", 94, 2), right("a", 95, 3), right("a", 110, 4), right("a", 111, 5), left("a", 100, 1)];
    let ran = run(&interval(-5, 10, Matching::Inner), &events);
    assert_eq!(ran.rows(), [pair(1, 3, 100), pair(1, 4, 110)]);
}

#[test]
fn an_interval_may_lie_before_or_after_the_left_row() {
    let events = [left("a", 100, 1), right("a", 90, 2), right("a", 100, 3), right("a", 110, 4)];
    assert_eq!(run(&interval(-15, -5, Matching::Inner), &events).rows(), [pair(1, 2, 100)]);
    assert_eq!(run(&interval(5, 15, Matching::Inner), &events).rows(), [pair(1, 4, 110)]);
}

#[test]
fn partners_come_in_order_of_time_then_arrival() {
    let events = [
        right("a", 12, 1),
        right("a", 10, 2),
        right("a", 12, 3),
        right("a", 11, 4),
        right("b", 11, 5),
        left("a", 10, 9),
    ];
    let ran = run(&interval(0, 5, Matching::Inner), &events);
    assert_eq!(ran.rows(), [pair(9, 2, 10), pair(9, 4, 11), pair(9, 1, 12), pair(9, 3, 12)]);
    assert!(ran.outs.iter().all(|out| out.event == 5), "when the second row arrives");
}

#[test]
fn keys_meet_when_type_and_value_are_equal() {
    let events = [left(1, 0, 1), left("1", 0, 2), left(1.0, 0, 3), right(1, 0, 4), right(true, 0, 5)];
    assert_eq!(run(&interval(0, 0, Matching::Inner), &events).rows(), [pair(1, 4, 0)]);
}

#[test]
fn a_row_before_the_watermark_is_late() {
    let events = [right("a", 100, 1), at(100), left("a", 99, 2), left("a", 100, 3)];
    let ran = run(&interval(-10, 10, Matching::Full), &events);
    assert_eq!(ran.rows(), [pair(3, 1, 100)]);
    assert_eq!((ran.account.accepted, ran.account.too_late), (2, 1));
    assert_eq!(ran.asides(), [("too-late", "left Some(2)")]);
    assert_eq!(ran.sides[0].operator, "pairs");
}

#[test]
fn allowed_lateness_takes_late_rows_and_keeps_their_partners() {
    let kind = JoinKind::Interval { lower: 0, upper: 10 };
    let join = join(kind, Matching::Left, 20);
    let events = [left("a", 70, 1), right("b", 80, 2), at(100), right("a", 80, 3), left("b", 79, 4), left("b", 80, 5)];
    let ran = run(&join, &events);
    assert_eq!(ran.rows(), [pair(1, 3, 80), pair(5, 2, 80)]);
    assert_eq!(ran.asides(), [("too-late", "left Some(4)")]);
    assert_eq!(hold_back(&join), 30);
}

#[test]
fn rows_are_kept_until_no_partner_can_come() {
    let events = [left("a", 100, 1), right("a", 100, 2), at(110), at(111)];
    // A left row waits for partners up to 10 later, a right one for partners that are not before it.
    let ran = run(&interval(0, 10, Matching::Inner), &events);
    assert_eq!(ran.states.iter().map(|state| state.join_rows).collect::<Vec<_>>(), [1, 2, 1, 0]);
    let ran = run(&interval(-10, 0, Matching::Inner), &events);
    assert_eq!(ran.states.iter().map(|state| state.join_rows).collect::<Vec<_>>(), [1, 2, 1, 0]);
}

#[test]
fn an_unmatched_row_comes_out_when_it_is_dropped() {
    let events = [left("a", 100, 1), right("a", 200, 2), at(110), at(111), at(201), END];
    let rows = |matching| run(&interval(0, 10, matching), &events).by_event();
    assert_eq!(rows(Matching::Inner), []);
    assert_eq!(rows(Matching::Left), [(3, Some(1), None)]);
    assert_eq!(rows(Matching::Right), [(4, None, Some(2))]);
    assert_eq!(rows(Matching::Full), [(3, Some(1), None), (4, None, Some(2))]);
    let ran = run(&interval(0, 10, Matching::Full), &events);
    assert_eq!(ran.rows(), [(Some(1), None, 100), (None, Some(2), 200)]);
    assert_eq!(ran.outs[0].watermark, Watermark::at(111), "the watermark after the advance");
}

#[test]
fn a_row_that_met_a_partner_does_not_come_out_again() {
    let events = [left("a", 100, 1), right("a", 100, 2), right("a", 105, 3), END];
    assert_eq!(
        run(&interval(0, 10, Matching::Full), &events).by_event(),
        [(1, Some(1), Some(2)), (2, Some(1), Some(3))]
    );
}

#[test]
fn unmatched_rows_of_one_advance_come_out_in_order_of_time_then_left_before_right() {
    let events = [right("a", 30, 1), left("a", 30, 2), right("a", 10, 3), left("a", 20, 4), left("a", 30, 5), END];
    let ran = run(&interval(1, 5, Matching::Full), &events);
    let expected =
        [(None, Some(3), 10), (Some(4), None, 20), (Some(2), None, 30), (Some(5), None, 30), (None, Some(1), 30)];
    assert_eq!(ran.rows(), expected);
    assert!(ran.outs.iter().all(|out| out.watermark == Watermark::MAX));
}

/// Partners lie at least 10 before it, so that all of them were there when it came.
#[test]
fn a_row_past_its_bound_leaves_at_its_arrival() {
    let join = interval(-20, -10, Matching::Left);
    let events =
        [right("a", 85, 1), at(95), left("a", 100, 2), left("a", 104, 3), left("b", 104, 4), left("b", 120, 5)];
    let ran = run(&join, &events);
    assert_eq!(ran.by_event(), [(2, Some(2), Some(1)), (3, Some(3), Some(1)), (4, Some(4), None)]);
    assert_eq!(ran.outs[2].time, 104);
    assert_eq!(ran.last_state().join_rows, 2, "the right row and the left one of time 120");
}

#[test]
fn a_null_key_matches_nothing() {
    let null = Value::Null;
    let events = [left(null.clone(), 10, 1), right(null.clone(), 10, 2), at(10), left(null, 9, 3), at(11)];
    let rows = |matching| {
        let ran = run(&interval(0, 0, matching), &events);
        assert_eq!((ran.account.accepted, ran.account.too_late), (2, 1), "{matching:?}");
        (ran.by_event(), ran.states[1].join_rows)
    };
    assert_eq!(rows(Matching::Inner), (vec![], 0));
    assert_eq!(rows(Matching::Left), (vec![(4, Some(1), None)], 1));
    assert_eq!(rows(Matching::Right), (vec![(4, None, Some(2))], 1));
    assert_eq!(rows(Matching::Full), (vec![(4, Some(1), None), (4, None, Some(2))], 2));
}

#[test]
fn at_one_event_the_left_rows_come_first_and_the_watermark_last() {
    let (Event::Row(one), Event::Row(two)) = (left("a", 50, 1), right("a", 50, 2)) else { panic!("two rows") };
    let events = [at(40), Event::Together(vec![two, one], Some(100))];
    let ran = run(&interval(0, 0, Matching::Full), &events);
    assert_eq!(ran.rows(), [pair(1, 2, 50)]);
    assert_eq!(ran.outs[0].watermark, Watermark::at(40), "the rows are judged before it moves");
    assert_eq!(ran.last_state(), StateSize::default());
}

#[test]
fn nothing_is_left_of_state_once_the_watermark_has_passed() {
    let text = "x".repeat(500);
    let mut events = Vec::new();
    for number in 0..1000 {
        events.push(left(number % 300, number, text.as_str()));
        events.push(right(number % 300, number, text.as_str()));
    }
    events.push(at(1005));
    events.push(at(1011));
    let ran = run(&interval(-10, 10, Matching::Full), &events);
    let full = ran.states[1999];
    assert_eq!((full.keys, full.join_rows), (300, 2000));
    assert!(full.bytes > 2000 * 500, "{} bytes", full.bytes);
    assert!(full.bytes < 2000 * 700, "{} bytes", full.bytes);
    assert_eq!(ran.states[2000].join_rows, 10, "the rows of the last five times");
    assert_eq!(ran.last_state(), StateSize::default());
}

#[test]
fn the_output_watermark_is_held_back_by_the_longest_wait() {
    for (lower, upper, wait) in [(0, 10, 10), (-20, 10, 20), (-20, -10, 20), (10, 20, 20), (0, 0, 0)] {
        assert_eq!(hold_back(&interval(lower, upper, Matching::Full)), wait, "{lower} to {upper}");
    }
}
