//! State, rejections and failures: each sentence of the operator's contract as a case.

use tidegate_types::hooks::{Call, StateError};

use super::bench::{Bench, Event, Letter, arrive, mark, numbered, row};
use super::hook::{Made, Scripted};
use super::script::{Op, Outcome, REMIND, SECOND, plan};
use crate::OperatorError;
use crate::operator::Operator;

const NEVER: [Option<i64>; 3] = [None; 3];

fn letter(reason: &str, row: u32) -> Letter {
    Letter { reason: reason.into(), row: Some(row), timer: None }
}

#[test]
fn each_key_has_its_own_state_from_row_to_row_and_from_round_to_round() {
    let mut bench = Bench::single(Scripted::new(plan(NEVER)));
    bench.round(&[arrive("a", Op::Sum, 5, 1), arrive("b", Op::Sum, 7, 2), arrive("a", Op::Append, 2, 3)]);
    bench.round(&[arrive("a", Op::Tag, 1, 4), arrive("b", Op::Clear, 0, 5), arrive("a", Op::Tag, 0, 6)]);
    let expected = [
        ("a", "row Some(5) [] []", 1),
        ("b", "row Some(7) [] []", 2),
        ("a", "row Some(5) [(2, Some(\"even\"))] []", 3),
        ("a", "row Some(5) [(2, Some(\"even\"))] [(\"t1\", 1)]", 4),
        ("b", "row None [] []", 5),
        ("a", "row Some(5) [(2, Some(\"even\"))] [(\"t0\", 1), (\"t1\", 1)]", 6),
    ];
    assert_eq!(bench.rows(), expected);
    assert_eq!(bench.account.accepted, 6);
    let state = bench.operators[0].state();
    assert_eq!((state.keys, state.entries), (1, 4), "the key without state and timers is forgotten");
}

#[test]
fn a_round_of_rows_of_many_keys_is_one_call() {
    let hook = Scripted::new(plan(NEVER));
    let made = std::sync::Arc::clone(&hook.made);
    let mut bench = Bench::single(hook);
    let rows: Vec<Event> = (0..300).map(|at| arrive(&format!("k{}", at % 40), Op::Sum, 1, i64::from(at))).collect();
    bench.round(&rows);
    assert_eq!(*made.lock().expect("free"), [Made { of_timers: false, rows: 300, call: Call::USUAL }]);
}

#[test]
fn a_row_without_output_is_accepted_and_rows_keep_their_own_times() {
    let mut bench = Bench::single(Scripted::new(plan(NEVER)));
    bench.round(&[arrive("a", Op::Silent, 1, 10), arrive("a", Op::Expand, 0, 20)]);
    let expected = [("a", "expand Some(1) [] []", 20), ("a", "own", 27), ("a", "third", 20)];
    assert_eq!(bench.rows(), expected);
    assert_eq!((bench.account.accepted, bench.account.rejected), (2, 0));
}

#[test]
fn a_rejected_record_leaves_nothing_behind() {
    let mut bench = Bench::single(Scripted::new(plan([Some(100), None, None])));
    bench.round(&numbered(vec![
        arrive("a", Op::Sum, 9, 10),
        arrive("a", Op::Remind, 50, 10),
        // It writes, sets a timer that is due, takes one back, would keep the total for longer, and is refused.
        arrive("a", Op::Reject, 0, 99),
        arrive("a", Op::Append, 1, 10),
        mark(110),
        arrive("a", Op::Append, 3, 10),
        mark(210),
        arrive("a", Op::Append, 5, 10),
    ]));
    let expected = [
        ("a", "row Some(9) [] []", 10),
        ("a", "row Some(9) [] []", 10),
        ("a", "row Some(9) [(1, None)] []", 10),
        ("a", "remind Some(9) [(60, Some(\"reminded\"))] []", 60),
        ("a", "second Some(10) [(60, Some(\"reminded\"))] []", 110),
        ("a", "again", 111),
        ("a", "row Some(10) [(60, Some(\"reminded\")), (3, None)] []", 10),
        ("a", "row None [(60, Some(\"reminded\")), (3, None), (5, None)] []", 10),
    ];
    assert_eq!(bench.rows(), expected);
    assert_eq!(bench.letters, [letter("no", 2)]);
    assert_eq!((bench.account.accepted, bench.account.rejected), (5, 1));
}

/// The second refusal of a key in one call was judged beside the first one's writes, so it does not count.
#[test]
fn a_refusal_is_judged_on_the_state_that_accepted_records_left() {
    let mut bench = Bench::single(Scripted::new(plan(NEVER)));
    bench.round(&numbered(vec![
        arrive("a", Op::Reject, 0, 1),
        arrive("a", Op::Sum, 1, 2),
        arrive("a", Op::Reject, 0, 3),
        arrive("b", Op::Reject, 0, 4),
    ]));
    assert_eq!(bench.letters, [letter("no", 0), letter("no", 3)]);
    assert_eq!(bench.account.accepted, 2);
}

#[test]
fn only_the_record_that_fails_alone_in_a_fresh_instance_is_condemned() {
    let hook = Scripted::new(plan(NEVER));
    let made = std::sync::Arc::clone(&hook.made);
    let mut bench = Bench::single(hook);
    let mut events: Vec<Event> = (0..64).map(|at| arrive(&format!("k{at}"), Op::Sum, 1, at)).collect();
    events.push(arrive("k7", Op::FailIfOdd, 0, 64));
    events.extend((0..64).map(|at| arrive(&format!("k{at}"), Op::Sum, 1, 65 + at)));
    bench.round(&numbered(events));
    assert_eq!(bench.letters, [letter("trap", 64)]);
    assert_eq!((bench.account.accepted, bench.account.rejected), (128, 1));
    assert!(bench.lines[64..].iter().all(|line| line.text == "row Some(2) [] []"), "the failed record left nothing");
    let made = made.lock().expect("free").clone();
    assert!(made.len() < 30, "{} calls", made.len());
    let verdicts: Vec<&Made> = made.iter().filter(|made| made.call == Call::VERDICT).collect();
    assert_eq!(verdicts, [&Made { of_timers: false, rows: 1, call: Call::VERDICT }]);
}

#[test]
fn many_failing_records_are_condemned_one_by_one() {
    let mut bench = Bench::single(Scripted::new(plan(NEVER)));
    let mut events = vec![arrive("a", Op::Sum, 1, 0)];
    events.extend((0..100).map(|at| arrive("a", if at % 2 == 0 { Op::FailIfOdd } else { Op::Append }, 2, at)));
    bench.round(&numbered(events));
    assert_eq!(bench.letters.len(), 50);
    assert!(bench.letters.iter().all(|letter| letter.row.is_some_and(|row| row % 2 == 1)), "{:?}", bench.letters);
    assert_eq!(bench.account.accepted, 51);
}

#[test]
fn a_value_of_another_kind_than_the_hook_reads_is_rejected() {
    let mut hook = Scripted::new(plan(NEVER));
    hook.plan.reads.columns[0] = tidegate_types::Field::typed("absent", tidegate_types::Kind::Int, false);
    let mut bench = Bench::single(hook);
    bench.round(&[arrive("a", Op::Sum, 1, 0)]);
    assert_eq!(bench.reasons(), ["type-mismatch"]);
    assert_eq!((bench.account.accepted, bench.account.rejected), (0, 1));
    assert_eq!(bench.operators[0].state().keys, 0);
}

#[test]
fn a_row_put_out_at_no_records_time_condemns_its_record() {
    let mut bench = Bench::single(Scripted::new(plan(NEVER)));
    bench.round(&numbered(vec![arrive("a", Op::Sum, 1, 0), arrive("a", Op::BadTime, 0, 1)]));
    assert_eq!(bench.letters, [letter("bad-time", 1)]);
}

#[test]
fn a_call_that_the_wall_clock_stops_leaves_no_trace_and_is_made_again() {
    let mut hook = Scripted::new(plan(NEVER));
    hook.stops = 2;
    let mut bench = Bench::single(hook);
    bench.round(&[arrive("a", Op::Sum, 1, 0)]);
    assert_eq!(bench.rows(), [("a", "row Some(1) [] []", 0)]);
    let mut hook = Scripted::new(plan(NEVER));
    hook.stops = 3;
    let stopped = Bench::single(hook).try_round(&[arrive("a", Op::Sum, 1, 0)], None);
    assert!(matches!(stopped, Err(OperatorError::Paused { stops: 3, .. })), "{stopped:?}");
}

#[test]
fn a_failing_timer_is_a_dead_letter_and_gone_and_its_keys_state_stays() {
    let hook = Scripted::new(plan(NEVER));
    let made = std::sync::Arc::clone(&hook.made);
    let mut bench = Bench::single(hook);
    for key in ["a", "b", "c", "d"] {
        // The reminder fails where the total is 3 modulo 7, after it has written.
        let total = if key == "c" { 3 } else { 1 };
        bench.round(&[arrive(key, Op::Sum, total, 0), arrive(key, Op::Remind, 10, 0)]);
    }
    bench.lines.clear();
    bench.round(&[mark(10), arrive("c", Op::Sum, 1, 11), mark(1_000)]);
    let reminded = "remind Some(1) [(10, Some(\"reminded\"))] []";
    assert_eq!(
        bench.rows(),
        [("a", reminded, 10), ("b", reminded, 10), ("d", reminded, 10), ("c", "row Some(4) [] []", 11)]
    );
    let timer = Some(("c".to_owned(), "remind".to_owned(), 10));
    assert_eq!(bench.letters, [Letter { reason: "timer-failed".into(), row: None, timer }]);
    assert_eq!((bench.account.failed_timers, bench.account.rejected), (1, 0));
    let made = made.lock().expect("free").clone();
    let calls: Vec<usize> = made.iter().filter(|made| made.of_timers).map(|made| made.rows).collect();
    assert_eq!(calls, [4, 2, 2, 1, 1, 1], "the four at once, then halves, and the verdict");
}

#[test]
fn what_a_guest_may_not_do_fails_its_call_and_nothing_else() {
    let mut hook = Scripted::new(plan(NEVER));
    hook.row = Box::new(|state, key, op, _, _| {
        if op == Op::Sum.number() {
            // More than the answer's limit allows: 8 bytes for the row and 8 for the int.
            state.put(0, &[key], &[tidegate_types::Column::of_values([tidegate_types::ValueRef::Int(1)])])?;
            state.get(0, &[key, key], 31)?;
        } else {
            state.get(0, &[key, key], 32)?;
        }
        Ok::<_, StateError>(Some(Outcome::Emits(Vec::new())))
    });
    let mut bench = Bench::single(hook);
    bench.round(&numbered(vec![arrive("a", Op::Sum, 0, 0), arrive("a", Op::Tag, 0, 0)]));
    assert_eq!(bench.letters, [letter("malformed-result", 0)]);
    assert_eq!((bench.account.accepted, bench.operators[0].state().keys), (1, 0));
}

#[test]
fn rows_come_out_in_the_order_of_their_events_and_then_of_their_keys() {
    let mut bench = Bench::single(Scripted::new(plan(NEVER)));
    let rows = vec![row("b", Op::Sum, 1, 5), row("a", Op::Sum, 1, 5), row("b", Op::Sum, 1, 5)];
    bench.round(&[Event::Rows(rows), arrive("a", Op::Second, 3, 6), mark(4)]);
    bench.round(&[arrive("b", Op::Remind, 0, 4), arrive("a", Op::Remind, 0, 4), mark(9)]);
    let keys: Vec<&str> = bench.lines.iter().map(|line| line.key.as_str()).collect();
    // Two rows of b and one of a at one event; a's row and its timers; then each row with what it made due, b before a.
    assert_eq!(keys, ["a", "b", "b", "a", "a", "a", "a", "b", "b", "a", "a"]);
    assert!(bench.lines[7].text.starts_with("row") && bench.lines[8].text.starts_with("remind"));
    assert_eq!((REMIND, SECOND), (0, 1));
}
