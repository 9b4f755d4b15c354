//! An output is bounded, however many partners a row has and however much one advance lets go.

use tidegate_pipeline::Matching;

use super::bench::{END, Event, Ran, interval, left, right, run_in, windows};
use super::script::{Said, Script};
use crate::StateSize;
use crate::operator::RECORDS_BEFORE_PAUSE;

fn run(join: &tidegate_pipeline::Join, events: &[Event]) -> Ran {
    run_in(join, None, events, &[events.len()])
}

fn is_in_pieces(ran: &Ran, least: usize) {
    assert!(ran.pieces.len() >= least, "{:?}", ran.pieces);
    assert!(ran.pieces.iter().all(|rows| *rows < 2 * RECORDS_BEFORE_PAUSE), "{:?}", ran.pieces);
}

#[test]
fn a_row_meets_more_partners_than_an_output_holds() {
    let many = 40_000;
    let mut events: Vec<Event> = (0..many).map(|mark| right("a", mark % 100, mark)).collect();
    events.extend([left("a", 50, -1), left("a", 0, -2), END]);
    let ran = run(&interval(-50, 49, Matching::Full), &events);
    is_in_pieces(&ran, 4);
    let of = |mark| ran.rows().into_iter().filter(|row| row.0 == Some(mark)).collect::<Vec<_>>();
    assert_eq!((of(-1).len(), of(-2).len(), ran.outs.len()), (40_000, 20_000, 60_000));
    let mut expected: Vec<_> = (0..many).map(|mark| (mark % 100, mark)).collect();
    expected.sort_unstable();
    let expected: Vec<_> = expected.into_iter().map(|(time, mark)| (Some(-1), Some(mark), time.max(50))).collect();
    assert!(of(-1) == expected, "each partner once, in order");
    assert_eq!(ran.last_state(), StateSize::default());
}

#[test]
fn one_advance_lets_more_rows_go_than_an_output_holds() {
    let many = 40_000;
    let mut events: Vec<Event> = (0..many).map(|mark| left(mark % 977, mark, mark)).collect();
    events.push(END);
    let ran = run(&interval(0, 10, Matching::Left), &events);
    is_in_pieces(&ran, 3);
    let expected: Vec<_> = (0..many).map(|mark| (Some(mark), None, mark)).collect();
    assert!(ran.rows() == expected, "{} rows", ran.outs.len());
    assert_eq!(ran.last_state(), StateSize::default());
}

#[test]
fn a_window_has_more_pairs_than_an_output_holds() {
    let mut events: Vec<Event> = (0..200).map(|mark| left("a", mark, mark)).collect();
    events.extend((0..200).map(|mark| right("a", mark, mark)));
    events.push(END);
    let ran = run(&windows(200, 200, 0), &events);
    is_in_pieces(&ran, 3);
    let expected: Vec<_> = (0..200).flat_map(|one| (0..200).map(move |two| (Some(one), Some(two), 199))).collect();
    assert!(ran.rows() == expected, "{} pairs", ran.outs.len());
}

#[test]
fn a_late_row_has_more_pairs_than_an_output_holds() {
    let mut events: Vec<Event> = (0..1000).map(|mark| right("a", mark, mark)).collect();
    events.extend([super::bench::at(2000), left("a", 500, -1), END]);
    // A window that holds the row has all right rows within 1,000 of it that it holds.
    let ran = run(&windows(1000, 10, 3000), &events);
    is_in_pieces(&ran, 3);
    let apart = |mark: i64| (mark.div_euclid(10) - 50).unsigned_abs();
    let expected: u64 = (0..1000).map(|mark| 100 - apart(mark)).sum();
    assert_eq!(ran.outs.len() as u64, expected);
    let times: Vec<i64> = ran.outs.iter().map(|out| out.time).collect();
    assert!(times.is_sorted(), "in order of the windows' ends");
}

/// 2,000 pairs of 64 KiB: far fewer rows than an output holds.
#[test]
fn long_values_make_an_output_full_too() {
    let long = "x".repeat(1 << 16);
    let mut events: Vec<Event> = (0..2000).map(|mark| right("a", 0, mark)).collect();
    events.push(left("a", 0, long.as_str()));
    let ran = run(&interval(0, 0, Matching::Inner), &events);
    assert_eq!(ran.pieces.iter().sum::<usize>(), 2000);
    assert!(ran.pieces.iter().all(|rows| *rows <= 512), "{:?}", ran.pieces);
}

#[test]
fn a_hook_that_makes_many_rows_of_a_pair_fills_an_output() {
    let script = Script::new(|pair| Said::Rows(vec![(0, pair.right.unwrap_or(-1), None); 50]));
    let mut events: Vec<Event> = (0..3000).map(|mark| right("a", 0, mark)).collect();
    events.push(left("a", 0, 7));
    let ran = run_in(&interval(0, 0, Matching::Inner), Some(&script), &events, &[events.len()]);
    assert_eq!(ran.outs.len(), 150_000);
    // A call has at most 1,000 pairs.
    assert!(ran.pieces.len() >= 3 && ran.pieces.iter().all(|rows| *rows <= 66_000), "{:?}", ran.pieces);
}
