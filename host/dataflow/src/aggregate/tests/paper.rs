//! Each function by hand.

use super::*;

const NULL: Value = Value::Null;

fn all() -> Vec<(Function, Value)> {
    vec![
        (Function::Count, Value::Int(0)),
        (Function::Sum, NULL),
        (Function::Min, NULL),
        (Function::Max, NULL),
        (Function::Avg, NULL),
        (Function::First, NULL),
        (Function::Last, NULL),
        (Function::CountDistinct, Value::Int(0)),
        (Function::ApproxCountDistinct, Value::Int(0)),
        (Function::TopK { k: 3 }, NULL),
    ]
}

#[test]
fn an_empty_pane_and_one_of_nulls_show_no_value() {
    for (wanted, empty) in all() {
        assert_eq!(over(wanted, vec![]), empty, "{wanted:?}");
        assert_eq!(over(wanted, vec![NULL, NULL]), empty, "{wanted:?} of nulls");
    }
}

#[test]
fn an_absent_field_is_null() {
    for (wanted, empty) in all() {
        let records = [Record { time: 1, values: vec![Value::Int(1)] }];
        assert_eq!(shown(&[function("out", wanted, Some("other"))], &["v"], &records), [empty], "{wanted:?}");
    }
}

#[test]
fn count_counts_rows_or_present_values() {
    let values = vec![Value::Int(1), NULL, Value::from("x"), json("{}")];
    assert_eq!(over(Function::Count, values.clone()), Value::Int(3));
    let records: Vec<Record> = values.into_iter().map(|value| Record { time: 0, values: vec![value] }).collect();
    assert_eq!(shown(&[function("out", Function::Count, None)], &["v"], &records), [Value::Int(4)]);
}

#[test]
fn a_sum_is_an_integer_until_it_meets_a_float() {
    assert_eq!(over(Function::Sum, vec![Value::Int(2), NULL, Value::Int(-5)]), Value::Int(-3));
    assert_eq!(over(Function::Sum, vec![Value::Float(0.5), Value::Float(1.0)]), Value::Float(1.5));
    assert_eq!(over(Function::Sum, vec![Value::Int(2), Value::Float(0.5), Value::Int(1)]), Value::Float(3.5));
    assert_eq!(over(Function::Sum, vec![Value::Int(2), Value::Float(0.0)]), Value::Float(2.0));
    assert_eq!(over(Function::Sum, vec![Value::Int(i64::MAX), Value::Int(0)]), Value::Int(i64::MAX));
    let beyond = vec![Value::Int(i64::MAX), Value::Float(1.0), Value::Int(i64::MAX)];
    assert_eq!(over(Function::Sum, beyond), Value::Float(18_446_744_073_709_551_616.0));
}

#[test]
fn an_average_is_the_sum_rounded_once_divided_by_the_count() {
    assert_eq!(over(Function::Avg, vec![Value::Int(1), NULL, Value::Int(2)]), Value::Float(1.5));
    assert_eq!(over(Function::Avg, vec![Value::Float(0.1); 10]), Value::Float(0.1));
    assert_eq!(over(Function::Avg, vec![Value::Int(i64::MAX); 3]), Value::Float(9_223_372_036_854_775_808.0));
    assert_eq!(over(Function::Avg, vec![Value::Int(1), Value::Float(2.0)]), Value::Float(1.5));
}

#[test]
fn numbers_come_before_strings_and_compare_by_exact_value() {
    let mixed = vec![Value::from("b"), Value::Int(3), NULL, Value::Float(2.5), Value::from("É")];
    assert_eq!(over(Function::Min, mixed.clone()), Value::Float(2.5));
    assert_eq!(over(Function::Max, mixed), Value::from("É"));
    let big = vec![Value::Float(9_007_199_254_740_992.0), Value::Int(9_007_199_254_740_993)];
    assert_eq!(over(Function::Max, big.clone()), Value::Int(9_007_199_254_740_993));
    assert_eq!(over(Function::Min, big), Value::Float(9_007_199_254_740_992.0));
    let ties = vec![Value::Float(1.0), Value::Int(1)];
    assert_eq!(over(Function::Min, ties.clone()), Value::Int(1));
    assert_eq!(over(Function::Max, ties), Value::Float(1.0));
    assert_eq!(over(Function::Min, vec![Value::Int(4), Value::Int(-4), Value::Int(0)]), Value::Int(-4));
    assert_eq!(over(Function::Max, vec![Value::Int(4), Value::Int(-4), Value::Int(0)]), Value::Int(4));
}

#[test]
fn first_and_last_go_by_time_and_break_ties_by_arrival() {
    let values = [(5, "a"), (3, "b"), (5, "c"), (3, "d")];
    let mut records: Vec<Record> =
        values.iter().map(|(time, value)| Record { time: *time, values: vec![Value::from(*value)] }).collect();
    records.push(Record { time: 1, values: vec![NULL] });
    records.push(Record { time: 9, values: vec![NULL] });
    let aggregates = [function("first", Function::First, Some("v")), function("last", Function::Last, Some("v"))];
    assert_eq!(shown(&aggregates, &["v"], &records), [Value::from("b"), Value::from("c")]);
}

#[test]
fn first_and_last_take_any_value() {
    for value in [Value::Bool(false), json("[1]"), Value::Bytes(vec![1].into()), Value::Float(0.5)] {
        assert_eq!(over(Function::First, vec![value.clone(), Value::Int(1)]), value);
        assert_eq!(over(Function::Last, vec![Value::Int(1), value.clone()]), value);
    }
}

#[test]
fn distinct_values_differ_by_type_or_value() {
    let values = vec![
        Value::Int(1),
        Value::Float(1.0),
        Value::from("1"),
        Value::Bool(true),
        json("[1]"),
        Value::Int(1),
        Value::Float(0.0),
        Value::Float(-0.0),
        NULL,
    ];
    assert_eq!(over(Function::CountDistinct, values.clone()), Value::Int(6));
    assert_eq!(over(Function::ApproxCountDistinct, values), Value::Int(6));
}

#[test]
fn top_k_orders_by_count_and_then_by_smaller_value() {
    let words = |list: &str| list.split(' ').map(Value::from).collect::<Vec<Value>>();
    let top = over(Function::TopK { k: 2 }, words("b a c c b a b d"));
    assert_eq!(top, json(r#"[{"count":3,"value":"b"},{"count":2,"value":"a"}]"#));
    let mut mixed = words("x");
    mixed.extend([Value::Float(2.0), Value::Int(2), Value::Int(10), NULL, NULL]);
    assert_eq!(
        over(Function::TopK { k: 9 }, mixed),
        json(r#"[{"count":1,"value":2},{"count":1,"value":2.0},{"count":1,"value":10},{"count":1,"value":"x"}]"#)
    );
}

#[test]
fn where_compares_type_and_value_and_never_matches_null() {
    let kinds = [Value::Int(1), Value::Float(1.0), Value::from("1"), NULL, Value::Int(2), json(r#"{"a":1}"#)];
    let records: Vec<Record> = kinds
        .iter()
        .zip([1, 2, 4, 8, 16, 32])
        .map(|(kind, weight)| Record { time: 0, values: vec![kind.clone(), Value::Int(weight)] })
        .collect();
    let sum = |equals: Value| function_where("out", Function::Sum, Some("n"), "kind", equals);
    let aggregates = [
        sum(Value::Int(1)),
        sum(Value::Float(1.0)),
        sum(Value::from("1")),
        sum(json(r#"{"a":1}"#)),
        sum(NULL),
        sum(Value::from("absent")),
        function_where("rows", Function::Count, None, "kind", Value::Int(2)),
        function_where("rows", Function::Count, None, "nowhere", Value::Int(2)),
    ];
    let expected = [1.into(), 2.into(), 4.into(), 32.into(), NULL, NULL, 1.into(), 0.into()];
    assert_eq!(shown(&aggregates, &["kind", "n"], &records), expected);
    // The same where all kinds are of one type, and their column too.
    assert_eq!(shown(&aggregates[..1], &["kind", "n"], &records[..1]), [1.into()]);
    assert_eq!(shown(&aggregates[2..3], &["kind", "n"], &records[2..3]), [4.into()]);
}

#[test]
fn a_mismatch_names_aggregate_field_and_kind_and_only_selected_rows_have_one() {
    let fields = ["kind", "n"];
    let values = [Value::Int(1), Value::from("x"), NULL, Value::Bool(true), json("[1]"), Value::Float(1.0)];
    let record = |kind: &str, value: &Value| Record { time: 0, values: vec![kind.into(), value.clone()] };
    let records: Vec<Record> = values.iter().map(|value| record("click", value)).collect();
    let aggregates = [
        function("low", Function::Min, Some("n")),
        function_where("spend", Function::Sum, Some("n"), "kind", "click".into()),
        function("any", Function::Last, Some("n")),
    ];
    let batch_of_clicks = batch(&fields, 0, &records);
    let mut builtins = Builtins::new(&aggregates, &batch_of_clicks.schema);
    let prepared = builtins.prepare(&batch_of_clicks);
    let mismatches: Vec<Option<String>> = (0..6).map(|row| prepared.mismatch(row)).collect();
    assert_eq!(mismatches[0], None);
    assert_eq!(mismatches[1].as_deref(), Some("aggregate spend: sum takes numbers, but field n holds a string"));
    assert_eq!(mismatches[2], None);
    assert_eq!(
        mismatches[3].as_deref(),
        Some("aggregate low: min takes numbers and strings, but field n holds a boolean")
    );
    assert!(mismatches[4].as_deref().unwrap().contains("an array"));
    assert_eq!(mismatches[5], None);

    // Text only, so that the column is of one kind; `where` leaves the first row out.
    let records = [record("view", &values[1]), record("click", &values[1])];
    let prepared = builtins.prepare(&batch(&fields, 0, &records));
    assert_eq!(prepared.mismatch(0), None);
    assert!(prepared.mismatch(1).is_some());
    let prepared = builtins.prepare(&batch(&fields, 0, &records[..1]));
    assert_eq!(prepared.mismatch(0), None);
}

#[test]
fn a_reset_slot_is_empty_and_gives_its_memory_back() {
    let aggregates: Vec<Aggregate> = all().into_iter().map(|(wanted, _)| function("out", wanted, Some("v"))).collect();
    let empty: Vec<Value> = all().into_iter().map(|(_, empty)| empty).collect();
    let records: Vec<Record> = (0..500)
        .map(|n| Record { time: n, values: vec![Value::Float(2f64.powi(i32::try_from(n).unwrap()))] })
        .collect();
    let batch = batch(&["v"], 0, &records);
    let mut builtins = Builtins::new(&aggregates, &batch.schema);
    builtins.reserve(2);
    let rows: Vec<u32> = (0..500).collect();
    let prepared = builtins.prepare(&batch);
    let fill = |builtins: &mut Builtins, slot: u32| {
        builtins.add(&prepared, &batch, &Additions { rows: &rows, slots: &[slot; 500] });
    };
    // The first round leaves places in arenas that later rounds use again.
    fill(&mut builtins, 0);
    builtins.reset(0);
    let idle = builtins.state_bytes();
    fill(&mut builtins, 0);
    assert!(builtins.state_bytes() > idle + 500 * 8 + 4096);
    builtins.reset(0);
    assert_eq!(builtins.state_bytes(), idle);
    fill(&mut builtins, 1);
    builtins.merge(0, 1);
    builtins.reset(1);
    builtins.reset(0);
    assert_eq!(row(&builtins.finish(&[0, 1]), 0), empty);
    assert_eq!(row(&builtins.finish(&[0, 1]), 1), empty);
}

#[test]
fn output_fields_are_as_declared() {
    let schema = Schema::new(vec![Field::typed("n", Kind::Int, false), Field::typed("t", Kind::Text, true)]);
    let aggregates = [
        function("rows", Function::Count, None),
        function("total", Function::Sum, Some("n")),
        function("mean", Function::Avg, Some("n")),
        function("low", Function::Min, Some("t")),
        function("any", Function::Last, Some("other")),
        function("top", Function::TopK { k: 1 }, Some("t")),
    ];
    let builtins = Builtins::new(&aggregates, &schema);
    let expected = [
        Field::typed("rows", Kind::Int, false),
        Field::typed("total", Kind::Int, true),
        Field::typed("mean", Kind::Float, true),
        Field::typed("low", Kind::Text, true),
        Field::dynamic("any"),
        Field::dynamic("top"),
    ];
    assert_eq!(builtins.output_fields(), expected);
}
