use proptest::prelude::*;

use super::*;
use crate::json::arbitrary;

#[test]
fn accepts_json_of_every_kind() {
    for text in
        ["null", " true ", "false", "0", "-0", "1.5e-3", "\"\"", "[]", "{}", "[1,[2,{\"a\":[]}]]", "{ \"a\" : 1 }"]
    {
        assert!(is_json(text.as_bytes()), "{text}");
    }
}

#[test]
fn refuses_what_is_no_json() {
    let texts = [
        "",
        " ",
        "nul",
        "nullx",
        "True",
        "01",
        "-",
        "-01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "+1",
        "0x1",
        "NaN",
        "Infinity",
        "1 2",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "{1:1}",
        "\"",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12G4\"",
        "\"\n\"",
        "\"\t\"",
        "[",
        "{",
        "]",
        "}",
        "// a\n1",
        "\u{feff}1",
        "\u{a0}1",
    ];
    for text in texts {
        assert!(!is_json(text.as_bytes()), "{text}");
    }
    assert!(!is_json(b"\"\xff\""));
    assert!(!is_json(b"\"\xed\xa0\x80\""));
}

#[test]
fn refuses_what_has_no_value() {
    for text in
        ["1e999", "-1e999", r#""\ud800""#, r#""\udc00""#, r#""\ud800x""#, r#""\ud800\u0041""#, r#""\ud800\ud800""#]
    {
        assert!(!is_json(text.as_bytes()), "{text}");
    }
    assert!(is_json(r#""\ud83c\udf0a""#.as_bytes()));
}

#[test]
fn nests_up_to_the_limit() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(is_json(nested(MAX_DEPTH).as_bytes()));
    assert!(!is_json(nested(MAX_DEPTH + 1).as_bytes()));
    assert!(!is_json("[".repeat(1 << 20).as_bytes()));
}

#[test]
fn tells_where_a_text_goes_wrong() {
    let mut scanner = Scanner::new("[1, 02]");
    let error = scanner.value(0).unwrap_err();
    assert_eq!(error.to_string(), "a number without digits or with a leading zero at byte 4");
}

#[test]
fn integers_are_those_that_fit_64_bits() {
    let number = |text: &str| Scanner::new(text).value(0).unwrap();
    assert!(matches!(number("9223372036854775807"), Token::Int(i64::MAX)));
    assert!(matches!(number("-9223372036854775808"), Token::Int(i64::MIN)));
    assert!(matches!(number("-0"), Token::Int(0)));
    assert!(matches!(number("9223372036854775808"), Token::Float(float) if float == 9_223_372_036_854_775_808.0));
    assert!(matches!(number("1.0"), Token::Float(float) if float == 1.0));
    assert!(matches!(number("1e2"), Token::Float(float) if float == 100.0));
    assert!(matches!(number("-0.0"), Token::Float(float) if float.is_sign_positive()));
    assert!(matches!(number("-1e-999"), Token::Float(float) if float.is_sign_positive()));
}

proptest! {
    #[test]
    fn accepts_exactly_what_another_parser_accepts(
        bytes in (arbitrary::json(), arbitrary::space()).prop_flat_map(|(json, space)| {
            let mut text = String::new();
            json.write(&space, &mut text);
            arbitrary::mutated(text)
        })
    ) {
        let accepted = serde_json::from_slice::<serde_json::Value>(&bytes).is_ok();
        prop_assert_eq!(is_json(&bytes), accepted, "{}", String::from_utf8_lossy(&bytes));
    }
}
