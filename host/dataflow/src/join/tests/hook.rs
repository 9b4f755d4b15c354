//! A join hook: what it makes of pairs, and what becomes of those that it refuses or fails on.

use tidegate_pipeline::Matching;

use super::bench::{END, Event, Ran, at, interval, left, right, run_in, windows};
use super::script::{Pair, Said, Script};
use crate::StateSize;

fn number(mark: Option<i64>) -> i64 {
    mark.unwrap_or(-1)
}

/// One row of both marks.
fn as_they_are(pair: Pair) -> Said {
    Said::Rows(vec![(number(pair.left), number(pair.right), None)])
}

/// Runs the events in one round, one by one, and in threes, and sees to it that the result is the same.
fn ran(join: &tidegate_pipeline::Join, script: &Script, events: &[Event]) -> Ran {
    let whole = run_in(join, Some(script), events, &[events.len()]);
    let threes: Vec<usize> = events.chunks(3).map(<[Event]>::len).collect();
    for lengths in [vec![1; events.len()], threes] {
        let other = run_in(join, Some(script), events, &lengths);
        assert_eq!((&other.outs, other.account), (&whole.outs, whole.account), "{lengths:?}");
        let sorted = |ran: &Ran| {
            let mut sides: Vec<_> = ran.sides.iter().map(|side| format!("{side:?}")).collect();
            sides.sort();
            sides
        };
        assert_eq!(sorted(&other), sorted(&whole), "{lengths:?}");
    }
    whole
}

#[test]
fn the_hook_sees_pairs_and_makes_rows_of_them() {
    let script = Script::new(|pair| match number(pair.right) {
        // None of one, two of another with a time of its own.
        2 => Said::Rows(vec![]),
        3 => Said::Rows(vec![(number(pair.left), pair.time, Some(7)), (0, 0, None)]),
        _ => as_they_are(pair),
    });
    let events = [left("a", 10, 1), right("a", 10, 2), right("a", 11, 3), right("a", 12, 4), left("b", 10, 5), END];
    let ran = ran(&interval(0, 5, Matching::Left), &script, &events);
    assert_eq!(
        ran.rows(),
        [(Some(1), Some(11), 7), (Some(0), Some(0), 11), (Some(1), Some(4), 12), (Some(5), Some(-1), 10)]
    );
    assert_eq!(ran.outs.iter().map(|out| out.event).collect::<Vec<_>>(), [2, 2, 3, 5]);
    assert_eq!((ran.account.accepted, ran.account.failed_pairs, ran.account.rejected), (5, 0, 0));
}

#[test]
fn a_refused_pair_is_a_dead_letter_of_the_row_that_arrived() {
    let script = Script::new(|pair| match (number(pair.left), number(pair.right)) {
        (1, 3) => Said::Reject,
        (1, 4) => Said::Trap,
        _ => as_they_are(pair),
    });
    let events = [left("a", 10, 1), right("a", 10, 2), right("a", 11, 3), right("a", 12, 4), left("a", 11, 5)];
    let ran = ran(&interval(0, 5, Matching::Inner), &script, &events);
    assert_eq!(ran.rows(), [(Some(1), Some(2), 10), (Some(5), Some(3), 11), (Some(5), Some(4), 12)]);
    assert_eq!(ran.asides(), [("refused", "right Some(3)"), ("trap", "right Some(4)")]);
    assert_eq!(ran.sides[0].operator, "pairs.hook");
    assert_eq!((ran.account.accepted, ran.account.failed_pairs, ran.account.rejected), (5, 2, 0));
}

#[test]
fn an_unmatched_row_that_is_refused_is_a_dead_letter_of_its_own() {
    let script = Script::new(|pair| if pair.right.is_none() { Said::Trap } else { Said::Reject });
    let events = [left("a", 10, 1), left("a", 500, 2), right("a", 300, 3), right("a", 500, 4), at(400), END];
    let ran = ran(&interval(0, 5, Matching::Full), &script, &events);
    assert_eq!(ran.outs, []);
    let mut asides = ran.asides();
    asides.sort_unstable();
    assert_eq!(asides, [("refused", "right Some(3)"), ("refused", "right Some(4)"), ("trap", "left Some(1)")]);
    assert_eq!((ran.account.accepted, ran.account.failed_pairs), (4, 3));
    assert_eq!(ran.last_state(), StateSize::default());
}

#[test]
fn a_pair_of_a_window_that_is_refused_is_a_dead_letter_of_its_later_row() {
    let script = Script::new(|pair| if number(pair.left) == 2 { Said::Reject } else { as_they_are(pair) });
    let events =
        [left("a", 1, 1), right("a", 1, 3), left("a", 1, 2), right("a", 1, 4), at(10), left("a", 1, 2), at(20)];
    let ran = ran(&windows(10, 10, 10), &script, &events);
    assert_eq!(ran.rows(), [(Some(1), Some(3), 9), (Some(1), Some(4), 9)]);
    let expected = ["left Some(2)", "right Some(4)", "left Some(2)", "left Some(2)"].map(|record| ("refused", record));
    assert_eq!(ran.asides(), expected);
    assert_eq!(ran.last_state(), StateSize::default(), "copies of records are let go too");
}

#[test]
fn a_row_with_a_time_outside_all_years_is_refused() {
    let script = Script::new(|pair| Said::Rows(vec![(1, 1, Some(i64::MAX)), (2, number(pair.right), None)]));
    let events = [left("a", 1, 1), right("a", 1, 2)];
    let ran = ran(&interval(0, 0, Matching::Inner), &script, &events);
    assert_eq!(ran.rows(), [(Some(2), Some(2), 1)]);
    assert_eq!(ran.asides(), [("bad-time", "right Some(2)")]);
}

/// One pair among many traps, and calls bear few: nothing else is condemned.
#[test]
fn only_the_guilty_pair_is_condemned() {
    let script = Script::new(|pair| if number(pair.right) == 77 { Said::Trap } else { as_they_are(pair) });
    let events: Vec<Event> = std::iter::once(left("a", 0, 1)).chain((0..200).map(|mark| right("a", 0, mark))).collect();
    for fuel in [1, 7, 1 << 40] {
        let ran = ran(&interval(0, 0, Matching::Inner), &script.clone().with_fuel(fuel), &events);
        assert_eq!(ran.rows().len(), 199, "{fuel}");
        assert_eq!(ran.asides(), [("trap", "right Some(77)")], "{fuel}");
    }
}
