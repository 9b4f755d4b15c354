//! Exact sums against values that Python's `math.fsum` and exact fractions give.

use super::ExactSum;
use crate::json::Value;

fn sum(values: &[f64]) -> f64 {
    let values: Vec<Value> = values.iter().map(|x| Value::Float(*x)).collect();
    ExactSum::of(values.iter().map(|value| (false, value))).rounded()
}

#[test]
fn rounds_once_whatever_the_order() {
    assert_eq!(sum(&[0.1; 10]), 1.0);
    assert_eq!(sum(&[1e100, 1.0, -1e100]), 1.0);
    assert_eq!(sum(&[1e308, 1e308, -1e308]), 1e308);
    assert_eq!(sum(&[1e16, 1.0, 1e-16]), 1.000_000_000_000_000_2e16);
    assert_eq!(sum(&[9_007_199_254_740_992.0, 1.0]), 9_007_199_254_740_992.0);
    assert_eq!(sum(&[9_007_199_254_740_994.0, 1.0]), 9_007_199_254_740_996.0);
    assert_eq!(sum(&[-0.25, 0.125]), -0.125);
    assert_eq!(sum(&[]), 0.0);
}

#[test]
fn reaches_both_ends_of_the_range() {
    assert_eq!(sum(&[5e-324, 5e-324]), 1e-323);
    assert_eq!(sum(&[f64::MIN_POSITIVE, -5e-324]), f64::from_bits(f64::MIN_POSITIVE.to_bits() - 1));
    assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
    assert_eq!(sum(&[-f64::MAX, -f64::MAX]), f64::NEG_INFINITY);
    assert_eq!(sum(&[f64::MAX, 9.98e291]), f64::INFINITY);
    assert_eq!(sum(&[f64::MAX, 9.97e291]), f64::MAX);
}

#[test]
fn adds_integers_exactly() {
    let values =
        [Value::Int(i64::MAX), Value::Int(i64::MAX), Value::Float(0.5), Value::Int(i64::MIN), Value::Int(i64::MIN)];
    assert_eq!(ExactSum::of(values.iter().map(|value| (false, value))).rounded(), -1.5);
}
