use jiff::Timestamp;
use proptest::prelude::*;

use super::*;

#[test]
fn reads_integers_as_milliseconds_within_the_years() {
    assert_eq!(parse_time(ValueRef::Int(0)), Some(0));
    assert_eq!(parse_time(ValueRef::Int(FIRST)), Some(FIRST));
    assert_eq!(parse_time(ValueRef::Int(LAST)), Some(LAST));
    assert_eq!(parse_time(ValueRef::Int(FIRST - 1)), None);
    assert_eq!(parse_time(ValueRef::Int(LAST + 1)), None);
    assert_eq!(parse_time(ValueRef::Float(1.0)), None);
    assert_eq!(parse_time(ValueRef::Null), None);
}

#[test]
fn reads_what_rfc_3339_allows() {
    let cases = [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00z", 0),
        ("1970-01-01T00:00:00-00:00", 0),
        ("1970-01-01T00:00:00.1Z", 100),
        ("1970-01-01T00:00:00.0019Z", 1),
        ("1969-12-31T23:59:59.9999999999999999999Z", -1),
        ("1969-12-31T23:59:59.0001Z", -1_000),
        ("1970-01-01T01:30:00+01:30", 0),
        ("1969-12-31T22:30:00-01:30", 0),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ("0001-01-01T00:00:00Z", FIRST),
        ("0000-12-31T23:00:00-01:00", FIRST),
        ("9999-12-31T23:59:59.999Z", LAST),
        ("1990-12-31T23:59:60Z", 662_688_000_000),
        ("1990-12-31T15:59:60-08:00", 662_688_000_000),
    ];
    for (text, time) in cases {
        assert_eq!(parse_rfc3339(text), Some(time), "{text}");
    }
}

#[test]
fn refuses_what_rfc_3339_does_not_allow() {
    let cases = [
        "",
        "1970-01-01",
        "1970-01-01T00:00:00",
        "1970-01-01 00:00:00Z",
        "1970-01-01T00:00Z",
        "1970-01-01T00:00:00+01",
        "1970-01-01T00:00:00+0100",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00+01:60",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00,5Z",
        "1970-01-01T00:00:00.5",
        "1970-01-01T00:00:00ZZ",
        "1970-01-01T00:00:00Z[UTC]",
        "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:61Z",
        "1970-01-01T00:00:60Z",
        "1990-12-31T23:59:60-08:00",
        "1970-00-01T00:00:00Z",
        "1970-13-01T00:00:00Z",
        "1970-01-00T00:00:00Z",
        "1970-01-32T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "+1970-01-01T00:00:00Z",
        " 1970-01-01T00:00:00Z",
        "0000-12-31T23:59:59Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "9999-12-31T23:59:60Z",
        "१९७०-01-01T00:00:00Z",
    ];
    for text in cases {
        assert_eq!(parse_rfc3339(text), None, "{text}");
    }
}

#[test]
fn writes_milliseconds_only_where_they_are_not_zero() {
    assert_eq!(format_time(0), "1970-01-01T00:00:00Z");
    assert_eq!(format_time(1), "1970-01-01T00:00:00.001Z");
    assert_eq!(format_time(-1), "1969-12-31T23:59:59.999Z");
    assert_eq!(format_time(1_792_662_060_250), "2026-10-22T09:41:00.250Z");
}

#[test]
fn writes_times_outside_the_years_with_a_sign() {
    assert_eq!(format_time(LAST + 1), "+10000-01-01T00:00:00Z");
    assert_eq!(format_time(FIRST - 1), "0000-12-31T23:59:59.999Z");
    assert_eq!(format_time(FIRST - 366 * DAY - 1), "-0001-12-31T23:59:59.999Z");
    assert_eq!(format_time(i64::MAX), "+292278994-08-17T07:12:55.807Z");
    assert_eq!(format_time(i64::MIN), "-292275055-05-16T16:47:04.192Z");
}

proptest! {
    #[test]
    fn written_times_are_read_back(time in FIRST..=LAST) {
        prop_assert_eq!(parse_rfc3339(&format_time(time)), Some(time));
    }

    #[test]
    fn agrees_with_jiff(time in FIRST..=LAST) {
        let timestamp = Timestamp::from_millisecond(time).unwrap();
        prop_assert_eq!(parse_rfc3339(&format!("{timestamp:.9}")), Some(time));
        prop_assert_eq!(format_time(time).parse::<Timestamp>().unwrap(), timestamp);
    }

    #[test]
    fn never_panics_and_reads_nothing_that_jiff_refuses(text in "[0-9]{4}-[0-3][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-5][0-9](\\.[0-9]{0,9})?(Z|z|[+-][0-2][0-9]:?[0-6][0-9])?") {
        if let Some(time) = parse_rfc3339(&text) {
            let timestamp = text.parse::<Timestamp>().expect("jiff reads it too");
            prop_assert_eq!(timestamp.as_nanosecond().div_euclid(1_000_000), i128::from(time));
        }
    }

    #[test]
    fn every_time_can_be_written(time: i64) {
        prop_assert!(format_time(time).ends_with('Z'));
    }
}
