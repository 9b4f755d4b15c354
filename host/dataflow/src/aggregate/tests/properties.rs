//! However records are split into batches, calls, slots and merges, panes show what the naive functions say.

use proptest::prelude::*;

use super::naive::{Item, pane};
use super::stored::stored_again;
use super::*;

const SLOTS: usize = 4;
const FIELDS: [&str; 4] = ["n", "m", "v", "kind"];
const NUMBER: usize = 0;
const COMPARABLE: usize = 1;
const ANY: usize = 2;
const KIND: usize = 3;

/// One thing that happens to the accumulators.
#[derive(Debug, Clone)]
enum Step {
    /// A batch; each record goes to the slots of its mask's bits.
    Add(Vec<(Record, u8)>),
    Merge(usize, usize),
    Reset(usize),
}

fn number(flavour: u8) -> BoxedStrategy<Value> {
    let ints = prop_oneof![-3i64..4, -1_000_000_000_000i64..1_000_000_000_000].prop_map(Value::Int);
    let floats = prop_oneof![
        (-8i32..8).prop_map(|value| f64::from(value) / 10.0),
        Just(1e300),
        Just(-1e300),
        Just(1e-300),
        Just(f64::MAX),
        -1e9..1e9,
    ]
    .prop_map(Value::Float);
    match flavour {
        0 => ints.boxed(),
        1 => prop_oneof![4 => ints, 1 => Just(Value::Null)].boxed(),
        2 => floats.boxed(),
        _ => prop_oneof![2 => ints, 2 => floats, 1 => Just(Value::Null)].boxed(),
    }
}

fn comparable(flavour: u8) -> BoxedStrategy<Value> {
    let texts = prop::sample::select(vec!["", "a", "aa", "b", "ä", "\u{1F600}"]).prop_map(Value::from);
    let ints = (-3i64..4).prop_map(Value::Int);
    let floats = (-3i32..4).prop_map(|value| Value::Float(f64::from(value) / 2.0));
    match flavour {
        0 => ints.boxed(),
        1 => texts.boxed(),
        _ => prop_oneof![texts, ints, floats, Just(Value::Null)].boxed(),
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        comparable(2),
        any::<bool>().prop_map(Value::Bool),
        Just(json("{}")),
        Just(json("[1]")),
        Just(Value::Bytes(vec![0, 1].into())),
    ]
}

fn record(flavour: u8) -> impl Strategy<Value = Record> {
    let kind = prop_oneof![Just(Value::from("click")), Just(Value::from("view")), Just(Value::Null)];
    (0i64..6, number(flavour), comparable(flavour), any_value(), kind)
        .prop_map(|(time, number, comparable, any, kind)| Record { time, values: vec![number, comparable, any, kind] })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    (0u8..4).prop_flat_map(|flavour| {
        let add = prop::collection::vec((record(flavour), 0u8..16), 0..12).prop_map(Step::Add);
        let merge = (0..SLOTS, 0..SLOTS).prop_filter("two slots", |(into, from)| into != from);
        let merge = merge.prop_map(|(into, from)| Step::Merge(into, from));
        let reset = (0..SLOTS).prop_map(Step::Reset);
        prop::collection::vec(prop_oneof![5 => add, 3 => merge, 1 => reset], 0..12)
    })
}

/// The functions, each with the place of its field and whether it looks at clicks only.
fn functions() -> Vec<(Function, usize, bool)> {
    vec![
        (Function::Count, NUMBER, false),
        (Function::Count, COMPARABLE, true),
        (Function::Sum, NUMBER, false),
        (Function::Sum, NUMBER, true),
        (Function::Avg, NUMBER, false),
        (Function::Avg, NUMBER, true),
        (Function::Min, COMPARABLE, false),
        (Function::Max, COMPARABLE, false),
        (Function::Max, NUMBER, true),
        (Function::First, ANY, false),
        (Function::Last, ANY, false),
        (Function::Last, NUMBER, true),
        (Function::CountDistinct, ANY, false),
        (Function::ApproxCountDistinct, ANY, false),
        (Function::CountDistinct, NUMBER, true),
        (Function::TopK { k: 2 }, COMPARABLE, false),
        (Function::TopK { k: 100 }, NUMBER, false),
    ]
}

fn builtins() -> Builtins {
    let aggregates: Vec<Aggregate> = functions()
        .into_iter()
        .map(|(wanted, field, clicks)| match clicks {
            false => function("out", wanted, Some(FIELDS[field])),
            true => function_where("out", wanted, Some(FIELDS[field]), FIELDS[KIND], "click".into()),
        })
        .collect();
    Builtins::new(&aggregates, &Schema::default())
}

/// The pairs of a batch, a record's slots side by side.
fn pairs(records: &[(Record, u8)]) -> (Vec<u32>, Vec<u32>) {
    let in_slots = |row: usize| (0u32..4).filter(move |slot| records[row].1 & (1 << slot) != 0);
    let pairs = (0..records.len()).flat_map(|row| in_slots(row).map(move |slot| (row, slot)));
    pairs.map(|(row, slot)| (u32::try_from(row).unwrap(), slot)).unzip()
}

fn add(builtins: &mut Builtins, sequence: u64, records: &[(Record, u8)], calls: usize) {
    let plain: Vec<Record> = records.iter().map(|(record, _)| record.clone()).collect();
    let batch = batch(&FIELDS, sequence, &plain);
    let prepared = builtins.prepare(&batch);
    let (rows, slots) = pairs(records);
    let size = rows.len().div_ceil(calls).max(1);
    for (rows, slots) in rows.chunks(size).zip(slots.chunks(size)) {
        builtins.add(&prepared, &batch, &Additions { rows, slots });
    }
}

/// The panes of all slots after the steps. `calls`: how many calls a batch's pairs are split into. `early`: whether panes
/// are made after each step too.
fn run(steps: &[Step], calls: usize, early: bool) -> Vec<Vec<Value>> {
    run_with(steps, calls, |builtins| {
        if early {
            builtins.finish(&[0, 1, 2, 3]);
        }
    })
}

/// As [`run`]; `after` is called after each step.
fn run_with(steps: &[Step], calls: usize, after: impl Fn(&mut Builtins)) -> Vec<Vec<Value>> {
    let mut builtins = builtins();
    builtins.reserve(SLOTS);
    let mut sequence = 0;
    for step in steps {
        match step {
            Step::Add(records) => {
                add(&mut builtins, sequence, records, calls);
                sequence += u64::try_from(records.len()).unwrap();
            }
            Step::Merge(into, from) => {
                builtins.merge(u32::try_from(*into).unwrap(), u32::try_from(*from).unwrap());
            }
            Step::Reset(slot) => builtins.reset(u32::try_from(*slot).unwrap()),
        }
        after(&mut builtins);
    }
    let columns = builtins.finish(&[0, 1, 2, 3]);
    (0..SLOTS).map(|slot| row(&columns, slot)).collect()
}

/// The same with lists of records.
fn run_naively(steps: &[Step]) -> Vec<Vec<Value>> {
    let mut slots: Vec<Vec<(u64, Record)>> = vec![Vec::new(); SLOTS];
    let mut arrival = 0;
    for step in steps {
        match step {
            Step::Add(records) => {
                for (record, mask) in records {
                    for (slot, kept) in slots.iter_mut().enumerate() {
                        if mask & (1 << slot) != 0 {
                            kept.push((arrival, record.clone()));
                        }
                    }
                    arrival += 1;
                }
            }
            Step::Merge(into, from) => {
                let more = slots[*from].clone();
                slots[*into].extend(more);
            }
            Step::Reset(slot) => slots[*slot].clear(),
        }
    }
    let clicked = |record: &Record| record.values[KIND] == Value::from("click");
    let items = |slot: &[(u64, Record)], field: usize, clicks: bool| -> Vec<Item> {
        slot.iter()
            .filter(|(_, record)| !record.values[field].is_null() && (!clicks || clicked(record)))
            .map(|(arrival, record)| (record.time, *arrival, record.values[field].clone()))
            .collect()
    };
    let panes = |slot: &Vec<(u64, Record)>| {
        functions().into_iter().map(|(wanted, field, clicks)| pane(wanted, &items(slot, field, clicks))).collect()
    };
    slots.iter().map(panes).collect()
}

proptest! {
    #[test]
    fn panes_are_what_the_naive_functions_show(steps in steps()) {
        let expected = run_naively(&steps);
        prop_assert_eq!(run(&steps, 1, false), expected.clone());
        prop_assert_eq!(run(&steps, 1, true), expected.clone());
        prop_assert_eq!(run(&steps, 3, false), expected);
    }

    /// Stored and read back after each step, panes made or not.
    #[test]
    fn what_was_stored_goes_on_as_if_it_had_not_been(steps in steps()) {
        let expected = run(&steps, 1, false);
        let again = |before: &mut Builtins| *before = stored_again(before, builtins(), SLOTS);
        prop_assert_eq!(run_with(&steps, 1, again), expected.clone());
        let shown_and_again = |before: &mut Builtins| {
            before.finish(&[0, 1, 2, 3]);
            again(before);
        };
        prop_assert_eq!(run_with(&steps, 1, shown_and_again), expected);
    }

    #[test]
    fn how_records_are_grouped_does_not_matter(
        records in prop::collection::vec(record(3), 1..40),
        places in prop::collection::vec(0usize..4, 40),
    ) {
        // All records in one slot and one batch, against each in a batch of its own in one of four slots, merged.
        let together: Vec<(Record, u8)> = records.iter().map(|record| (record.clone(), 1)).collect();
        let mut apart: Vec<Step> =
            records.iter().zip(&places).map(|(record, slot)| Step::Add(vec![(record.clone(), 1 << slot)])).collect();
        apart.extend([Step::Merge(3, 1), Step::Merge(2, 3), Step::Merge(0, 2)]);
        prop_assert_eq!(&run(&[Step::Add(together)], 1, false)[0], &run(&apart, 1, false)[0]);
    }
}
