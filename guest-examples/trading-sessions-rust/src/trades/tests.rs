//! The notional, and every refusal.

use tidegate_sdk::testing::MapperHarness;

use super::{Priced, Trade, Trades};

#[test]
fn the_notional_is_price_times_quantity() {
    let hook = MapperHarness::<Trades>::open("null").unwrap();
    let mapped = hook.map(&[Trade { price_cents: 1_250, quantity: 3 }]).unwrap();
    assert_eq!(mapped.rows(), [Priced { notional_cents: 3_750 }]);
}

#[test]
fn refuses_what_is_wrong_and_says_why() {
    let hook = MapperHarness::<Trades>::open("null").unwrap();
    let cases = [
        (Trade { price_cents: 0, quantity: 1 }, "bad-price", "the price is 0 cents"),
        (Trade { price_cents: 1, quantity: -5 }, "bad-quantity", "-5 shares were traded"),
        (
            Trade { price_cents: i64::MAX, quantity: 2 },
            "too-large",
            "2 shares at 9223372036854775807 cents leave 64 bits",
        ),
    ];
    for (trade, code, message) in cases {
        let mapped = hook.map(&[trade]).unwrap();
        let rejected = &mapped.rejected()[0];
        assert_eq!((rejected.code.as_str(), rejected.message.as_str()), (code, message));
    }
}
