//! What becomes of a click with and without an impression, and every refusal: no host and no WebAssembly.

use tidegate_sdk::testing::MapperHarness;

use super::{Attributed, Credit, Pair};

const SHOWN_AT: i64 = 1_792_659_600_000;

fn pair() -> Pair<'static> {
    Pair {
        impression_id: Some("i-1"),
        shown_campaign: Some("c-7781"),
        placement: Some("banner"),
        shown_at: Some(SHOWN_AT),
        click_id: "k-1",
        campaign_id: "c-7781",
        clicked_at: SHOWN_AT + 2_500,
    }
}

fn alone() -> Pair<'static> {
    Pair { impression_id: None, shown_campaign: None, placement: None, shown_at: None, ..pair() }
}

fn hook() -> MapperHarness<Credit> {
    MapperHarness::open("null").unwrap()
}

#[test]
fn a_click_is_credited_to_its_impression() {
    let result = hook().map(&[pair(), alone()]).unwrap();
    let (click_id, campaign_id) = ("k-1", "c-7781");
    assert_eq!(
        result.rows(),
        [
            Attributed {
                click_id,
                campaign_id,
                impression_id: Some("i-1"),
                placement: Some("banner"),
                ms_to_click: Some(2_500)
            },
            Attributed { click_id, campaign_id, impression_id: None, placement: None, ms_to_click: None },
        ]
    );
    assert!(result.rejected().is_empty());
}

#[test]
fn refuses_what_does_not_fit_and_says_why() {
    let cases = [
        (Pair { campaign_id: "c-2", ..pair() }, "other-campaign", "a click on c-2 came of an impression of c-7781"),
        (Pair { clicked_at: SHOWN_AT + 49, ..pair() }, "too-soon", "clicked 49 ms after the impression"),
    ];
    for (pair, code, message) in cases {
        let result = hook().map(&[pair]).unwrap();
        let rejected = result.rejected().first().expect("refused");
        assert_eq!((rejected.code.as_str(), rejected.message.as_str()), (code, message));
    }
}

#[test]
fn fifty_milliseconds_are_enough() {
    let result = hook().map(&[Pair { clicked_at: SHOWN_AT + 50, ..pair() }]).unwrap();
    assert_eq!(result.rows()[0].ms_to_click, Some(50));
}
