//! Times against values worked out by hand (and by `date -u`).

use super::{read_duration, read_time, write_time};
use crate::json::Value;

fn ms(text: &str) -> Option<i128> {
    read_time(&Value::str(text))
}

#[test]
fn reads_rfc_3339_with_a_zone_and_floors_fractions() {
    assert_eq!(ms("1970-01-01T00:00:00Z"), Some(0));
    assert_eq!(ms("2026-10-22T09:41:00Z"), Some(1_792_662_060_000));
    assert_eq!(ms("2026-10-22T11:11:00.5+01:30"), Some(1_792_662_060_500));
    assert_eq!(ms("2026-10-22t09:41:00.0019999z"), Some(1_792_662_060_001));
    assert_eq!(ms("1969-12-31T23:59:59.9999Z"), Some(-1));
    assert_eq!(ms("2000-02-29T00:00:00-00:00"), Some(951_782_400_000));
    assert_eq!(ms("0001-01-01T00:00:00Z"), Some(-62_135_596_800_000));
    assert_eq!(ms("9999-12-31T23:59:59.9999999999Z"), Some(253_402_300_799_999));
}

#[test]
fn refuses_what_is_no_time_of_these_years() {
    for text in [
        "2026-10-22",
        "2026-10-22T09:41:00",
        "2026-10-22T09:41Z",
        "2026-10-22 09:41:00Z",
        "2026-10-22T09:41:00+0100",
        "2026-10-22T09:41:00.Z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "0000-12-31T23:59:59Z",
        "2026-01-01T00:00:00Z ",
        "2026-01-01T00:00:00+24:00",
        "20é6-01-01T00:00:00Z",
        "2026-01-01T00:00:00+01:0é",
        "1792662060000",
        "",
    ] {
        assert_eq!(ms(text), None, "{text}");
    }
    for value in
        [Value::Null, Value::Float(1.0), Value::Bool(true), Value::Int(253_402_300_800_000), Value::Int(i64::MIN)]
    {
        assert_eq!(read_time(&value), None, "{value}");
    }
    assert_eq!(read_time(&Value::Int(-5)), Some(-5));
}

#[test]
fn writes_utc_with_milliseconds_only_where_there_are_some() {
    for text in ["2026-10-22T09:41:00Z", "1969-12-31T23:59:59.999Z", "2024-02-29T12:00:00.010Z", "2023-12-31T00:00:00Z"]
    {
        assert_eq!(write_time(ms(text).unwrap()), Value::str(text));
    }
    for text in ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "1900-03-01T00:00:00Z", "2000-03-01T00:00:00Z"] {
        assert_eq!(write_time(ms(text).unwrap()), Value::str(text));
    }
}

#[test]
fn reads_durations() {
    let all = ["5ms", "5s", "5m", "5h", "5d"].map(read_duration);
    assert_eq!(all, [5, 5_000, 300_000, 18_000_000, 432_000_000]);
}
