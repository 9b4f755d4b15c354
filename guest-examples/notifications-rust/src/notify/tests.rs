//! Orders over time.

use tidegate_sdk::testing::{ProcessorHarness, Step};

use super::*;

const MINUTE: i64 = 60_000;

fn event<'a>(order: &str, kind: &'a str, minute: i64) -> Step<OrderEvent<'a>> {
    Step::row(order, OrderEvent { customer_id: "ada", kind, at: minute * MINUTE })
}

/// The effects of these steps, and the minute of each.
fn effects(steps: &[Step<OrderEvent<'_>>]) -> Vec<(String, i64)> {
    let hook = ProcessorHarness::<Notify>::open(r#"{"unpaid_min": 30, "unshipped_min": 100}"#).unwrap();
    let result = hook.run(steps).unwrap();
    let minutes = result.times.iter().map(|time| time / MINUTE);
    result.rows.iter().map(|row| row.effect_id.clone()).zip(minutes).collect()
}

fn effect(effect: &str, minute: i64) -> (String, i64) {
    (effect.to_owned(), minute)
}

#[test]
fn who_waits_too_long_is_told_once() {
    let steps = [
        event("o1", "placed", 0),
        event("o2", "placed", 5),
        event("o2", "paid", 20),
        Step::Watermark(200 * MINUTE),
        event("o1", "paid", 201),
        event("o1", "shipped", 210),
        event("o1", "shipped", 210),
        event("o1", "delivered", 211),
        Step::Watermark(i64::MAX),
    ];
    assert_eq!(
        effects(&steps),
        [effect("o1/payment-reminder", 30), effect("o2/delayed", 120), effect("o1/shipped", 210)]
    );
}

#[test]
fn news_that_comes_late_does_not_undo_what_is_known() {
    let steps = [
        event("o1", "shipped", 50),
        event("o1", "paid", 20),
        event("o1", "placed", 0),
        event("o2", "cancelled", 9),
        event("o2", "shipped", 8),
        Step::Watermark(i64::MAX),
    ];
    assert_eq!(effects(&steps), [effect("o1/shipped", 50), effect("o2/cancelled", 9)]);
}

#[test]
fn an_order_is_forgotten_when_nobody_can_ask_for_it_any_more() {
    let day = 1_440;
    let kept = [event("o1", "shipped", 0), Step::Watermark(30 * day * MINUTE - 1), event("o1", "shipped", 1)];
    assert_eq!(effects(&kept).len(), 1);
    let gone = [event("o1", "shipped", 0), Step::Watermark(30 * day * MINUTE), event("o1", "shipped", 1)];
    assert_eq!(effects(&gone).len(), 2);
}

#[test]
fn what_is_no_event_of_an_order_is_refused() {
    let hook = ProcessorHarness::<Notify>::open("null").unwrap();
    let steps = [event("o1", "eaten", 0), Step::row("o1", OrderEvent { customer_id: "", kind: "placed", at: 0 })];
    let refused = hook.run(&steps).unwrap().rejected;
    let codes: Vec<_> = refused.iter().map(|refused| refused.code.as_str()).collect();
    assert_eq!(codes, ["unknown-kind", "no-customer"]);
}
