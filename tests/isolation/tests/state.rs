//! Rows 16 and 17: a processor's state and timers. What a guest may do with them, what it may not, and how much.

use std::any::Any;

use tidegate_admission::TrialState;
use tidegate_isolation::host::{guest_failure, options, sandbox, values};
use tidegate_isolation::measure::resident_bytes;
use tidegate_isolation::processor::{BY_MARK, ENOUGH, MARKS, ROWS, evil, fire, open, process, texts, two_keys};
use tidegate_sandbox::{OpenError, Stage};
use tidegate_types::hooks::{
    Call, DueTimers, HookError, HookRows, StateAccess, StateError, StateLists, StateMaps, StateResult, StateRows,
    StateShape, TimerClock,
};
use tidegate_types::{Column, Kind, Millis};

/// Deeds, and what the host says of them: the function, and the rule that was broken.
const MISUSE: &[(&str, &str)] = &[
    ("state-key", "`keyed-state.get`: there is no key 2, the call has 2"),
    ("state-number", "`keyed-state.get`: there is no state 99, the plan declares 3"),
    ("state-shape", "`keyed-state.append`: state `rows` is a value, and this is for a list"),
    ("state-kind", "`keyed-state.put`: `rows`: the rows, field `rows`: it holds texts, the plan declares int"),
    ("state-rows", "`keyed-state.put`: `rows`: the rows, field `rows`: it has 1 rows, 2 are due"),
    ("state-null", "`keyed-state.put`: `rows`: the rows, field `rows`: it has nulls and is not nullable"),
    (
        "state-map-key",
        "`keyed-state.map-put`: `by-mark`: the rows, field `map-keys`: it holds ints, the plan declares text",
    ),
    (
        "state-offsets",
        "`keyed-state.append`: `marks`: the rows, field `mark`: `offsets` ends at 4294967295, what it divides has 4 entries",
    ),
    (
        "state-fill",
        "`keyed-state.append`: the call wrote more than 8388608 bytes of state; write fewer, or smaller rows",
    ),
    ("state-remove", "`keyed-state.map-remove`: the call wrote more than 8388608 bytes of state"),
    ("state-read", "`keyed-state.get-list`: what was asked for takes more than 8388608 bytes"),
    ("timer-number", "`timers.set`: there is no timer 99, the plan declares 2"),
    ("timer-short", "`timers.set`: `soon`: 1 times for 2 keys"),
];

fn config(evil: &str) -> String {
    format!(r#"{{"evil": "{evil}", "on": "bad"}}"#)
}

/// What `state` holds of the first key.
fn held(state: &mut dyn StateAccess) -> Vec<Vec<Vec<String>>> {
    let rows = state.get(ROWS, &[0], ENOUGH).expect("values are read");
    let marks = state.lists(MARKS, &[0], ENOUGH).expect("lists are read");
    let by_mark = state.map_entries(BY_MARK, &[0], ENOUGH).expect("maps are read");
    vec![values(&rows.columns), values(&marks.columns), values(&[by_mark.map_keys, by_mark.columns[0].clone()])]
}

fn pending(state: Box<dyn StateAccess>) -> Vec<((u32, u32), i64)> {
    let state: Box<dyn Any> = state;
    let state: Box<TrialState> = state.downcast().expect("the state that was lent comes back");
    state.pending().iter().map(|(timer, time)| (*timer, *time)).collect()
}

#[test]
fn a_processor_keeps_state_and_timers_by_key() {
    let sandbox = sandbox();
    let component = evil(&sandbox);
    let mut hook = open(&component, "{}").expect("the hook opens");
    let plan = hook.plan();
    assert!(plan.keys && plan.watermarks && plan.reads.times);
    let states: Vec<_> = plan.states.iter().map(|state| (state.name.as_str(), state.shape, state.ttl)).collect();
    assert_eq!(
        states,
        [
            ("rows", StateShape::Value, None),
            ("marks", StateShape::List, None),
            ("by-mark", StateShape::Map(Kind::Text), Some(Millis(60_000))),
        ]
    );
    assert_eq!(plan.timers[1].clock, TimerClock::Processing);

    let mut state = two_keys();
    let first =
        process(&mut *hook, Call::USUAL, &mut state, &["b", "x", "a", "x", "b"]).expect("the call succeeds").value;
    assert_eq!(values(&first.columns)[1], ["Int(1)", "Int(1)", "Int(2)", "Int(2)", "Int(3)"]);
    // In a fresh instance: what is kept is not in the guest.
    let second = process(&mut *hook, Call::HALF, &mut state, &["a"]).expect("the call succeeds").value;
    assert_eq!(values(&second.columns), [["Text(\"a\")"], ["Int(4)"]]);
    assert_eq!(
        held(&mut *state),
        [
            vec![vec!["Int(4)"]],
            vec![vec!["Text(\"b\")", "Text(\"a\")", "Text(\"b\")", "Text(\"a\")"]],
            vec![vec!["Text(\"a\")", "Text(\"b\")"], vec!["Int(2)", "Int(2)"]],
        ]
    );
    let fired = fire(&mut *hook, &mut state, 0).expect("the call succeeds").value;
    assert_eq!(values(&fired.columns), [["Text(\"soon\")", "Text(\"soon\")"], ["Int(4)", "Int(2)"]]);
    assert_eq!((fired.times, fired.sources), (Some(vec![5_000, 6_000]), None));
    assert_eq!(pending(state), [((0, 0), 1_000), ((0, 1), 4_000)]);
}

#[test]
fn every_misuse_is_told_ends_the_instance_and_costs_the_same_every_time() {
    let sandbox = sandbox();
    let component = evil(&sandbox);
    for (deed, says) in MISUSE {
        let mut hook = open(&component, &config(deed)).expect("the hook opens");
        let mut state = two_keys();
        let failure = guest_failure(process(&mut *hook, Call::USUAL, &mut state, &["bad", "x"]), "malformed-result");
        assert!(failure.detail.starts_with(&format!("`processor.process`: {says}")), "{deed}\n{failure}\n{says}");
        assert!(failure.fuel_used > 0);
        assert_eq!(sandbox.memory_used(), 0, "{deed}");
        assert_eq!(state.keys(), 2, "the state is back");
        let again = guest_failure(process(&mut *hook, Call::HALF, &mut two_keys(), &["bad", "x"]), "malformed-result");
        assert_eq!(again, failure);
        // The same from a timer.
        let mut hook = open(&component, &format!(r#"{{"evil": "{deed}", "in": "on-timer"}}"#)).expect("the hook opens");
        let failure = guest_failure(fire(&mut *hook, &mut two_keys(), 0), "malformed-result");
        assert!(failure.detail.starts_with(&format!("`processor.on-timer`: {says}")), "{deed}\n{failure}\n{says}");
    }
}

#[test]
fn state_is_there_during_a_processors_calls_alone() {
    let sandbox = sandbox();
    let component = evil(&sandbox);
    for deed in ["state-key", "state-shape", "timer-number"] {
        let error =
            open(&component, &format!(r#"{{"evil": "{deed}", "in": "open"}}"#)).err().expect("it does not open");
        let OpenError::Failed { stage: Stage::Open, code: "malformed-result", detail, .. } = &error else {
            panic!("a failure of `open` was due, not {error}")
        };
        assert!(detail.contains("state and timers are there during `process` and `on-timer` only"), "{detail}");
        // The same component's mapper has none either.
        let mut hook = component.open_mapper(&config(deed), &[], options()).expect("the hook opens");
        let input = HookRows { len: 1, times: vec![0], columns: vec![texts(&["bad"])] };
        let failure = guest_failure(hook.process(Call::USUAL, &input), "malformed-result");
        assert!(failure.detail.contains("`process` and `on-timer` only"), "{failure}");
    }
}

#[test]
fn a_guest_cannot_fill_the_host() {
    let sandbox = sandbox();
    let component = evil(&sandbox);
    let before = resident_bytes();
    for _ in 0..5 {
        for deed in ["state-fill", "state-remove", "state-read"] {
            let mut hook = open(&component, &config(deed)).expect("the hook opens");
            let mut state = two_keys();
            guest_failure(process(&mut *hook, Call::USUAL, &mut state, &["bad"]), "malformed-result");
        }
        // What is passed at once is bounded as an answer is.
        let mut hook = open(&component, &config("state-huge")).expect("the hook opens");
        let failure = guest_failure(process(&mut *hook, Call::USUAL, &mut two_keys(), &["bad"]), "trap");
        assert!(failure.detail.contains("what it passed to the host is larger than the"), "{failure}");
    }
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 64 * 1024 * 1024, "the process grew by {grown} bytes");
}

#[test]
fn floods_of_calls_are_paid_for() {
    let sandbox = sandbox();
    let component = evil(&sandbox);
    for deed in ["state-flood", "timer-flood"] {
        let mut hook = open(&component, &config(deed)).expect("the hook opens");
        let first = guest_failure(process(&mut *hook, Call::USUAL, &mut two_keys(), &["bad"]), "out-of-fuel");
        let again = guest_failure(process(&mut *hook, Call::USUAL, &mut two_keys(), &["bad"]), "out-of-fuel");
        assert_eq!(first, again);
        let verdict = guest_failure(process(&mut *hook, Call::VERDICT, &mut two_keys(), &["bad"]), "out-of-fuel");
        assert_eq!(verdict.fuel_used, 2 * first.fuel_used);
    }
}

#[test]
fn state_costs_fuel_by_entries_and_bytes() {
    let sandbox = sandbox();
    let component = evil(&sandbox);
    let mut hook = open(&component, "{}").expect("the hook opens");
    let mut cost =
        |marks: &[&str]| process(&mut *hook, Call::USUAL, &mut two_keys(), marks).expect("the call succeeds").fuel_used;
    let (one, two, three) = (cost(&["a"]), cost(&["a"; 2]), cost(&["a"; 3]));
    // Six calls for each row, of one entry each.
    assert!(two - one > 6 * (2_000 + 1_000), "{one} {two}");
    assert!((three - two).abs_diff(two - one) < (two - one) / 10, "{one} {two} {three}");
    let long = "w".repeat(10_000);
    assert!(cost(&[&long]) - one > 4 * 10_000, "the text is a map key twice, and a row");
}

#[test]
fn what_a_call_read_counts_as_given_to_it() {
    let sandbox = sandbox();
    let component = evil(&sandbox);
    let mut hook = open(&component, r#"{"evil": "state-echo", "on": "echo"}"#).expect("the hook opens");
    let mut state = two_keys();
    let large = "w".repeat(100_000);
    for _ in 0..5 {
        process(&mut *hook, Call::USUAL, &mut state, &[&large]).expect("the call succeeds");
    }
    // Half a megabyte in answer to a row of four bytes.
    let echoed = process(&mut *hook, Call::USUAL, &mut state, &["echo"]).expect("the call succeeds").value;
    assert_eq!((echoed.len, echoed.sources), (6, Some(vec![0; 6])));
    // Without reading as much, as much is refused.
    let mut wide = open(&component, r#"{"evil": "wide"}"#).expect("the hook opens");
    let failure = guest_failure(process(&mut *wide, Call::USUAL, &mut two_keys(), &vec!["a"; 100]), "malformed-result");
    assert!(failure.detail.contains("the answer is larger than the 262144 bytes allowed"), "{failure}");
}

#[test]
fn a_state_comes_back_from_a_call_that_failed_with_all_that_was_written() {
    let sandbox = sandbox();
    let component = evil(&sandbox);
    let mut hook = open(&component, &config("state-then-trap")).expect("the hook opens");
    let mut state = two_keys();
    guest_failure(process(&mut *hook, Call::USUAL, &mut state, &["bad"]), "trap");
    assert_eq!(held(&mut *state)[0], [["Int(77)"]]);
    assert_eq!(pending(state), [((0, 0), 77)]);
    // A call that is not made leaves the state where it was.
    let mut state = two_keys();
    let input = HookRows { len: 1, times: vec![0], columns: Vec::new() };
    let wrong = hook.process(Call::USUAL, &mut state, &[texts(&["ada", "bob"])], &[0], &[0], &input);
    assert!(matches!(wrong, Err(HookError::Platform { .. })), "{wrong:?}");
    assert_eq!(state.keys(), 2);
}

#[test]
fn rows_of_a_processing_timer_need_times() {
    let sandbox = sandbox();
    let component = evil(&sandbox);
    let mut hook = open(&component, r#"{"evil": "timer-timeless", "in": "on-timer"}"#).expect("the hook opens");
    assert_eq!(fire(&mut *hook, &mut two_keys(), 0).expect("event timers give theirs").value.times, None);
    let failure = guest_failure(fire(&mut *hook, &mut two_keys(), 1), "malformed-result");
    assert!(failure.detail.contains("processing timer `later` has no time"), "{failure}");
}

#[test]
fn a_wrong_plan_refuses_the_hook_by_its_place() {
    let sandbox = sandbox();
    let component = evil(&sandbox);
    let wrong = [("plan-states", "states[3] (rows)", "comes twice"), ("plan-ttl", "states[0] (rows)", "ttl")];
    for (deed, due, says) in wrong {
        let error =
            open(&component, &format!(r#"{{"evil": "{deed}", "in": "open"}}"#)).err().expect("it does not open");
        let OpenError::Plan { hook: "processor", place, reason, .. } = &error else { panic!("{error}") };
        assert!(place == due && reason.contains(says), "{error}");
    }
}

#[test]
fn wrong_arguments_are_the_hosts_fault() {
    let sandbox = sandbox();
    let component = evil(&sandbox);
    let mut hook = open(&component, "{}").expect("the hook opens");
    let keys = [texts(&["ada", "bob"])];
    let input = || HookRows { len: 1, times: vec![0], columns: vec![texts(&["a"])] };
    let mut state = two_keys();
    let wrong = [
        hook.process(Call::USUAL, &mut state, &keys, &[0, 1], &[0], &input()),
        hook.process(Call::USUAL, &mut state, &keys, &[2], &[0], &input()),
        hook.process(Call::USUAL, &mut state, &keys, &[0], &[], &input()),
        hook.process(Call::USUAL, &mut state, &[], &[0], &[0], &input()),
        hook.on_timer(Call::USUAL, &mut state, &keys, &DueTimers { timers: vec![0], ..DueTimers::default() }),
    ];
    for answer in wrong {
        assert!(matches!(answer, Err(HookError::Platform { .. })), "{answer:?}");
    }
    assert!(hook.process(Call::USUAL, &mut state, &keys, &[0], &[0], &input()).is_ok());
}

/// A state that the host cannot reach.
struct Unreachable;

fn gone<T>() -> StateResult<T> {
    Err(StateError::Platform { detail: "the disk is gone".to_owned() })
}

impl StateAccess for Unreachable {
    fn keys(&self) -> usize {
        2
    }

    fn get(&mut self, _: u32, _: &[u32], _: usize) -> StateResult<StateRows> {
        gone()
    }

    fn put(&mut self, _: u32, _: &[u32], _: &[Column]) -> StateResult<()> {
        gone()
    }

    fn clear(&mut self, _: u32, _: &[u32]) -> StateResult<()> {
        gone()
    }

    fn append(&mut self, _: u32, _: &[u32], _: &[Column]) -> StateResult<()> {
        gone()
    }

    fn lists(&mut self, _: u32, _: &[u32], _: usize) -> StateResult<StateLists> {
        gone()
    }

    fn map_get(&mut self, _: u32, _: &[u32], _: &Column, _: usize) -> StateResult<StateRows> {
        gone()
    }

    fn map_put(&mut self, _: u32, _: &[u32], _: &Column, _: &[Column]) -> StateResult<()> {
        gone()
    }

    fn map_remove(&mut self, _: u32, _: &[u32], _: &Column) -> StateResult<()> {
        gone()
    }

    fn map_entries(&mut self, _: u32, _: &[u32], _: usize) -> StateResult<StateMaps> {
        gone()
    }

    fn set_timer(&mut self, _: u32, _: &[u32], _: &[i64]) -> StateResult<()> {
        gone()
    }

    fn clear_timer(&mut self, _: u32, _: &[u32]) -> StateResult<()> {
        gone()
    }
}

#[test]
fn a_state_that_the_host_cannot_reach_is_nobodys_verdict() {
    let sandbox = sandbox();
    let component = evil(&sandbox);
    let mut hook = open(&component, "{}").expect("the hook opens");
    let mut state: Box<dyn StateAccess> = Box::new(Unreachable);
    let answer = process(&mut *hook, Call::USUAL, &mut state, &["a"]);
    let Err(HookError::Platform { detail }) = answer else { panic!("a fault of the host was due, not {answer:?}") };
    assert_eq!(detail, "`keyed-state.get`: the host could not reach the state: the disk is gone");
}
