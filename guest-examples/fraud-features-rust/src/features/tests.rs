//! Payments with known features.

use super::*;

const MINUTE: i64 = 60_000;
const HORIZONS: Horizons = Horizons { velocity_ms: 10 * MINUTE, countries_ms: 60 * MINUTE };

fn payment(minute: i64, amount_cents: i64, country: &str) -> Recent {
    Recent { at: minute * MINUTE, amount_cents, country: country.to_owned() }
}

#[test]
fn the_first_payment_has_nothing_to_be_compared_with() {
    let made = features(&payment(0, 500, "VN"), &[], HORIZONS);
    assert_eq!(made, Features { velocity: 1, countries: 1, ratio: None });
}

#[test]
fn payments_count_back_from_the_payment_itself() {
    let recent = [payment(0, 100, "VN"), payment(10, 100, "TH"), payment(55, 400, "VN")];
    let made = features(&payment(60, 400, "LA"), &recent, HORIZONS);
    // The first is exactly an hour back: no longer within it.
    assert_eq!(made, Features { velocity: 2, countries: 3, ratio: Some(2.0) });
    // A late one sees what was before it, and not what came after.
    let late = features(&payment(5, 300, "LA"), &recent, HORIZONS);
    assert_eq!(late, Features { velocity: 2, countries: 2, ratio: Some(3.0) });
}

#[test]
fn the_oldest_are_forgotten_first_in_whatever_order_they_came() {
    let mut recent = Vec::new();
    for minute in [5, 1, 9, 7] {
        recent = remember(recent, payment(minute, 1, "VN"), 3);
    }
    let minutes: Vec<_> = recent.iter().map(|kept| kept.at / MINUTE).collect();
    assert_eq!(minutes, [5, 7, 9]);
}
