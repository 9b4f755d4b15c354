//! What becomes of each kind of event, and every refusal, through the harness: no host and no WebAssembly.

use tidegate_sdk::testing::MapperHarness;

use super::{AdEvent, Classified, Classify};

fn impression() -> AdEvent<'static> {
    let (campaign_id, country, event_id) = ("c-7781", "VN", "e-1");
    AdEvent { campaign_id, country, event_id, kind: "impression", spend_micros: Some(500) }
}

fn hook() -> MapperHarness<Classify> {
    MapperHarness::open("null").unwrap()
}

#[test]
fn an_impression_and_a_click_are_counted_apart() {
    let click = AdEvent { kind: "click", spend_micros: Some(250_000), ..impression() };
    let result = hook().map(&[impression(), click]).unwrap();
    assert_eq!(
        result.rows(),
        [
            Classified { impressions: Some(1), clicks: None, spend_micros: Some(500) },
            Classified { impressions: None, clicks: Some(1), spend_micros: Some(250_000) },
        ]
    );
    assert!(result.rejected().is_empty());
}

#[test]
fn an_event_that_cost_nothing_is_counted_without_spend() {
    let result = hook().map(&[AdEvent { spend_micros: None, ..impression() }]).unwrap();
    assert_eq!(result.rows(), [Classified { impressions: Some(1), clicks: None, spend_micros: None }]);
}

#[test]
fn refuses_what_is_wrong_and_says_why() {
    let cases = [
        (AdEvent { event_id: "", ..impression() }, "no-event-id", "an event of campaign c-7781 has no identity"),
        (AdEvent { campaign_id: "", ..impression() }, "no-campaign", "event e-1 belongs to no campaign"),
        (AdEvent { country: "vn", ..impression() }, "bad-country", "`vn` is not two capital letters"),
        (AdEvent { country: "VNM", ..impression() }, "bad-country", "`VNM` is not two capital letters"),
        (AdEvent { spend_micros: Some(-1), ..impression() }, "negative-spend", "-1 micros"),
        (
            AdEvent { spend_micros: Some(1_000_000_001), ..impression() },
            "impossible-spend",
            "1000000001 micros for one event",
        ),
        (AdEvent { kind: "hover", ..impression() }, "unknown-kind", "`hover` is neither impression nor click"),
    ];
    for (event, code, message) in cases {
        let result = hook().map(&[event]).unwrap();
        let rejected = result.rejected().first().expect("refused");
        assert_eq!((rejected.code.as_str(), rejected.message.as_str()), (code, message));
    }
}

#[test]
fn a_wrong_event_costs_no_other() {
    let wrong = AdEvent { kind: "", ..impression() };
    let result = hook().map(&[impression(), wrong, impression()]).unwrap();
    assert_eq!((result.sources(), result.rejected()[0].row), (&[0, 2][..], 1));
}
