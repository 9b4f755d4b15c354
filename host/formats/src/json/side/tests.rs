//! Lines of side outputs: which fields stand when, and records that are no JSON.

use super::*;

fn encoded(side: &SideRecord<'_>) -> String {
    let mut out = Vec::new();
    encode_side_record(side, &mut out);
    String::from_utf8(out).unwrap()
}

fn with_record(record: &[u8]) -> String {
    let side = SideRecord {
        reason: "too-late",
        partition: ValueRef::Int(0),
        offset: Some(7),
        record: Some(record),
        ..SideRecord::default()
    };
    encoded(&side)
}

#[test]
fn embeds_json_as_it_was_written() {
    let line = with_record(br#" {"b": 1.50, "a":1, "a":"\u0041"} "#);
    assert_eq!(
        line,
        "{\"reason\":\"too-late\",\"partition\":0,\"offset\":7,\"record\":{\"b\": 1.50, \"a\":1, \"a\":\"\\u0041\"}}\n"
    );
}

#[test]
fn keeps_json_with_line_breaks_on_one_line() {
    let line = with_record(b"{\r\n\"a\":\n1}");
    assert_eq!(line, "{\"reason\":\"too-late\",\"partition\":0,\"offset\":7,\"record\":{  \"a\": 1}}\n");
}

#[test]
fn embeds_json_that_is_no_object_and_shows_the_rest_as_text() {
    assert!(with_record(b"[1,2]").contains("\"record\":[1,2]}"));
    assert!(with_record(b"{\"a\":\"\x01\"}").contains(r#""record":"{\"a\":\"\u0001\"}"}"#));
    assert!(with_record(b"").contains("\"record\":\"\"}"));
    assert!(with_record(b"\xff{}").contains("\"record\":\"\u{fffd}{}\"}"));
}

#[test]
fn says_who_refused_a_record_and_why() {
    let side = SideRecord {
        reason: "trap",
        partition: ValueRef::Text("JFK"),
        offset: Some(2),
        record: Some(b"{}"),
        detail: Some("divided \"by\" zero"),
        operator: Some("map"),
        component: Some("sha256:ab"),
        fuel_used: Some(u64::MAX),
        ..SideRecord::default()
    };
    let expected = concat!(
        r#"{"reason":"trap","partition":"JFK","offset":2,"record":{},"detail":"divided \"by\" zero","operator":"map","#,
        r#""component":"sha256:ab","fuel_used":18446744073709551615}"#,
        "\n"
    );
    assert_eq!(encoded(&side), expected);
}

#[test]
fn a_failed_pane_names_its_key_and_window_and_no_record() {
    let side = SideRecord {
        reason: "pane-failed",
        key: &[("a", ValueRef::Int(1)), ("b", ValueRef::Null)],
        window: Some((0, 60_000)),
        ..SideRecord::default()
    };
    let expected = concat!(
        r#"{"reason":"pane-failed","partition":null,"offset":null,"record":null,"key":{"a":1,"b":null},"#,
        r#""window_start":"1970-01-01T00:00:00Z","window_end":"1970-01-01T00:01:00Z"}"#,
        "\n"
    );
    assert_eq!(encoded(&side), expected);
}

#[test]
fn a_failed_timer_names_its_key_itself_and_its_time() {
    for (time, written) in [(0, r#""1970-01-01T00:00:00Z""#), (i64::MAX, "9223372036854775807")] {
        let side = SideRecord {
            reason: "timer-failed",
            operator: Some("features"),
            key: &[("user", ValueRef::Text("u-1"))],
            timer: Some(("remind", time)),
            ..SideRecord::default()
        };
        let expected = format!(
            "{{\"reason\":\"timer-failed\",\"partition\":null,\"offset\":null,\"record\":null,\"operator\":\"features\",\"key\":{{\"user\":\"u-1\"}},\"timer\":\"remind\",\"time\":{written}}}\n"
        );
        assert_eq!(encoded(&side), expected);
    }
}
