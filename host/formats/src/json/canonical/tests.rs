use proptest::prelude::*;

use super::*;
use crate::json::arbitrary;

#[test]
fn sorts_keys_and_keeps_the_last_of_equal_ones() {
    let text = r#" { "b" : 1 , "a" : [ 1 , 1.0, 1e0 ] , "\u0062" : {"z":null,"y":"\u0041\n"} , "é":-0, "Z":-0.0 } "#;
    let expected = r#"{"Z":0.0,"a":[1,1.0,1.0],"b":{"y":"A\n","z":null},"é":0}"#;
    assert_eq!(canonical(text).as_deref(), Some(expected));
}

#[test]
fn orders_keys_by_code_point() {
    // In UTF-16 the second would stand first.
    assert_eq!(canonical("{\"\u{10000}\":1,\"\u{ffff}\":2}").as_deref(), Some("{\"\u{ffff}\":2,\"\u{10000}\":1}"));
}

#[test]
fn writes_floats_in_their_shortest_form() {
    assert_eq!(canonical("[0.1,100000000000000000000.0,1E+2,5E-324]").as_deref(), Some("[0.1,1e+20,100.0,5e-324]"));
}

#[test]
fn has_no_text_for_what_is_no_json() {
    assert_eq!(canonical("{"), None);
}

proptest! {
    #[test]
    fn is_the_same_for_every_spelling(json in arbitrary::json(), space in arbitrary::space()) {
        let mut text = String::new();
        json.write(&space, &mut text);
        let canonical_text = canonical(&text).expect("valid JSON");
        prop_assert_eq!(canonical(&canonical_text), Some(canonical_text.clone()));
        let mut plain = String::new();
        json.write("", &mut plain);
        prop_assert_eq!(canonical(&plain), Some(canonical_text));
    }
}
