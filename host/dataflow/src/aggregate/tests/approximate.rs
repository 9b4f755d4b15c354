//! The sketch: accurate, and a function of the set of values alone.

use proptest::prelude::*;

use super::stored::stored_again;
use super::*;

fn builtins() -> Builtins {
    let mut builtins = Builtins::new(&[function("out", Function::ApproxCountDistinct, Some("v"))], &Schema::default());
    builtins.reserve(4);
    builtins
}

fn add(builtins: &mut Builtins, slot: u32, values: impl Iterator<Item = i64>) {
    let records: Vec<Record> = values.map(|value| Record { time: 0, values: vec![Value::Int(value)] }).collect();
    let batch = batch(&["v"], 0, &records);
    let rows: Vec<u32> = (0..u32::try_from(records.len()).unwrap()).collect();
    let prepared = builtins.prepare(&batch);
    builtins.add(&prepared, &batch, &Additions { rows: &rows, slots: &vec![slot; rows.len()] });
}

fn estimate(builtins: &mut Builtins, slot: u32) -> i64 {
    match builtins.finish(&[slot])[0].value(0).to_value() {
        Value::Int(count) => count,
        other => panic!("{other:?} is no count"),
    }
}

/// The root mean square of the relative errors of many sketches is near the standard error of 1.6%.
#[test]
fn the_standard_error_is_what_is_promised() {
    for distinct in [500i64, 3_000, 20_000, 200_000] {
        let sketches = if distinct > 100_000 { 20 } else { 60 };
        let squares: f64 = (0..sketches)
            .map(|sketch| {
                let mut builtins = builtins();
                add(&mut builtins, 0, (0..distinct).map(|value| value + sketch * 1_000_000_007));
                let error = (estimate(&mut builtins, 0) - distinct) as f64 / distinct as f64;
                error * error
            })
            .sum();
        let deviation = (squares / sketches as f64).sqrt();
        assert!(deviation < 0.021, "{distinct} values: {deviation}");
    }
}

#[test]
fn few_values_are_counted_exactly() {
    for distinct in [1i64, 2, 8, 9, 24, 100, 300] {
        let mut builtins = builtins();
        add(&mut builtins, 0, (0..distinct).chain(0..distinct));
        assert_eq!(estimate(&mut builtins, 0), distinct);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Sizes on both sides of every change of representation (8, 24 … 384 hashes).
    #[test]
    fn order_and_merges_do_not_matter(
        size in prop_oneof![1i64..20, 350i64..420, 1_000i64..6_000],
        stride in prop::sample::select(vec![1i64, 7, 11, 13]),
        merges in Just(vec![(1u32, 2u32), (3, 1), (0, 3)]).prop_shuffle(),
        cut in 0.0..1.0f64,
    ) {
        let mut together = builtins();
        add(&mut together, 0, 0..size);
        let mut apart = builtins();
        let first = (size as f64 * cut) as i64;
        // Overlapping parts, some of them in another order.
        add(&mut apart, 0, (0..first).rev());
        add(&mut apart, 1, (first..size).filter(|value| value % stride == 0));
        add(&mut apart, 2, (first..size).filter(|value| value % stride != 0).rev());
        add(&mut apart, 3, (0..size).filter(|value| value % 3 == 0));
        apart = stored_again(&apart, builtins(), 4);
        let mut rest: Vec<u32> = vec![0, 1, 2, 3];
        for (into, from) in merges {
            apart.merge(into, from);
            rest.retain(|slot| *slot != from);
        }
        apart = stored_again(&apart, builtins(), 4);
        // Whatever the order of the three merges was, bring everything into slot 0.
        for slot in 1..4 {
            apart.merge(0, slot);
        }
        prop_assert_eq!(estimate(&mut apart, 0), estimate(&mut together, 0));
    }
}
