//! Timers and times to live: when they fall due, in which order, and what ends what never ends.

use tidegate_types::{EventTime, NO_CLOCK};

use super::bench::{Bench, Event, arrive, mark};
use super::hook::Scripted;
use super::script::{Op, Outcome, REMIND, SECOND, WALL, plan};
use crate::operator::{Operator, RECORDS_BEFORE_PAUSE};
use crate::report::StateSize;

const NEVER: [Option<i64>; 3] = [None; 3];

/// A hook whose timers only say which and when.
fn teller(ttls: [Option<i64>; 3]) -> Scripted {
    let mut hook = Scripted::new(plan(ttls));
    hook.timer = Box::new(|state, key, timer, time| {
        let total = state.get(0, &[key], 100)?.present[0];
        let list = state.lists(1, &[key], 10_000)?.columns[0].len();
        Ok(Some(Outcome::Emits(vec![(format!("timer {timer} at {time}: {total} {list}"), None)])))
    });
    hook
}

/// A hook whose timer sets itself again so much later, as often as it fires.
fn heart(timer: u32, period: i64) -> Scripted {
    let mut hook = Scripted::new(plan(NEVER));
    hook.timer = Box::new(move |state, key, _, time| {
        state.set_timer(timer, &[key], &[time + period])?;
        Ok(Some(Outcome::Emits(vec![("beat".into(), None)])))
    });
    hook
}

fn timer_rows(bench: &Bench) -> Vec<(&str, &str)> {
    bench
        .rows()
        .into_iter()
        .filter(|(_, text, _)| text.starts_with("timer"))
        .map(|(key, text, _)| (key, text))
        .collect()
}

#[test]
fn a_timer_fires_once_when_the_watermark_reaches_it() {
    let mut bench = Bench::single(teller(NEVER));
    bench.round(&[arrive("a", Op::Remind, 100, 0), mark(99)]);
    assert_eq!(timer_rows(&bench), []);
    bench.round(&[mark(100), mark(101), mark(1_000)]);
    assert_eq!(timer_rows(&bench), [("a", "timer 0 at 100: false 0")]);
    assert_eq!((bench.lines[1].time, bench.lines[1].watermark), (100, 100));
    assert_eq!(bench.operators[0].state(), StateSize::default(), "a key without state and timers is forgotten");
}

#[test]
fn setting_a_timer_again_replaces_it_and_clearing_takes_it_back() {
    let mut bench = Bench::single(teller(NEVER));
    bench.round(&[arrive("a", Op::Remind, 100, 0), arrive("b", Op::Remind, 100, 0)]);
    bench.round(&[arrive("a", Op::Remind, 200, 0), arrive("b", Op::Unset, 0, 0), mark(150), mark(300)]);
    assert_eq!(timer_rows(&bench), [("a", "timer 0 at 200: false 0")]);
    assert_eq!(bench.lines.last().map(|line| line.watermark), Some(300));
}

#[test]
fn a_timer_set_at_or_before_the_watermark_fires_before_the_next_row() {
    let mut bench = Bench::single(teller(NEVER));
    bench.round(&[
        mark(500),
        arrive("a", Op::Sum, 1, 600),
        arrive("a", Op::Remind, 0, 500),
        arrive("a", Op::Append, 1, 600),
        arrive("b", Op::Append, 1, 600),
        arrive("a", Op::Second, -7, 600),
        arrive("a", Op::Append, 3, 600),
    ]);
    let lists: Vec<(&str, bool)> =
        bench.lines.iter().map(|line| (&*line.key, line.text.starts_with("timer"))).collect();
    let (row, timer) = (|key| (key, false), ("a", true));
    assert_eq!(lists, [row("a"), row("a"), timer, row("a"), row("b"), row("a"), timer, row("a")]);
    assert_eq!(timer_rows(&bench), [("a", "timer 0 at 500: true 0"), ("a", "timer 1 at -7: true 1")]);
    assert_eq!(bench.lines[6].watermark, 500);
}

/// The watermark passes the timer between two rows of one batch, whichever row set it.
#[test]
fn a_timer_that_falls_due_between_two_rows_of_one_call_fires_between_them() {
    let mut bench = Bench::single(teller(NEVER));
    bench.round(&[mark(0), arrive("a", Op::Remind, 5, 0), mark(10), arrive("a", Op::Append, 1, 20), mark(11)]);
    assert_eq!(timer_rows(&bench), [("a", "timer 0 at 5: false 0")]);
    assert_eq!(bench.lines[1].watermark, 10);
}

#[test]
fn timers_of_a_key_fire_in_order_of_time_and_then_of_the_plan() {
    let mut bench = Bench::single(teller(NEVER));
    bench.round(&[arrive("a", Op::Second, 50, 0), arrive("a", Op::Remind, 60, 0)]);
    bench.round(&[arrive("b", Op::Second, 40, 0), arrive("b", Op::Remind, 40, 0), mark(100)]);
    let expected = [
        ("a", "timer 1 at 50: false 0"),
        ("a", "timer 0 at 60: false 0"),
        ("b", "timer 0 at 40: false 0"),
        ("b", "timer 1 at 40: false 0"),
    ];
    assert_eq!(timer_rows(&bench), expected);
}

#[test]
fn state_is_gone_when_the_watermark_reaches_its_keys_latest_time_and_its_time_to_live() {
    for (watermark, total) in [(149, "Some(8)"), (150, "Some(4)")] {
        let mut bench = Bench::single(Scripted::new(plan([Some(100), None, None])));
        // The late row does not count: the latest time is what matters.
        bench.round(&[
            arrive("a", Op::Sum, 1, 50),
            arrive("a", Op::Sum, 3, 20),
            mark(watermark),
            arrive("a", Op::Sum, 4, 50),
        ]);
        assert!(bench.lines[2].text.contains(total), "{}", bench.lines[2].text);
    }
}

#[test]
fn an_event_timer_that_fires_keeps_the_state_of_its_key() {
    let mut bench = Bench::single(teller([Some(100), None, None]));
    bench.round(&[arrive("a", Op::Sum, 1, 0), arrive("a", Op::Remind, 80, 0), mark(150)]);
    assert_eq!(bench.operators[0].state().entries, 1, "until 180");
    bench.round(&[mark(180)]);
    assert_eq!(bench.operators[0].state(), StateSize::default());
}

#[test]
fn at_one_time_expiries_come_before_timers() {
    for (timer, told) in [(99, "timer 0 at 99: true 0"), (100, "timer 0 at 100: false 0")] {
        let mut bench = Bench::single(teller([Some(100), None, None]));
        bench.round(&[arrive("a", Op::Sum, 1, 0), arrive("a", Op::Remind, timer, 0), mark(1_000)]);
        assert_eq!(timer_rows(&bench), [("a", told)]);
    }
}

#[test]
fn what_a_row_older_than_the_time_to_live_writes_is_gone_before_the_next_row() {
    let mut bench = Bench::single(Scripted::new(plan([Some(100), None, None])));
    bench.round(&[mark(500), arrive("a", Op::Sum, 1, 400), arrive("a", Op::Sum, 2, 400), arrive("a", Op::Sum, 4, 401)]);
    bench.round(&[arrive("a", Op::Sum, 8, 0)]);
    let texts: Vec<&str> = bench.lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, ["row Some(1) [] []", "row Some(2) [] []", "row Some(4) [] []", "row Some(12) [] []"]);
}

#[test]
fn all_state_is_back_to_nothing_once_the_watermark_has_passed_all_of_it() {
    let mut bench = Bench::single(teller([Some(1_000), Some(2_000), Some(500)]));
    for at in 0..200 {
        let key = format!("user-{}", at % 50);
        let ops = [Op::Sum, Op::Append, Op::Tag, Op::Remind, Op::Silent];
        let events: Vec<Event> = ops.iter().map(|op| arrive(&key, *op, at, at * 10)).collect();
        bench.round(&events);
    }
    let full = bench.operators[0].state();
    // 50 totals, 200 entries of lists, 100 tags, 50 timers.
    assert_eq!((full.keys, full.entries), (50, 400));
    assert!(full.bytes > 200 * 9, "{full:?}");
    bench.round(&[mark(1_990 + 2_198)]);
    assert_eq!(bench.operators[0].state().keys, 1, "the last timer prolonged its key to 2,189 + 2,000");
    bench.round(&[mark(1_990 + 2_199)]);
    assert_eq!(bench.operators[0].state(), StateSize::default());
}

#[test]
fn timers_on_the_virtual_clock_fire_before_the_watermark_of_their_entry_but_those_of_its_instant_after() {
    let mut bench = Bench::single(teller(NEVER));
    bench.round(&[Event::Move(0, 1_000)]);
    for (key, wall) in [("a", 1_999), ("b", 2_000), ("c", 2_001)] {
        bench.round(&[arrive(key, Op::Remind, 10, 0), arrive(key, Op::Wall, wall, 0)]);
    }
    bench.lines.clear();
    bench.round(&[Event::Move(50, 2_000)]);
    let told: Vec<(&str, i64, EventTime)> =
        bench.lines.iter().map(|line| (line.text.as_str(), line.watermark, line.emitted_at)).collect();
    let expected = [
        ("timer 2 at 1999: false 0", 0, 1_999),
        ("timer 0 at 10: false 0", 50, 2_000),
        ("timer 0 at 10: false 0", 50, 2_000),
        ("timer 2 at 2000: false 0", 50, 2_000),
        ("timer 0 at 10: false 0", 50, 2_000),
    ];
    assert_eq!(told, expected);
    assert_eq!(bench.operators[0].state().entries, 1, "c's waits for 2,001");
}

#[test]
fn a_timer_set_at_or_before_the_clock_fires_before_the_next_row() {
    let mut bench = Bench::single(teller(NEVER));
    bench.round(&[Event::Move(0, 1_000), arrive("a", Op::Wall, 1_000, 5), arrive("a", Op::Append, 1, 5)]);
    assert_eq!(timer_rows(&bench), [("a", "timer 2 at 1000: false 0")]);
    assert_eq!(bench.lines[1].emitted_at, 1_000);
}

#[test]
fn the_wall_clock_fires_timers_when_it_reaches_them() {
    let mut bench = Bench::single(teller(NEVER));
    assert_eq!(bench.operators[0].next_instant(), None);
    let events = [arrive("a", Op::Wall, 8_000, 5), arrive("b", Op::Wall, 9_000, 5), mark(0)];
    bench.try_round(&events, Some(7_000)).expect("no hook pauses");
    assert_eq!(bench.operators[0].next_instant(), Some(8_000));
    bench.advance_clock(8_000);
    assert_eq!(timer_rows(&bench), [("a", "timer 2 at 8000: false 0")]);
    assert_eq!((bench.lines[2].emitted_at, bench.lines[2].watermark), (8_000, 0));
    assert_eq!(bench.operators[0].next_instant(), Some(9_000));
    // The next round reads the clock before its rows.
    bench.try_round(&[arrive("b", Op::Sum, 1, 5)], Some(9_500)).expect("no hook pauses");
    assert_eq!(bench.rows()[3..], [("b", "timer 2 at 9000: false 0", 9_000), ("b", "row Some(1) [] []", 5)]);
    assert_eq!(bench.operators[0].next_instant(), None);
}

#[test]
fn a_timer_that_is_due_again_and_again_is_taken_away_and_other_keys_go_on() {
    let mut bench = Bench::single(heart(SECOND, 0));
    bench.round(&[arrive("a", Op::Second, 5, 0), arrive("b", Op::Unset, 0, 0), mark(10), arrive("b", Op::Sum, 1, 0)]);
    let beats = bench.lines.iter().filter(|line| line.text == "beat").count();
    assert_eq!((beats, bench.reasons()), (1_001, vec!["timer-loop"]));
    assert_eq!(bench.account.failed_timers, 1);
    assert_eq!((bench.lines.last().map(|line| &*line.key), bench.operators[0].state().keys), (Some("b"), 1));
}

#[test]
fn timers_that_set_each_other_in_a_circle_are_taken_away() {
    let mut hook = Scripted::new(plan(NEVER));
    hook.timer = Box::new(|state, key, timer, time| {
        let other = if timer == SECOND { WALL } else { SECOND };
        state.set_timer(other, &[key], &[time])?;
        Ok(Some(Outcome::Emits(Vec::new())))
    });
    let mut bench = Bench::single(hook);
    bench.round(&[Event::Move(0, 1_000), arrive("a", Op::Second, -5, 0)]);
    assert_eq!((bench.reasons(), bench.operators[0].state()), (vec!["timer-loop"], StateSize::default()));
}

#[test]
fn a_heartbeat_beats_at_each_time_on_the_watermarks_way_and_ends_with_the_input() {
    let mut bench = Bench::single(heart(REMIND, 5));
    bench.round(&[arrive("a", Op::Remind, 5, 0), mark(25)]);
    let times: Vec<EventTime> = bench.lines[1..].iter().map(|line| line.time).collect();
    assert_eq!(times, [5, 10, 15, 20, 25]);
    bench.round(&[mark(i64::MAX)]);
    assert_eq!((bench.lines.len(), bench.reasons()), (1 + 5 + 1_001, vec!["timer-loop"]));
    assert_eq!(bench.operators[0].state(), StateSize::default());
}

#[test]
fn what_fires_more_than_an_output_holds_comes_in_pieces_in_the_same_order() {
    let mut bench = Bench::single(heart(REMIND, 1));
    let keys = 40;
    let rows: Vec<Event> = (0..keys).map(|key| arrive(&format!("k{key:02}"), Op::Remind, 1, 0)).collect();
    bench.round(&rows);
    bench.lines.clear();
    bench.pieces.clear();
    bench.round(&[mark(2_000), arrive("k00", Op::Sum, 1, 3_000)]);
    let expected = (0..keys).flat_map(|key| (1..=2_000).map(move |time| (format!("k{key:02}"), time)));
    let beats: Vec<(String, EventTime)> =
        bench.lines.iter().filter(|line| line.text == "beat").map(|line| (line.key.clone(), line.time)).collect();
    assert!(beats.into_iter().eq(expected), "{} rows", bench.lines.len());
    assert!(bench.pieces.len() >= 4, "{:?}", bench.pieces);
    assert!(bench.pieces.iter().all(|rows| *rows < 3 * RECORDS_BEFORE_PAUSE), "{:?}", bench.pieces);
    assert_eq!(bench.lines.last().map(|line| &*line.text), Some("row Some(1) [] []"));
}

#[test]
fn a_clock_that_fires_more_than_an_output_holds_goes_on_at_once() {
    let mut bench = Bench::single(heart(WALL, 1));
    bench.try_round(&[arrive("a", Op::Wall, 1, 0), mark(0)], Some(0)).expect("no hook pauses");
    let beats = 2 * i64::try_from(RECORDS_BEFORE_PAUSE).expect("few");
    bench.advance_clock(beats);
    assert!(bench.operators[0].has_more(), "there was no room for all");
    assert_eq!(bench.operators[0].next_instant(), Some(beats), "there is more to do");
    bench.advance_clock(beats);
    bench.advance_clock(beats);
    assert_eq!(bench.lines.len(), 1 + usize::try_from(beats).expect("few"));
    assert_eq!(bench.operators[0].next_instant(), Some(beats + 1));
    assert_eq!(bench.account.failed_timers, 0);
    assert_ne!(bench.lines[0].emitted_at, NO_CLOCK);
}
