//! What is derived, and every refusal, through the harness: no host and no WebAssembly.

use tidegate_sdk::testing::MapperHarness;

use super::{Derive, Derived, Flight};

/// 2013-01-01T10:15:00Z, 5:15 in New York.
const MORNING: i64 = 1_357_035_300_000;

fn flight() -> Flight<'static> {
    let (origin, dest, status) = ("EWR", "IAH", "departed");
    Flight { origin, dest, status, dep_delay_min: Some(2), distance_mi: 1400, scheduled: MORNING }
}

fn refusal(flight: Flight<'_>) -> (String, String) {
    let result = MapperHarness::<Derive>::open("null").unwrap().map(&[flight]).unwrap();
    let rejected = result.rejected().first().expect("refused");
    (rejected.code.clone(), rejected.message.clone())
}

#[test]
fn derives_route_local_hour_and_flags() {
    let hook = MapperHarness::<Derive>::open("null").unwrap();
    let cancelled = Flight { status: "cancelled", dep_delay_min: None, ..flight() };
    let late = Flight { dep_delay_min: Some(15), ..flight() };
    let result = hook.map(&[flight(), cancelled, late]).unwrap();
    let on_time =
        Derived { route: "EWR-IAH".to_owned(), hour: 5, delay_min: Some(2), delayed: false, cancelled: false };
    assert_eq!(
        result.rows(),
        [
            on_time.clone(),
            Derived { delay_min: None, cancelled: true, ..on_time.clone() },
            Derived { delay_min: Some(15), delayed: true, ..on_time },
        ]
    );
    assert!(result.rejected().is_empty());
}

#[test]
fn the_config_sets_threshold_and_offset() {
    let hook = MapperHarness::<Derive>::open(r#"{"delayed_from_min": 2, "utc_offset_min": 60}"#).unwrap();
    let result = hook.map(&[flight()]).unwrap();
    assert_eq!((result.rows()[0].delayed, result.rows()[0].hour), (true, 11));
}

#[test]
fn a_config_that_makes_no_sense_refuses_the_job() {
    let refused = |config| MapperHarness::<Derive>::open(config).err().expect("refused").message;
    assert_eq!(refused(r#"{"delayed_from_min": 0}"#), "config.delayed_from_min: 0 is not a number of minutes from 1");
    assert!(refused(r#"{"delayed_after": 5}"#).starts_with("config: unknown field `delayed_after`"));
}

#[test]
fn refuses_what_is_wrong_and_says_why() {
    let cases = [
        (Flight { distance_mi: -5, ..flight() }, "bad-distance", "-5 miles to IAH"),
        (Flight { status: "diverted", ..flight() }, "unknown-status", "`diverted` is neither departed nor cancelled"),
        (Flight { dep_delay_min: None, ..flight() }, "missing-delay", "departed without a delay"),
        (Flight { status: "cancelled", ..flight() }, "impossible-delay", "cancelled, yet 2 minutes late"),
        (Flight { dep_delay_min: Some(9_999), ..flight() }, "impossible-delay", "9999 minutes late"),
    ];
    for (flight, code, message) in cases {
        assert_eq!(refusal(flight), (code.to_owned(), message.to_owned()));
    }
}

#[test]
fn a_wrong_flight_costs_no_other() {
    let hook = MapperHarness::<Derive>::open("null").unwrap();
    let wrong = Flight { distance_mi: 0, ..flight() };
    let result = hook.map(&[flight(), wrong, flight()]).unwrap();
    assert_eq!((result.sources(), result.rejected()[0].row), (&[0, 2][..], 1));
}

#[test]
fn hours_before_1970_are_hours_too() {
    let hook = MapperHarness::<Derive>::open(r#"{"utc_offset_min": 0}"#).unwrap();
    let result = hook.map(&[Flight { scheduled: -1, ..flight() }]).unwrap();
    assert_eq!(result.rows()[0].hour, 23);
}
