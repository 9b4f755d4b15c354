//! Known sums, and any order and grouping against big integers.

use num_bigint::BigInt;
use proptest::prelude::*;

use super::super::superaccumulator::tests::{doubles, nearest, scaled};
use super::*;

fn sum_of(values: &[f64]) -> ExactSum {
    let mut sum = ExactSum::default();
    values.iter().for_each(|value| sum.add_float(*value));
    sum
}

/// What Python's `math.fsum` says.
#[test]
fn agrees_with_fsum_on_known_sums() {
    assert_eq!(sum_of(&[0.1; 10]).round(), 1.0);
    assert_eq!(sum_of(&[1e100, 1.0, -1e100]).round(), 1.0);
    assert_eq!(sum_of(&[1e16, 1.0, 1e-16]).round(), 10_000_000_000_000_002.0);
    assert_eq!(sum_of(&[1e308, 1e308, -1e308]).round(), 1e308);
    assert_eq!(sum_of(&[5e-324, 5e-324, -1e-323]).round().to_bits(), 0);
    assert_eq!(sum_of(&[-0.0, -0.0]).round().to_bits(), 0);
}

#[test]
fn integers_are_added_exactly_and_not_as_floats() {
    let mut sum = sum_of(&[0.0]);
    sum.add_int((1 << 53) + 1);
    sum.add_int(-(1 << 53));
    assert_eq!(sum.round(), 1.0);
    assert_eq!(sum.as_int(), None);
    let mut ints = ExactSum::of_int(i64::MAX);
    ints.add_int(1);
    assert_eq!(ints.as_int(), None);
    assert_eq!(ints.round(), 9_223_372_036_854_775_808.0);
    ints.add_int(-1);
    assert_eq!(ints.as_int(), Some(i64::MAX));
}

#[test]
fn infinities_and_nan_follow_ieee_in_every_order() {
    assert_eq!(sum_of(&[1.0, f64::INFINITY, 1e308]).round(), f64::INFINITY);
    assert_eq!(sum_of(&[f64::NEG_INFINITY, f64::MAX, f64::MAX]).round(), f64::NEG_INFINITY);
    assert!(sum_of(&[f64::INFINITY, 1.0, f64::NEG_INFINITY]).round().is_nan());
    assert!(sum_of(&[f64::NAN, f64::INFINITY]).round().is_nan());
    let mut left = sum_of(&[f64::NEG_INFINITY]);
    left.merge(&sum_of(&[f64::INFINITY, 3.0]));
    assert!(left.round().is_nan());
}

#[test]
fn only_a_sum_that_needs_it_takes_more_room() {
    let cents: Vec<f64> = (1..100_000).map(|value| f64::from(value) / 100.0).collect();
    assert_eq!(sum_of(&cents).heap_bytes(), 0);
    assert_eq!(sum_of(&[1e-6, 1e16, -3.25, 0.0]).heap_bytes(), 0);
    assert!(sum_of(&[1.0, 1e100]).heap_bytes() > 0);
    assert!(sum_of(&[f64::MAX]).heap_bytes() > 0);
    assert!(sum_of(&[5e-324]).heap_bytes() > 0);
}

proptest! {
    #[test]
    fn grouping_does_not_matter(
        parts in prop::collection::vec(
            (prop::collection::vec(doubles(), 0..8), prop::collection::vec(any::<i64>(), 0..3)),
            1..8,
        ),
    ) {
        let mut grouped = ExactSum::default();
        let mut exact = BigInt::ZERO;
        for (floats, ints) in &parts {
            let mut part = sum_of(floats);
            ints.iter().for_each(|value| part.add_int(*value));
            grouped.merge(&part);
            exact += floats.iter().map(|value| scaled(*value)).sum::<BigInt>();
            exact += ints.iter().map(|value| BigInt::from(*value) << 1074).sum::<BigInt>();
        }
        prop_assert_eq!(grouped.round(), nearest(&exact));
    }

    #[test]
    fn ordinary_numbers_in_one_run_agree_with_big_integers(cents in prop::collection::vec(-100_000i32..100_000, 0..200)) {
        let floats: Vec<f64> = cents.iter().map(|value| f64::from(*value) / 100.0).collect();
        let exact: BigInt = floats.iter().map(|value| scaled(*value)).sum();
        prop_assert_eq!(sum_of(&floats).round(), nearest(&exact));
    }
}
