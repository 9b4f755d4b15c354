//! The order and equality of values.

use super::*;

#[test]
fn keeps_the_types_apart() {
    assert_ne!(Value::Int(1), Value::Float(1.0));
    assert_ne!(Value::Int(1), Value::from("1"));
    assert_eq!(Value::Float(0.0), Value::Float(-0.0));
    assert_eq!(Value::Float(f64::NAN), Value::Float(-f64::NAN));
}

#[test]
fn orders_numbers_by_exact_value_and_before_text() {
    let sorted = [
        Value::Float(f64::NEG_INFINITY),
        Value::Int(i64::MIN),
        Value::Float(-0.5),
        Value::Int(0),
        Value::Float(0.5),
        Value::Int(1),
        Value::Float(1.0),
        Value::Int(9_007_199_254_740_993),
        Value::Float(9_007_199_254_740_994.0),
        Value::Int(i64::MAX),
        Value::Float(9_223_372_036_854_775_808.0),
        Value::from("0"),
        Value::from("a"),
    ];
    for pair in sorted.windows(2) {
        assert!(pair[0] < pair[1], "{:?} < {:?}", pair[0], pair[1]);
    }
}
