//! Which records an integer sum refuses, against sums in 128 bits.

use proptest::prelude::*;

use super::*;

/// A record, the slot it goes to, and whether it first merges every other slot into it (as a session's record may).
type Arrival = (Value, u8, bool);

const SLOTS: u8 = 3;

fn values() -> impl Strategy<Value = Value> {
    let huge = i64::MAX / 2;
    prop_oneof![
        2 => (-huge..huge).prop_map(Value::Int),
        2 => prop::sample::select(vec![i64::MAX, i64::MIN, 1, -1, 0, huge, -huge]).prop_map(Value::Int),
        2 => (-1_000i64..1_000).prop_map(Value::Int),
        1 => Just(Value::Null),
        1 => Just(Value::Float(0.5)),
    ]
}

fn sums() -> Builtins {
    let mut builtins = Builtins::new(
        &[function("rows", Function::Count, None), function("total", Function::Sum, Some("n"))],
        &Schema::default(),
    );
    builtins.reserve(usize::from(SLOTS));
    builtins
}

/// The slots that a record brings together.
fn parts(slot: u8, merges: bool) -> Vec<u32> {
    if merges { (0..u32::from(SLOTS)).collect() } else { vec![u32::from(slot)] }
}

/// Adds a batch record by record as an operator does; says for each record whether it was refused.
fn add(builtins: &mut Builtins, arrivals: &[Arrival], refused: &mut Vec<bool>, surely: &mut Vec<bool>) {
    let records: Vec<Record> =
        arrivals.iter().map(|(value, _, _)| Record { time: 0, values: vec![value.clone()] }).collect();
    let batch = batch(&["n"], 0, &records);
    let prepared = builtins.prepare(&batch);
    let may = builtins.may_overflow(&prepared);
    for (row, (_, slot, merges)) in (0u32..).zip(arrivals) {
        let parts = parts(*slot, *merges);
        let refusal = builtins.overflow(&prepared, row, &parts);
        assert!(refusal.as_deref().is_none_or(|name| name == "total"));
        surely.push(may);
        refused.push(refusal.is_some());
        if refusal.is_some() {
            continue;
        }
        for part in parts.into_iter().filter(|part| *part != u32::from(*slot)) {
            builtins.merge(u32::from(*slot), part);
            builtins.reset(part);
        }
        builtins.add(&prepared, &batch, &Additions { rows: &[row], slots: &[u32::from(*slot)] });
    }
}

/// Which records are refused, by the book.
fn refused_naively(arrivals: &[Arrival]) -> Vec<bool> {
    let mut slots: Vec<Vec<Value>> = vec![Vec::new(); usize::from(SLOTS)];
    let mut refused = Vec::new();
    for (value, slot, merges) in arrivals {
        let parts = parts(*slot, *merges);
        let mut all: Vec<Value> = parts.iter().flat_map(|part| slots[index(*part)].clone()).collect();
        all.push(value.clone());
        let total: i128 =
            all.iter().map(|value| if let Value::Int(value) = value { i128::from(*value) } else { 0 }).sum();
        let is_float = all.iter().any(|value| matches!(value, Value::Float(_)));
        let refuse = !is_float && i64::try_from(total).is_err();
        refused.push(refuse);
        if !refuse {
            parts.iter().for_each(|part| slots[index(*part)].clear());
            slots[usize::from(*slot)] = all;
        }
    }
    refused
}

proptest! {
    #[test]
    fn exactly_the_records_that_leave_64_bits_are_refused(
        arrivals in prop::collection::vec((values(), 0..SLOTS, prop::bool::weighted(0.2)), 1..40),
        size in 1usize..10,
    ) {
        let mut builtins = sums();
        let (mut refused, mut may) = (Vec::new(), Vec::new());
        for batch in arrivals.chunks(size) {
            add(&mut builtins, batch, &mut refused, &mut may);
        }
        prop_assert_eq!(&refused, &refused_naively(&arrivals));
        // A batch that "cannot overflow" has no refused record.
        prop_assert!(refused.iter().zip(&may).all(|(refused, may)| *may || !refused));
    }
}

#[test]
fn a_null_can_bridge_two_sums_that_do_not_fit_together() {
    let mut builtins = sums();
    let huge = Value::Int(i64::MAX);
    let (mut refused, mut may) = (Vec::new(), Vec::new());
    let arrivals = [(huge.clone(), 0, false), (huge, 1, false), (Value::Null, 2, true), (Value::Float(0.0), 2, true)];
    add(&mut builtins, &arrivals, &mut refused, &mut may);
    assert_eq!(refused, [false, false, true, false]);
}

/// Merging the first two parts alone would leave 64 bits; all three together do not, and the next record still counts.
#[test]
fn a_merge_of_three_may_pass_through_numbers_beyond_64_bits() {
    let mut builtins = sums();
    let (mut refused, mut may) = (Vec::new(), Vec::new());
    let ints = [(i64::MIN, 0, false), (-1, 1, false), (5, 2, false), (0, 0, true), (0, 0, false), (-4, 0, false)];
    for (value, slot, merges) in ints {
        add(&mut builtins, &[(Value::Int(value), slot, merges)], &mut refused, &mut may);
    }
    assert_eq!(builtins.finish(&[0])[1].value(0).to_value(), Value::Int(i64::MIN));
    add(&mut builtins, &[(Value::Int(-1), 0, false)], &mut refused, &mut may);
    assert_eq!(refused, [false, false, false, false, false, false, true]);
    assert!(may[6]);
}

#[test]
fn small_sums_do_not_become_suspect_with_time() {
    let mut builtins = sums();
    let value = Value::Int(i64::MAX / 1_000);
    for _ in 0..5_000 {
        let (mut refused, mut may) = (Vec::new(), Vec::new());
        add(&mut builtins, &[(value.clone(), 0, false)], &mut refused, &mut may);
        assert_eq!((refused, may), (vec![false], vec![false]));
        builtins.reset(0);
    }
}
