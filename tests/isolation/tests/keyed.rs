//! Aggregate and window hooks: every function, over honest guests.

use arrow_array::{Int64Array, StringArray};
use tidegate_isolation::host::{load, options, rows, sandbox, values};
use tidegate_isolation::{aggregator, windower};
use tidegate_types::hooks::{Assignments, Call, Cells, Decision, DecisionRequest, HookError};
use tidegate_types::{Column, Field, Kind, PaneBatch, PaneInfo, PaneOp, Timing, Value, Watermark};

fn key() -> Vec<Field> {
    vec![Field::typed("name", Kind::Text, true), Field::dynamic("any")]
}

fn input() -> Vec<Field> {
    vec![Field::typed("n", Kind::Int, false)]
}

/// Two keys and their windows.
fn cells() -> Cells {
    let any = [Value::from(1), Value::Json("{\"a\":[1]}".into())];
    Cells {
        keys: vec![
            Column::Text(StringArray::from(vec![Some("a"), None])),
            Column::of_values(any.iter().map(Value::as_ref)),
        ],
        starts: vec![0, 10],
        ends: vec![10, 20],
    }
}

fn ints(values: &[i64]) -> Column {
    Column::Int(Int64Array::from(values.to_vec()))
}

#[test]
fn an_aggregate_accumulates_merges_and_finishes() {
    let sandbox = sandbox();
    let component = load(&sandbox, &aggregator::sum());
    let mut hook = component.open_aggregator("null", &key(), &input(), options()).expect("the hook opens");
    let plan = hook.plan();
    assert!(plan.keys && plan.windows);
    assert_eq!(plan.output, vec![Field::typed("sum", Kind::Int, false)]);
    assert_eq!(values(&plan.initial), [["Int(0)"]]);

    let mut input = rows(1, 4);
    input.columns.truncate(1);
    let old = [ints(&[100, 0])];
    let new = hook.accumulate(Call::USUAL, &cells(), &old, &[0, 1, 1, 0], &input).expect("the call succeeds").value;
    assert!(new.rejected.is_empty());
    assert_eq!(values(&new.accumulators), [["Int(105)", "Int(5)"]]);

    let merged = hook.merge(Call::USUAL, &new.accumulators, &[ints(&[1, -5])]).expect("the call succeeds").value;
    assert_eq!(values(&merged), [["Int(106)", "Int(0)"]]);
    let finished = hook.finish(Call::VERDICT, &cells(), &merged).expect("the call succeeds").value;
    assert_eq!(values(&finished), [["Int(106)", "Int(0)"]]);
}

#[test]
fn accumulators_of_a_call_with_refused_rows_are_not_looked_at() {
    // One rejection, of row 2, with a code and no message; and accumulators that are no columns at all.
    let rejects = r#"
    (i32.store offset=4 (i32.const 2048) (i32.const 0))
    (i32.store offset=8 (i32.const 2048) (i32.const 0))
    (memory.fill (i32.const 3072) (i32.const 0) (i32.const 32))
    (i32.store (i32.const 3072) (i32.const 2))
    (i32.store offset=4 (i32.const 3072) (i32.const 256))
    (i32.store offset=8 (i32.const 3072) (i32.const 3))
    (i32.store offset=12 (i32.const 2048) (i32.const 3072))
    (i32.store offset=16 (i32.const 2048) (i32.const 1))"#;
    let sandbox = sandbox();
    let bytes = tidegate_isolation::guest("with-aggregator", &aggregator::functions(rejects));
    let mut hook = load(&sandbox, &bytes).open_aggregator("null", &key(), &input(), options()).expect("the hook opens");
    let mut input = rows(1, 4);
    input.columns.truncate(1);
    let answer = hook.accumulate(Call::USUAL, &cells(), &[ints(&[0, 0])], &[0, 1, 1, 0], &input).expect("it succeeds");
    let rejected = &answer.value.rejected;
    assert_eq!((rejected.len(), rejected[0].row, rejected[0].code.as_str()), (1, 2, "sum"));
    assert!(answer.value.accumulators.is_empty());
}

#[test]
fn wrong_arguments_are_the_hosts_fault() {
    let sandbox = sandbox();
    let component = load(&sandbox, &aggregator::sum());
    let mut hook = component.open_aggregator("null", &key(), &input(), options()).expect("the hook opens");
    let mut input = rows(1, 2);
    let old = [ints(&[0, 0])];
    let too_many_columns = hook.accumulate(Call::USUAL, &cells(), &old, &[0, 1], &input);
    assert!(matches!(too_many_columns, Err(HookError::Platform { .. })), "{too_many_columns:?}");
    input.columns.truncate(1);
    let too_few_groups = hook.accumulate(Call::USUAL, &cells(), &old, &[0], &input);
    assert!(matches!(too_few_groups, Err(HookError::Platform { .. })), "{too_few_groups:?}");
    assert!(hook.accumulate(Call::USUAL, &cells(), &old, &[0, 1], &input).is_ok());
}

#[test]
fn a_windower_assigns_decides_and_emits() {
    let sandbox = sandbox();
    let component = load(&sandbox, &windower::ten_ms(""));
    let value = [Field::typed("sum", Kind::Int, false)];
    let mut hook = component.open_windower("null", &key(), &input(), &value, options()).expect("the hook opens");
    assert!(hook.plan().decides && hook.plan().emits);
    let mut input = rows(1, 2);
    input.columns.truncate(1);
    let assigned = hook.assign(Call::USUAL, &input).expect("the call succeeds").value;
    assert_eq!(assigned, Assignments { offsets: vec![0, 1, 2], starts: vec![1000, 2000], ends: vec![1010, 2010] });

    let Cells { keys, starts, ends } = cells();
    let request = DecisionRequest { keys, starts, ends, counts: vec![1, 0], watermark: Watermark::MIN };
    let decisions = hook.decide(Call::USUAL, &request).expect("the call succeeds").value;
    assert_eq!(decisions, [Decision::Fire, Decision::Fire]);

    let info = |window, index| PaneInfo {
        window,
        timing: Timing::OnTime,
        index,
        is_last: false,
        watermark: Watermark::at(20),
        op: PaneOp::Insert,
        fired_at: 0,
    };
    let panes = PaneBatch {
        keys: cells().keys,
        values: vec![ints(&[7, 8])],
        infos: vec![info(Some((0, 10)), 0), info(None, 3)],
        order: None,
    };
    let emitted = hook.emit(Call::USUAL, &panes).expect("the call succeeds").value;
    assert_eq!(values(&emitted.columns), [["Int(7)", "Int(8)"]]);
    assert_eq!(emitted.sources, [0, 1]);
}

#[test]
fn windows_that_are_none_are_malformed() {
    let sandbox = sandbox();
    let wrong = [
        ("(i64.store (local.get $ends) (i64.const 1000))", "a window ends after it starts"),
        ("(i32.store offset=24 (i32.const 2048) (i32.const 1))", "2 starts and 1 ends"),
        ("(i32.store offset=16 (i32.const 2048) (i32.const 1))", "what it divides has 1 entries"),
        ("(i32.store (local.get $offsets) (i32.const 1))", "starts at 1"),
        ("(i32.store offset=4 (local.get $offsets) (i32.const 3))", "falls from 3 to 2"),
        // Both windows are the first row's, and fall.
        (
            "(i64.store offset=8 (local.get $ends) (i64.const 1005)) (i64.store offset=8 (local.get $times) (i64.const 1000))
             (i32.store offset=4 (local.get $offsets) (i32.const 2))",
            "the windows of row 0 do not ascend",
        ),
    ];
    let mut input = rows(1, 2);
    input.columns.truncate(1);
    for (instructions, says) in wrong {
        let component = load(&sandbox, &windower::ten_ms(instructions));
        let mut hook =
            component.open_windower("null", &key(), &self::input(), &self::input(), options()).expect("it opens");
        let failure = tidegate_isolation::host::guest_failure(hook.assign(Call::USUAL, &input), "malformed-result");
        assert!(failure.detail.starts_with("`windower.assign`: ") && failure.detail.contains(says), "{failure}");
    }
}
