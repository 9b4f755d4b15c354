//! The reader against the grammar, and equality by type and value.

use super::Value;

#[test]
fn reads_what_the_grammar_allows_and_nothing_else() {
    for good in ["null", " {\"a\":[1,2.5,{}]} ", "\"\\u00e9\\ud83d\\ude00\"", "-0", "1E+2", "[]"] {
        assert!(Value::parse(good).is_some(), "{good}");
    }
    for bad in [
        "",
        "01",
        "1.",
        ".5",
        "+1",
        "nul",
        "{\"a\":1,}",
        "[1 2]",
        "{a:1}",
        "\"\t\"",
        "\"\\ud800\"",
        "{} {}",
        "NaN",
        "1e400",
    ] {
        assert!(Value::parse(bad).is_none(), "{bad}");
    }
}

#[test]
fn tells_integers_from_floats_and_takes_negative_zero_as_zero() {
    assert_eq!(Value::parse("9223372036854775807"), Some(Value::Int(i64::MAX)));
    assert_eq!(Value::parse("9223372036854775808"), Some(Value::Float(9_223_372_036_854_775_808.0)));
    assert_ne!(Value::parse("1"), Value::parse("1.0"));
    assert_eq!(Value::parse("-0.0"), Value::parse("0e5"));
    assert_eq!(Value::parse("-0"), Some(Value::Int(0)));
}

#[test]
fn orders_numbers_exactly_and_before_strings() {
    let two53 = Value::Float(9_007_199_254_740_992.0);
    assert!(Value::Int(9_007_199_254_740_993) > two53);
    assert!(Value::Int(9_007_199_254_740_992) < two53);
    assert!(Value::Int(-1) < Value::Float(-0.5) && Value::Float(-1.5) < Value::Int(-1));
    assert!(Value::Int(i64::MAX) < Value::Float(1e300) && Value::Float(-1e300) < Value::Int(i64::MIN));
    assert!(Value::Float(1e300) < Value::str(""));
}

#[test]
fn prints_the_canonical_form_and_keeps_the_last_of_equal_keys() {
    let v = Value::parse(r#"{"b":1,"a":{"y":1.0,"x":"\u0007\""},"b":2}"#).unwrap();
    assert_eq!(v.to_string(), r#"{"a":{"x":"\u0007\"","y":1.0},"b":2}"#);
}
