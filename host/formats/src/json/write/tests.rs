use proptest::prelude::*;

use super::*;

fn written(value: ValueRef<'_>) -> String {
    let mut out = Vec::new();
    write_value(&mut out, value);
    String::from_utf8(out).unwrap()
}

#[test]
fn writes_each_kind() {
    assert_eq!(written(ValueRef::Null), "null");
    assert_eq!(written(ValueRef::Bool(true)), "true");
    assert_eq!(written(ValueRef::Bool(false)), "false");
    assert_eq!(written(ValueRef::Int(i64::MIN)), "-9223372036854775808");
    assert_eq!(written(ValueRef::Float(1.0)), "1.0");
    assert_eq!(written(ValueRef::Float(-0.0)), "0.0");
    assert_eq!(written(ValueRef::Float(f64::NAN)), "null");
    assert_eq!(written(ValueRef::Float(f64::NEG_INFINITY)), "null");
    assert_eq!(written(ValueRef::Text("a\"\\\n\u{1}\u{7f}é")), "\"a\\\"\\\\\\n\\u0001\u{7f}é\"");
    assert_eq!(written(ValueRef::Bytes(&[0, 255, 16])), "\"AP8Q\"");
    assert_eq!(written(ValueRef::Bytes(&[1])), "\"AQ==\"");
    assert_eq!(written(ValueRef::Json("[1]")), "[1]");
}

proptest! {
    #[test]
    fn floats_read_back_as_themselves(value: f64) {
        prop_assume!(value.is_finite());
        let text = written(ValueRef::Float(value));
        prop_assert!(text.contains(['.', 'e']));
        prop_assert_eq!(text.parse::<f64>().unwrap(), value);
    }

    #[test]
    fn strings_are_those_of_another_writer(value: String) {
        prop_assert_eq!(written(ValueRef::Text(&value)), serde_json::to_string(&value).unwrap());
    }
}
