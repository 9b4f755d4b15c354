//! Which event a pane belongs to, and in which order rows and changes of one event are taken.

use tidegate_pipeline::{Accumulation, Aggregate, Early, Function, Late, WindowKind};
use tidegate_types::{Millis, NO_CLOCK, ProgressEntry, Timing, Watermark};

use super::bench::{Bench, config, row, sliding, to, tumbling};
use crate::window::WindowConfig;

#[test]
fn the_rows_of_an_event_come_before_the_change_that_it_brings() {
    let mut bench = Bench::new(config(tumbling(10)));
    bench.round(&[row(3, "a", 5, 1), row(3, "b", 6, 2), row(4, "a", 7, 4)], &[to(3, 12)]);
    assert_eq!(bench.texts(), ["3 a [0, 10) on time#0 1 1", "3 b [0, 10) on time#0 1 2"]);
    assert_eq!((bench.account.accepted, bench.account.too_late), (2, 1));
}

#[test]
fn each_change_fires_with_its_own_position() {
    let mut bench = Bench::new(config(tumbling(10)));
    let rows = [row(0, "a", 5, 1), row(1, "b", 15, 2), row(2, "a", 25, 4)];
    bench.round(&rows, &[to(2, 10), to(3, 20), to(7, 22), to(9, 40)]);
    let expected = ["2 a [0, 10) on time#0 1 1", "3 b [10, 20) on time#0 1 2", "9 a [20, 30) on time#0 1 4"];
    assert_eq!(bench.texts(), expected);
}

#[test]
fn early_and_late_panes_have_the_position_of_their_row() {
    let early = WindowConfig { early: Early::EveryElements(2), lateness: Millis(20), ..config(tumbling(10)) };
    let mut bench = Bench::new(early);
    let rows = [row(0, "a", 1, 1), row(1, "b", 2, 2), row(4, "a", 3, 4), row(5, "b", 4, 8), row(8, "a", 5, 16)];
    bench.round(&rows, &[to(6, 10)]);
    let expected = [
        "4 a [0, 10) early#0 2 5",
        "5 b [0, 10) early#0 2 10",
        "6 a [0, 10) on time#1 2 5",
        "6 b [0, 10) on time#1 2 10",
        "8 a [0, 10) late#2 3 21",
    ];
    assert_eq!(bench.texts(), expected);
    // The next round counts from 0 again.
    bench.round(&[row(0, "b", 5, 32), row(0, "b", 6, 64)], &[]);
    assert_eq!(bench.texts(), ["0 b [0, 10) late#2 3 42", "0 b [0, 10) late#3 4 106"]);
}

#[test]
fn the_last_late_pane_has_the_position_of_the_purge() {
    let late = Late::EveryProcessingTime(Millis(1_000));
    let mut bench = Bench::new(WindowConfig { late, lateness: Millis(5), ..config(tumbling(10)) });
    bench.round(&[row(1, "a", 1, 1), row(3, "a", 2, 2)], &[to(2, 10), to(6, 14), to(8, 15)]);
    assert_eq!(bench.texts(), ["2 a [0, 10) on time#0 1 1", "8 a [0, 10) late#1 2 3"]);
}

#[test]
fn a_retraction_has_the_position_of_the_pane_after_it() {
    for shares_panes in [false, true] {
        let accumulation = Accumulation::AccumulatingAndRetracting;
        let config = WindowConfig { accumulation, lateness: Millis(20), shares_panes, ..config(sliding(10, 5)) };
        let mut bench = Bench::new(config);
        bench.round(&[row(0, "a", 1, 1), row(3, "a", 2, 2)], &[to(2, 7)]);
        let expected = ["2 a [-5, 5) on time#0 1 1", "3 -a [-5, 5) on time#0 1 1", "3 a [-5, 5) late#1 2 3"];
        assert_eq!(bench.texts(), expected, "shared: {shares_panes}");
    }
}

/// Under a virtual clock: instants on the way, then what the watermark fires, then the instant itself.
#[test]
fn a_pane_says_what_the_clock_was() {
    let early = Early::EveryProcessingTime(Millis(100));
    let mut bench = Bench::new(WindowConfig { early, ..config(tumbling(10)) });
    let at = |position, watermark, clock| ProgressEntry { position, watermark: Watermark::at(watermark), clock };
    let rows = [row(1, "a", 1, 1), row(1, "b", 11, 2)];
    bench.round(&rows, &[at(0, 0, 30), at(2, 0, 130), at(5, 10, 350), at(6, 20, 400)]);
    let fired = |shown: &super::bench::Shown| (shown.text(), shown.info.fired_at);
    let expected = [
        ("2 a [0, 10) early#0 1 1", 100),
        ("2 b [10, 20) early#0 1 2", 100),
        ("5 a [0, 10) on time#1 1 1", 350),
        ("6 b [10, 20) on time#1 1 2", 400),
    ];
    assert_eq!(bench.panes.iter().map(fired).collect::<Vec<_>>(), expected.map(|(text, at)| (text.to_owned(), at)));
}

#[test]
fn the_wall_clock_is_what_it_was_last_said_to_be() {
    let mut bench = Bench::new(WindowConfig { lateness: Millis(10), ..config(tumbling(10)) });
    bench.round(&[row(0, "a", 1, 1)], &[to(1, 10)]);
    bench.wait_until(777);
    bench.round(&[row(0, "a", 2, 2)], &[]);
    let fired: Vec<_> = bench.panes.iter().map(|shown| (shown.info.timing, shown.info.fired_at)).collect();
    assert_eq!(fired, [(Timing::OnTime, NO_CLOCK), (Timing::Late, 777)]);
}

/// More panes than an output holds, of two advances and a late row, where windows share panes and where they do not.
#[test]
fn what_comes_in_pieces_keeps_its_positions() {
    const WINDOWS: i64 = 40_000;
    for shares_panes in [false, true] {
        let config = WindowConfig { lateness: Millis(WINDOWS), shares_panes, ..config(sliding(WINDOWS, 1)) };
        let mut bench = Bench::new(config);
        bench.round(&[row(1, "a", 0, 1), row(5, "b", 0, 2)], &[to(3, WINDOWS / 2), to(4, WINDOWS + 5)]);
        let positions: Vec<Option<u32>> = bench.panes.iter().map(|shown| shown.position).collect();
        let count = |position| positions.iter().filter(|other| **other == Some(position)).count();
        assert_eq!((count(3), count(4), count(5)), (20_000, 20_000, 40_000 - 5), "shared: {shares_panes}");
        assert!(positions.is_sorted());
        assert!(bench.pauses > 0);
    }
}

#[test]
fn where_nothing_is_fed_panes_have_no_order() {
    for shares_panes in [false, true] {
        let mut bench = Bench::new(WindowConfig { feeds: false, shares_panes, ..config(sliding(10, 5)) });
        bench.round(&[row(0, "a", 1, 1)], &[to(1, 10)]);
        assert_eq!(bench.texts(), ["- a [-5, 5) on time#0 1 1", "- a [0, 10) on time#0 1 1"]);
    }
}

/// Rows of one event, and of several rounds whose positions count from 0 each.
#[test]
fn of_equal_times_the_first_to_arrive_is_the_first() {
    let edge = |name: &str, function| Aggregate::Builtin {
        name: name.into(),
        function,
        field: Some("v".into()),
        condition: None,
    };
    let aggregates = vec![edge("first", Function::First), edge("last", Function::Last)];
    for shares_panes in [false, true] {
        let aggregates = aggregates.clone();
        let mut bench = Bench::new(WindowConfig { aggregates, shares_panes, ..config(sliding(10, 5)) });
        bench.round(&[row(4, "a", 1, 1), row(4, "a", 1, 2)], &[]);
        bench.round(&[row(0, "a", 1, 3), row(0, "a", 1, 4), row(9, "a", 1, 5)], &[to(9, 10)]);
        assert_eq!(bench.texts(), ["9 a [-5, 5) on time#0 1 5", "9 a [0, 10) on time#0 1 5"]);
    }
}

#[test]
fn a_global_window_fires_with_the_row_that_fills_it() {
    let mut bench = Bench::new(WindowConfig { early: Early::EveryElements(2), ..config(WindowKind::Global) });
    let end = ProgressEntry { position: 9, watermark: Watermark::MAX, clock: NO_CLOCK };
    bench.round(&[row(2, "a", 1, 1), row(5, "a", 7, 2), row(6, "a", 3, 4)], &[to(5, 5), end]);
    assert_eq!(bench.texts(), ["5 a [0, 0) early#0 2 3", "9 a [0, 0) on time#1 3 7"]);
}
