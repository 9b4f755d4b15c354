//! Against big integers: a sum of doubles is a big integer times 2^-1074, and the standard library reads its decimal
//! digits with correct rounding.

use num_bigint::BigInt;
use proptest::prelude::*;

use super::*;

/// The double in units of 2^-1074.
pub(in crate::aggregate) fn scaled(value: f64) -> BigInt {
    let bits = value.to_bits();
    let exponent = (bits >> 52) & 0x7FF;
    let mantissa = bits & ((1 << 52) - 1);
    let magnitude = match exponent {
        0 => BigInt::from(mantissa),
        _ => BigInt::from(mantissa | (1 << 52)) << (exponent - 1),
    };
    if value < 0.0 { -magnitude } else { magnitude }
}

/// The double nearest to a number in units of 2^-1074, which is `number * 5^1074 * 10^-1074`.
pub(in crate::aggregate) fn nearest(number: &BigInt) -> f64 {
    format!("{}e-1074", number * BigInt::from(5).pow(1074)).parse().expect("a decimal number")
}

/// Doubles of every size, with those that are hard to round more often than chance would have them.
pub(in crate::aggregate) fn doubles() -> impl Strategy<Value = f64> {
    let bits = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite());
    let powers = (-1074i32..1024, any::<bool>(), 0u64..3).prop_map(|(exponent, negative, more)| {
        let power = if exponent < -1022 {
            f64::from_bits(1 << (exponent + 1074))
        } else {
            f64::from_bits(u64::try_from(exponent + 1023).expect("positive") << 52)
        };
        let value = f64::from_bits((power.to_bits() + more).min(f64::MAX.to_bits()));
        if negative { -value } else { value }
    });
    let ordinary = (-1_000_000i32..1_000_000).prop_map(|value| f64::from(value) / 100.0);
    prop_oneof![bits, powers, ordinary, Just(f64::MAX), Just(f64::MIN), Just(-0.0), Just(5e-324)]
}

fn sum_of(values: &[f64]) -> Superaccumulator {
    let mut sum = Superaccumulator::new();
    values.iter().for_each(|value| sum.add(*value));
    sum
}

#[test]
fn an_empty_sum_is_positive_zero() {
    assert_eq!(Superaccumulator::new().round().to_bits(), 0);
    assert_eq!(sum_of(&[-0.0]).round().to_bits(), 0);
    assert_eq!(sum_of(&[1e300, -1e300]).round().to_bits(), 0);
}

#[test]
fn a_half_goes_to_the_even_neighbour_unless_something_is_below_it() {
    let two_53 = 9_007_199_254_740_992.0;
    assert_eq!(sum_of(&[two_53, 1.0]).round(), two_53);
    assert_eq!(sum_of(&[two_53, 1.0, 5e-324]).round(), two_53 + 2.0);
    assert_eq!(sum_of(&[two_53 + 2.0, 1.0]).round(), two_53 + 4.0);
    assert_eq!(sum_of(&[two_53 + 2.0, 1.0, -5e-324]).round(), two_53 + 2.0);
    assert_eq!(sum_of(&[-two_53, -1.0]).round(), -two_53);
}

#[test]
fn a_sum_beyond_all_doubles_is_infinite_and_comes_back() {
    let mut sum = sum_of(&[1e308; 1000]);
    assert_eq!(sum.round(), f64::INFINITY);
    sum.merge(&sum_of(&[-1e308; 999]));
    assert_eq!(sum.round(), 1e308);
    // The largest double and half a step more is the first sum that rounds to infinity.
    let half_step = 2f64.powi(970);
    assert_eq!(sum_of(&[f64::MAX, half_step]).round(), f64::INFINITY);
    assert_eq!(sum_of(&[f64::MAX, half_step.next_down()]).round(), f64::MAX);
}

#[test]
fn carries_survive_many_additions_between_two_passes() {
    let mut sum = Superaccumulator::new();
    sum.pending = MAX_PENDING - 2;
    (0..5).for_each(|_| sum.add(f64::MAX));
    (0..4).for_each(|_| sum.add(f64::MIN));
    assert_eq!(sum.round(), f64::MAX);
}

proptest! {
    #[test]
    fn agrees_with_big_integers(
        floats in prop::collection::vec(doubles(), 0..40),
        ints in prop::collection::vec((any::<i128>(), -1074i32..900), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let cut = cut.index(floats.len() + 1);
        let mut sum = sum_of(&floats[cut..]);
        ints.iter().for_each(|(value, exponent)| sum.add_scaled(*value, *exponent));
        sum.merge(&sum_of(&floats[..cut]));
        let exact: BigInt = floats.iter().map(|value| scaled(*value)).sum::<BigInt>()
            + ints.iter().map(|(value, exponent)| BigInt::from(*value) << (exponent + 1074)).sum::<BigInt>();
        prop_assert_eq!(sum.round(), nearest(&exact));
    }
}
