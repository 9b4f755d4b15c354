//! Window joins, sentence by sentence.

use tidegate_types::{Value, Watermark};

use super::bench::{END, Event, at, left, right, run, windows};
use crate::StateSize;
use crate::join::hold_back;

#[test]
fn pairs_come_out_as_the_window_fires_on_time() {
    let events =
        [right("a", 3, 1), left("a", 7, 2), left("b", 8, 3), right("a", 12, 4), at(9), at(10), left("a", 11, 5), END];
    let ran = run(&windows(10, 10, 0), &events);
    assert_eq!(ran.by_event(), [(5, Some(2), Some(1)), (7, Some(5), Some(4))]);
    assert_eq!(ran.rows(), [(Some(2), Some(1), 9), (Some(5), Some(4), 19)], "the time is the window's last");
    assert_eq!((ran.outs[0].watermark, ran.outs[1].watermark), (Watermark::at(10), Watermark::MAX));
    assert_eq!(ran.last_state(), StateSize::default());
}

#[test]
fn a_window_s_pairs_are_in_order_of_the_left_then_the_right_row() {
    let events = [
        left("a", 5, 1),
        left("a", 2, 2),
        left("a", 5, 3),
        right("a", 9, 4),
        right("a", 0, 5),
        right("a", 9, 6),
        at(10),
    ];
    let rows: Vec<_> = run(&windows(10, 10, 0), &events).by_event();
    let expected = [(2, 5), (2, 4), (2, 6), (1, 5), (1, 4), (1, 6), (3, 5), (3, 4), (3, 6)];
    assert_eq!(rows, expected.map(|(one, two)| (6, Some(one), Some(two))));
}

#[test]
fn rows_meet_in_each_sliding_window_that_holds_both() {
    // 7 and 11 are together in [5, 15) only; 7 and 8 also in [0, 10).
    let events = [left("a", 7, 1), right("a", 11, 2), right("a", 8, 3), END];
    let ran = run(&windows(10, 5, 0), &events);
    assert_eq!(ran.rows(), [(Some(1), Some(3), 9), (Some(1), Some(3), 14), (Some(1), Some(2), 14)]);
}

#[test]
fn a_late_row_meets_the_others_at_once() {
    let events = [
        left("a", 1, 1),
        right("a", 2, 2),
        at(10),
        right("a", 3, 3),
        left("a", 0, 4),
        at(15),
        right("a", 4, 5),
        at(20),
    ];
    let ran = run(&windows(10, 10, 10), &events);
    let expected = [
        (2, Some(1), Some(2)),
        (3, Some(1), Some(3)),
        (4, Some(4), Some(2)),
        (4, Some(4), Some(3)),
        (6, Some(4), Some(5)),
        (6, Some(1), Some(5)),
    ];
    assert_eq!(ran.by_event(), expected);
    assert!(ran.outs.iter().all(|out| out.time == 9));
    assert_eq!(ran.outs[1].watermark, Watermark::at(10), "the watermark that the row was judged against");
    assert_eq!(ran.last_state(), StateSize::default());
}

#[test]
fn a_window_that_is_opened_late_has_fired() {
    let events = [at(12), left("a", 5, 1), at(13), right("a", 6, 2), at(25), left("a", 15, 3), at(30)];
    let ran = run(&windows(10, 10, 10), &events);
    assert_eq!(ran.by_event(), [(3, Some(1), Some(2))]);
}

#[test]
fn a_row_is_too_late_when_all_its_windows_are_gone() {
    let events = [at(19), left("a", 9, 1), at(20), left("a", 9, 2), left("a", 10, 3)];
    let ran = run(&windows(10, 10, 10), &events);
    assert_eq!((ran.account.accepted, ran.account.too_late, ran.account.partly_late), (2, 1, 0));
    assert_eq!(ran.asides(), [("too-late", "left Some(2)")]);
}

#[test]
fn a_row_some_of_whose_windows_are_gone_is_partly_late() {
    // [0, 10) is gone, [5, 15) has fired, [10, 20) is to come.
    let events = [right("a", 9, 1), right("a", 10, 2), at(15), left("a", 9, 3), left("a", 12, 4), at(17), at(20)];
    let ran = run(&windows(10, 5, 5), &events);
    assert_eq!((ran.account.accepted, ran.account.partly_late), (4, 1));
    let expected = [
        (3, Some(3), Some(1)),
        (3, Some(3), Some(2)),
        (4, Some(4), Some(1)),
        (4, Some(4), Some(2)),
        (6, Some(4), Some(2)),
    ];
    assert_eq!(ran.by_event(), expected);
    assert_eq!(ran.rows()[4].2, 19);
}

#[test]
fn one_advance_past_both_bounds_fires_and_lets_go() {
    let events = [left("a", 1, 1), right("a", 2, 2), at(1000), right("a", 3, 3)];
    let ran = run(&windows(10, 10, 10), &events);
    assert_eq!(ran.by_event(), [(2, Some(1), Some(2))]);
    assert_eq!(ran.states[2], StateSize::default());
    assert_eq!(ran.account.too_late, 1);
}

#[test]
fn state_goes_at_the_window_s_end_and_the_lateness() {
    let events = [left("a", 1, 1), right("b", 2, 2), at(19), at(20)];
    let ran = run(&windows(10, 10, 10), &events);
    assert_eq!(ran.states.iter().map(|state| state.join_rows).collect::<Vec<_>>(), [1, 2, 2, 0]);
    assert!(ran.states[2].bytes > 0);
    assert_eq!(ran.last_state(), StateSize::default());
}

#[test]
fn a_null_key_is_accepted_and_matches_nothing() {
    let events = [
        left(Value::Null, 1, 1),
        right(Value::Null, 2, 2),
        at(5),
        right(Value::Null, 1, 3),
        at(10),
        left(Value::Null, 1, 4),
    ];
    let ran = run(&windows(10, 10, 0), &events);
    assert_eq!(ran.outs, []);
    assert_eq!((ran.account.accepted, ran.account.too_late), (3, 1));
    assert_eq!(ran.states[1].join_rows, 0);
}

/// 86,400,000 windows hold each row: those with rows of one input only are not looked at one by one.
#[test]
fn windows_without_pairs_cost_nothing() {
    let day = 86_400_000;
    let events = [left("a", 0, 1), right("b", 0, 2), right("a", day - 2, 3), left("a", 10 * day, 4), END];
    let ran = run(&windows(day, 1, day), &events);
    let meet = [(Some(1), Some(3), day - 2 + 1 - 1), (Some(1), Some(3), day - 1)];
    assert_eq!(ran.rows(), meet);
}

#[test]
fn the_output_watermark_is_not_held_back() {
    assert_eq!(hold_back(&windows(10, 5, 30)), 0);
}

/// Rows of one key, by turns of either side and each in a window of its own, the last first; then two that meet.
fn alone(count: i64) -> Vec<Event> {
    let mut events: Vec<Event> =
        (0..count).rev().map(|at| if at % 2 == 0 { left("a", at * 10, at) } else { right("a", at * 10, at) }).collect();
    events.extend([left("a", count * 10, count), right("a", count * 10, count + 1)]);
    events
}

#[test]
fn rows_that_meet_nothing_stand_in_nobody_s_way() {
    let mut events = alone(50);
    events.push(END);
    assert_eq!(run(&windows(10, 10, 0), &events).rows(), [(Some(50), Some(51), 509)]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "two times of one run are compared")]
fn a_row_costs_the_same_however_many_of_its_key_meet_nothing() {
    let timed = |count: i64| {
        let mut events = alone(count);
        // Windows that fire one by one, with all the others before them.
        for at in 1..count {
            events.extend([left("a", at - 1_000_000, 0), right("a", at - 1_000_000, 0), self::at(at - 1_000_000 + 9)]);
        }
        let shortest = |_| {
            let start = std::time::Instant::now();
            run(&windows(1, 1, 0), &events);
            start.elapsed()
        };
        (0..3).map(shortest).min().expect("three runs")
    };
    let (few, many) = (timed(1_000), timed(8_000));
    assert!(many < few * 30, "eight times the rows took {many:?} instead of {few:?}");
}
