//! Customers over time: state, silence, repetitions, refusals.

use tidegate_sdk::testing::{ProcessorHarness, Step};

use super::*;

const MINUTE: i64 = 60_000;

fn hook() -> ProcessorHarness<Watch> {
    ProcessorHarness::open(r#"{"silent_min": 30, "remember": 3}"#).unwrap()
}

fn money<'a>(customer: &str, event_id: &'a str, kind: &'a str, amount_cents: i64, minute: i64) -> Step<Money<'a>> {
    Step::row(customer, Money { event_id, kind, amount_cents, country: "VN", at: minute * MINUTE })
}

#[test]
fn the_balance_rolls_and_refunds_are_taken_off() {
    let steps = [
        money("ada", "e1", "payment", 500, 0),
        money("bob", "e2", "payment", 900, 1),
        money("ada", "e3", "refund", 200, 2),
        money("ada", "e4", "payment", 100, 3),
    ];
    let rows = hook().run(&steps).unwrap().rows;
    let told: Vec<_> = rows.iter().map(|row| (row.customer_id.as_str(), row.balance_cents, row.payments)).collect();
    assert_eq!(told, [("ada", 500, 1), ("bob", 900, 1), ("ada", 400, 2)]);
    assert_eq!((rows[2].velocity, rows[2].countries, rows[2].ratio), (Some(2), Some(1), Some(0.2)));
}

#[test]
fn silence_is_told_once_and_at_the_time_when_it_began_to_be_one() {
    let steps = [
        money("ada", "e1", "payment", 500, 0),
        money("ada", "e2", "payment", 500, 20),
        Step::Watermark(49 * MINUTE),
        money("ada", "e3", "payment", 500, 21),
        Step::Watermark(500 * MINUTE),
        money("ada", "e4", "payment", 500, 501),
        Step::Watermark(i64::MAX),
    ];
    let result = hook().run(&steps).unwrap();
    let silent: Vec<_> = result.rows.iter().zip(&result.times).filter(|(row, _)| row.about == "silent").collect();
    let told: Vec<_> = silent.iter().map(|(row, time)| (**time / MINUTE, row.payments)).collect();
    // The third payment, although its time is before the second's plus a minute, moves the silence.
    assert_eq!(told, [(51, 3), (531, 4)]);
}

#[test]
fn what_comes_twice_counts_once() {
    let steps = [
        money("ada", "e1", "payment", 500, 0),
        money("ada", "e1", "payment", 500, 0),
        money("ada", "e2", "refund", 100, 1),
        money("ada", "e2", "refund", 100, 1),
        money("bob", "e1", "payment", 1, 1),
        money("ada", "e3", "payment", 1, 2),
    ];
    let rows = hook().run(&steps).unwrap().rows;
    let told: Vec<_> = rows.iter().map(|row| (row.customer_id.as_str(), row.balance_cents)).collect();
    assert_eq!(told, [("ada", 500), ("bob", 1), ("ada", 401)]);
}

#[test]
fn payments_are_forgotten_after_a_day_and_the_balance_is_not() {
    let steps = |away: i64| {
        [
            money("ada", "e1", "payment", 500, 0),
            Step::Watermark(away * MINUTE),
            money("ada", "e2", "payment", 900, away),
        ]
    };
    let ratio = |away| hook().run(&steps(away)).unwrap().rows.last().map(|row| (row.ratio, row.balance_cents));
    // The silence after half an hour is the last thing that happened to the customer.
    assert_eq!(ratio(30 + 1_439), Some((Some(1.8), 1_400)));
    assert_eq!(ratio(30 + 1_440), Some((None, 1_400)));
}

#[test]
fn what_is_wrong_is_refused_and_leaves_no_trace() {
    let wrong = [
        (Money { event_id: "", kind: "payment", amount_cents: 1, country: "VN", at: 0 }, "no-event-id"),
        (Money { event_id: "e", kind: "payment", amount_cents: 0, country: "VN", at: 0 }, "bad-amount"),
        (Money { event_id: "e", kind: "payment", amount_cents: 1, country: "vn", at: 0 }, "bad-country"),
        (Money { event_id: "e", kind: "gift", amount_cents: 1, country: "VN", at: 0 }, "unknown-kind"),
    ];
    let mut steps: Vec<_> = wrong.iter().map(|(row, _)| Step::row("ada", row.clone())).collect();
    steps.push(money("ada", "e", "payment", 7, 0));
    let result = hook().run(&steps).unwrap();
    let codes: Vec<_> = result.rejected.iter().map(|refused| refused.code.as_str()).collect();
    assert_eq!(codes, wrong.map(|(_, code)| code));
    assert_eq!((result.rows.len(), result.rows[0].balance_cents), (1, 7));
}

#[test]
fn a_config_that_makes_no_sense_refuses_the_job() {
    let Err(fault) = ProcessorHarness::<Watch>::open(r#"{"silent_min": 0}"#) else { panic!("it opened") };
    assert!(fault.message.contains("silent_min"), "{}", fault.message);
}
