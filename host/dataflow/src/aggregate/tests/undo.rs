//! Rows that are taken back: panes show what the rows that are left make, whatever came and went before.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::naive::{Item, pane};
use super::stored::stored_again;
use super::*;

const SLOTS: usize = 3;
const FIELDS: [&str; 3] = ["n", "v", "kind"];
const NUMBER: usize = 0;
const ANY: usize = 1;
const KIND: usize = 2;

/// A row in a batch.
#[derive(Debug, Clone)]
enum Op {
    Add(Record, usize),
    /// Takes a row of the slot back that is there, if any is; which one, as a share of them.
    Undo(usize, f64),
}

#[derive(Debug, Clone)]
enum Step {
    Batch(Vec<Op>),
    /// The second slot's rows go to the first.
    Merge(usize, usize),
    Reset(usize),
}

/// The functions that can undo, each with the place of its field and whether it looks at clicks only.
fn functions() -> Vec<(Function, usize, bool)> {
    vec![
        (Function::Count, NUMBER, false),
        (Function::Count, ANY, true),
        (Function::Sum, NUMBER, false),
        (Function::Sum, NUMBER, true),
        (Function::Avg, NUMBER, false),
        (Function::Avg, NUMBER, true),
        (Function::CountDistinct, ANY, false),
        (Function::CountDistinct, NUMBER, true),
        (Function::TopK { k: 2 }, ANY, false),
        (Function::TopK { k: 100 }, ANY, true),
    ]
}

fn undoing() -> Builtins {
    let aggregates: Vec<Aggregate> = functions()
        .into_iter()
        .map(|(wanted, field, clicks)| match clicks {
            false => function("out", wanted, Some(FIELDS[field])),
            true => function_where("out", wanted, Some(FIELDS[field]), FIELDS[KIND], "click".into()),
        })
        .collect();
    let mut builtins = Builtins::undoing(&aggregates, &Schema::default());
    builtins.reserve(SLOTS);
    builtins
}

/// `flavour`: integers only, finite numbers, numbers with infinities and NaN.
fn number(flavour: u8) -> BoxedStrategy<Value> {
    let ints = prop_oneof![-3i64..4, -1_000_000_000_000i64..1_000_000_000_000].prop_map(Value::Int);
    let floats = prop_oneof![
        (-8i32..8).prop_map(|value| f64::from(value) / 10.0),
        prop::sample::select(vec![1e300, -1e300, 1e-300, f64::MAX, f64::MIN, 5e-324, -0.0]),
        -1e9..1e9,
    ]
    .prop_map(Value::Float);
    let special = prop::sample::select(vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN]).prop_map(Value::Float);
    match flavour {
        0 => ints.boxed(),
        1 => prop_oneof![3 => ints, 3 => floats, 1 => Just(Value::Null)].boxed(),
        _ => prop_oneof![2 => ints, 2 => floats, 2 => special].boxed(),
    }
}

fn record(flavour: u8) -> impl Strategy<Value = Record> {
    let any = prop_oneof![
        (-2i64..3).prop_map(Value::Int),
        prop::sample::select(vec!["", "a", "b"]).prop_map(Value::from),
        (-2i32..3).prop_map(|value| Value::Float(f64::from(value) / 2.0)),
        Just(Value::Null),
    ];
    let kind = prop_oneof![2 => Just(Value::from("click")), 1 => Just(Value::Null)];
    (number(flavour), any, kind).prop_map(|(number, any, kind)| Record { time: 0, values: vec![number, any, kind] })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    (0u8..3).prop_flat_map(|flavour| {
        let op = prop_oneof![
            4 => (record(flavour), 0..SLOTS).prop_map(|(record, slot)| Op::Add(record, slot)),
            3 => (0..SLOTS, 0.0..1.0f64).prop_map(|(slot, which)| Op::Undo(slot, which)),
        ];
        let batch = prop::collection::vec(op, 0..10).prop_map(Step::Batch);
        let merge = (0..SLOTS, 0..SLOTS).prop_filter("two slots", |(into, from)| into != from);
        let merge = merge.prop_map(|(into, from)| Step::Merge(into, from));
        prop::collection::vec(prop_oneof![6 => batch, 1 => merge, 1 => (0..SLOTS).prop_map(Step::Reset)], 0..14)
    })
}

/// A batch with its retractions, and the slot of each row.
#[derive(Default)]
struct Rows {
    records: Vec<Record>,
    retractions: Vec<bool>,
    slots: Vec<u32>,
}

impl Rows {
    fn push(&mut self, record: Record, slot: usize, undone: bool) {
        self.records.push(record);
        self.retractions.push(undone);
        self.slots.push(u32::try_from(slot).unwrap());
    }

    fn add_to(&self, builtins: &mut Builtins) {
        let mut batch = batch(&FIELDS, 0, &self.records);
        batch.retractions = Some(self.retractions.clone().into());
        let prepared = builtins.prepare(&batch);
        let rows: Vec<u32> = (0..u32::try_from(self.records.len()).unwrap()).collect();
        builtins.add(&prepared, &batch, &Additions { rows: &rows, slots: &self.slots });
    }
}

/// What a pane of the remaining rows shows.
fn remaining(rows: &[Record]) -> Vec<Value> {
    let clicked = |record: &Record| record.values[KIND] == Value::from("click");
    let show = |(wanted, field, clicks): (Function, usize, bool)| {
        let items: Vec<Item> = rows
            .iter()
            .filter(|record| !record.values[field].is_null() && (!clicks || clicked(record)))
            .map(|record| (0, 0, record.values[field].clone()))
            .collect();
        special_sum(&items)
            .filter(|_| matches!(wanted, Function::Sum | Function::Avg))
            .unwrap_or_else(|| pane(wanted, &items))
    };
    functions().into_iter().map(show).collect()
}

/// The sum or mean if there is an infinity or a NaN.
fn special_sum(items: &[Item]) -> Option<Value> {
    let floats =
        items.iter().filter_map(|(_, _, value)| if let Value::Float(value) = value { Some(*value) } else { None });
    let special: Vec<f64> = floats.filter(|value| !value.is_finite()).collect();
    (!special.is_empty()).then(|| Value::Float(special.iter().sum()))
}

/// Runs the steps and compares after each, or at the end only. `again`: what is kept is stored and read back after each.
fn check(steps: &[Step], each: bool, again: bool) -> Result<(), TestCaseError> {
    let mut builtins = undoing();
    let mut kept: Vec<Vec<Record>> = vec![Vec::new(); SLOTS];
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Batch(ops) => {
                let mut rows = Rows::default();
                for op in ops {
                    match op {
                        Op::Add(record, slot) => {
                            kept[*slot].push(record.clone());
                            rows.push(record.clone(), *slot, false);
                        }
                        Op::Undo(slot, which) => {
                            let place = (kept[*slot].len() as f64 * which) as usize;
                            if place < kept[*slot].len() {
                                let record = kept[*slot].swap_remove(place);
                                rows.push(record, *slot, true);
                            }
                        }
                    }
                }
                rows.add_to(&mut builtins);
            }
            Step::Merge(into, from) => {
                builtins.merge(u32::try_from(*into).unwrap(), u32::try_from(*from).unwrap());
                builtins.reset(u32::try_from(*from).unwrap());
                let more = std::mem::take(&mut kept[*from]);
                kept[*into].extend(more);
            }
            Step::Reset(slot) => {
                builtins.reset(u32::try_from(*slot).unwrap());
                kept[*slot].clear();
            }
        }
        if again {
            builtins = stored_again(&builtins, undoing(), SLOTS);
        }
        if each || at + 1 == steps.len() {
            let columns = builtins.finish(&[0, 1, 2]);
            for (slot, rows) in kept.iter().enumerate() {
                prop_assert_eq!(row(&columns, slot), remaining(rows), "slot {} after step {}", slot, at);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn panes_show_what_the_rows_that_are_left_make(steps in steps()) {
        check(&steps, true, false)?;
        check(&steps, false, false)?;
        check(&steps, true, true)?;
        check(&steps, false, true)?;
    }

    /// As in a window that discards: a slot holds differences, in whatever order its rows came.
    #[test]
    fn what_was_never_added_can_be_taken_back(
        ops in prop::collection::vec((-3i64..4, any::<bool>(), any::<bool>()), 0..24),
        order in Just((0usize..24).collect::<Vec<usize>>()).prop_shuffle(),
        cut in 0usize..24,
    ) {
        let mut builtins = undoing();
        let mut net: BTreeMap<i64, i64> = BTreeMap::new();
        let mut parts = [Rows::default(), Rows::default()];
        for place in order.into_iter().filter(|place| *place < ops.len()) {
            let (value, undone, click) = ops[place];
            let kind = if click { Value::from("click") } else { Value::Null };
            let record = Record { time: 0, values: vec![Value::Int(value), Value::Int(value), kind] };
            // Two slots, merged in the end.
            let slot = usize::from(place > cut);
            parts[slot].push(record, slot, undone);
            *net.entry(value).or_default() += if undone { -1 } else { 1 };
        }
        parts.iter().for_each(|part| part.add_to(&mut builtins));
        builtins.finish(&[0, 1]);
        builtins.merge(0, 1);
        net.retain(|_, times| *times != 0);
        let count: i64 = net.values().sum();
        let sum: i64 = net.iter().map(|(value, times)| value * times).sum();
        let there = net.iter().filter(|(_, times)| **times > 0);
        let mut most: Vec<(i64, i64)> = there.clone().map(|(value, times)| (-times, *value)).collect();
        most.sort_unstable();
        let entry = |(times, value): &(i64, i64)| format!("{{\"count\":{},\"value\":{value}}}", -times);
        let top = most.iter().take(2).map(entry).collect::<Vec<_>>().join(",");
        let shown = row(&builtins.finish(&[0]), 0);
        prop_assert_eq!(&shown[0], &Value::Int(count));
        let nothing = count == 0 && sum == 0;
        prop_assert_eq!(&shown[2], &if nothing { Value::Null } else { Value::Int(sum) });
        let mean = if count == 0 { Value::Null } else { Value::Float(sum as f64 / count as f64) };
        prop_assert_eq!(&shown[4], &mean);
        prop_assert_eq!(&shown[6], &Value::from(i64::try_from(there.count()).unwrap()));
        prop_assert_eq!(&shown[8], &if most.is_empty() { Value::Null } else { json(&format!("[{top}]")) });
    }
}

fn one(value: Value) -> Record {
    Record { time: 0, values: vec![value.clone(), value, "click".into()] }
}

#[test]
fn a_sum_is_an_integer_again_once_its_last_float_is_gone() {
    let mut builtins = undoing();
    let mut rows = Rows::default();
    rows.push(one(Value::Int(7)), 0, false);
    rows.push(one(Value::Float(0.5)), 0, false);
    rows.push(one(Value::Float(1e300)), 0, false);
    rows.add_to(&mut builtins);
    assert_eq!(row(&builtins.finish(&[0]), 0)[2], Value::Float(1e300));
    let mut back = Rows::default();
    back.push(one(Value::Float(1e300)), 0, true);
    back.add_to(&mut builtins);
    assert_eq!(row(&builtins.finish(&[0]), 0)[2], Value::Float(7.5));
    let mut back = Rows::default();
    back.push(one(Value::Float(0.5)), 0, true);
    back.add_to(&mut builtins);
    let shown = row(&builtins.finish(&[0]), 0);
    assert_eq!((&shown[2], &shown[4]), (&Value::Int(7), &Value::Float(7.0)));
}

#[test]
fn rows_that_all_went_leave_nothing_but_room() {
    let mut builtins = undoing();
    let idle = builtins.state_bytes();
    let values = (0..300).map(|n| match n % 3 {
        0 => Value::Int(n),
        1 => Value::Float(2f64.powi(i32::try_from(n).unwrap())),
        _ => Value::Float(f64::INFINITY),
    });
    let (mut come, mut go) = (Rows::default(), Rows::default());
    for value in values {
        come.push(one(value.clone()), 1, false);
        go.push(one(value), 1, true);
    }
    come.add_to(&mut builtins);
    assert!(builtins.state_bytes() > idle + 300 * 8);
    go.add_to(&mut builtins);
    assert_eq!(row(&builtins.finish(&[1]), 0), remaining(&[]));
    builtins.reset(1);
    assert_eq!(builtins.state_bytes(), idle);
}

/// A row, the slot it comes to, and whether it takes one of that slot back instead (as a share of them).
type Arrival = (Value, usize, Option<f64>);

fn extreme() -> impl Strategy<Value = Value> {
    let huge = i64::MAX / 2;
    prop_oneof![
        3 => prop::sample::select(vec![i64::MAX, i64::MIN, 1, -1, huge, -huge]).prop_map(Value::Int),
        2 => (-1_000i64..1_000).prop_map(Value::Int),
        2 => Just(Value::Float(0.5)),
        1 => Just(Value::Null),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn exactly_the_rows_that_leave_64_bits_are_refused_coming_or_going(
        arrivals in prop::collection::vec((extreme(), 0..SLOTS, prop::option::weighted(0.4, 0.0..1.0f64)), 1..40),
    ) {
        let mut builtins = undoing();
        let mut kept: Vec<Vec<Value>> = vec![Vec::new(); SLOTS];
        for (value, slot, back) in arrivals as Vec<Arrival> {
            let mut after = kept[slot].clone();
            let (value, undone) = match back.map(|which| (after.len() as f64 * which) as usize) {
                None => {
                    after.push(value.clone());
                    (value, false)
                }
                Some(place) if place < after.len() => (after.swap_remove(place), true),
                Some(_) => continue,
            };
            let total: i128 = after.iter().map(|value| if let Value::Int(value) = value { i128::from(*value) } else { 0 }).sum();
            let is_float = after.iter().any(|value| matches!(value, Value::Float(_)));
            let refused = !is_float && i64::try_from(total).is_err();
            let mut rows = Rows::default();
            rows.push(one(value), slot, undone);
            let mut batch = batch(&FIELDS, 0, &rows.records);
            batch.retractions = Some(rows.retractions.clone().into());
            let prepared = builtins.prepare(&batch);
            let refusal = builtins.overflow(&prepared, 0, &rows.slots);
            prop_assert_eq!(refusal.is_some(), refused);
            // A batch that "cannot overflow" has no refused row.
            prop_assert!(builtins.may_overflow(&prepared) || !refused);
            if !refused {
                rows.add_to(&mut builtins);
                kept[slot] = after;
            }
        }
        let columns = builtins.finish(&[0, 1, 2]);
        for (slot, values) in kept.iter().enumerate() {
            let records: Vec<Record> = values.iter().cloned().map(one).collect();
            prop_assert_eq!(row(&columns, slot), remaining(&records));
        }
    }
}

/// What is left once the float is gone would be an integer sum, and too large.
#[test]
fn a_float_cannot_go_that_keeps_integers_beyond_64_bits_together() {
    let mut builtins = undoing();
    let mut rows = Rows::default();
    for value in [Value::Int(i64::MAX), Value::Float(0.5), Value::Int(i64::MAX)] {
        rows.push(one(value), 0, false);
    }
    rows.add_to(&mut builtins);
    let mut batch = batch(&FIELDS, 0, &[one(Value::Float(0.5))]);
    batch.retractions = Some([true].into());
    let prepared = builtins.prepare(&batch);
    assert!(builtins.may_overflow(&prepared));
    assert!(builtins.overflow(&prepared, 0, &[0]).is_some());
    assert!(builtins.overflow(&prepared, 0, &[1]).is_none());
}

#[test]
fn a_batch_of_retractions_of_none_is_a_plain_batch() {
    let (mut plain, mut flagged) = (undoing(), undoing());
    let records: Vec<Record> = (0..50).map(|n| one(Value::Int(n % 7))).collect();
    let mut batch = batch(&FIELDS, 0, &records);
    let rows: Vec<u32> = (0..50).collect();
    let prepared = plain.prepare(&batch);
    plain.add(&prepared, &batch, &Additions { rows: &rows, slots: &[0; 50] });
    batch.retractions = Some([false; 50].into());
    let prepared = flagged.prepare(&batch);
    flagged.add(&prepared, &batch, &Additions { rows: &rows, slots: &[0; 50] });
    assert_eq!(row(&plain.finish(&[0]), 0), row(&flagged.finish(&[0]), 0));
}
