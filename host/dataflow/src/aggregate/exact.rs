//! An exact sum of integers and doubles, rounded once when it is asked for.
//!
//! Integers add up in 128 bits, and so do doubles, in units of the finest power of two that they need: ordinary numbers
//! fit (hundredths up to a sum of 10^20, millionths up to 10^16). A sum that does not fit moves to a
//! [`Superaccumulator`]. Both are exact, so when that happens never shows.

use tidegate_types::stored::{Malformed, Read, Stored, put_bool, put_f64, put_i64, put_i128};

use super::store::bytes_of;
use super::superaccumulator::Superaccumulator;

/// A sum that may have met floats.
#[derive(Debug, Clone, Default)]
pub(super) struct ExactSum {
    ints: i128,
    floats: FloatSum,
    met_float: bool,
}

/// A sum of doubles.
#[derive(Debug, Clone, Default)]
pub(super) struct FloatSum {
    /// The finite part, or zero where `wide` holds it.
    scaled: Scaled,
    /// The sum of the infinities and NaNs by the rules of IEEE 754; zero if there were none.
    special: f64,
    wide: Option<Box<Superaccumulator>>,
}

/// `mantissa * 2^exponent`. The exponent is in [`EXPONENTS`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Scaled {
    mantissa: i128,
    exponent: i32,
}

/// Within these, no number of 128 bits leaves the range of normal doubles.
const EXPONENTS: std::ops::RangeInclusive<i32> = -900..=800;

impl ExactSum {
    /// The sum of one integer.
    pub(super) fn of_int(value: i64) -> Self {
        Self { ints: i128::from(value), ..Self::default() }
    }

    pub(super) fn add_int(&mut self, value: i64) {
        self.ints += i128::from(value);
    }

    pub(super) fn add_float(&mut self, value: f64) {
        self.met_float = true;
        self.floats.add(value);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.ints += other.ints;
        self.met_float |= other.met_float;
        self.floats.merge(&other.floats);
    }

    /// The sum if it has met no float and fits 64 bits.
    pub(super) fn as_int(&self) -> Option<i64> {
        if self.met_float { None } else { i64::try_from(self.ints).ok() }
    }

    /// Whether a float was added.
    pub(super) fn met_float(&self) -> bool {
        self.met_float
    }

    /// The integers' part.
    pub(super) fn ints(&self) -> i128 {
        self.ints
    }

    /// The double nearest to the sum.
    pub(super) fn round(&self) -> f64 {
        self.floats.round(self.ints)
    }

    /// Appends the sum.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_i128(out, self.ints);
        put_bool(out, self.met_float);
        self.floats.write(out);
    }

    /// The sum that was written.
    pub(super) fn read(stored: &mut Stored<'_>) -> Read<Self> {
        Ok(Self { ints: stored.i128()?, met_float: stored.bool()?, floats: FloatSum::read(stored)? })
    }

    /// Bytes beyond the struct itself.
    pub(super) fn heap_bytes(&self) -> u64 {
        self.floats.heap_bytes()
    }
}

impl FloatSum {
    #[inline]
    pub(super) fn add(&mut self, value: f64) {
        if !value.is_finite() {
            self.special += value;
        } else if let Some(wide) = &mut self.wide {
            wide.add(value);
        } else if let Some(sum) = Scaled::of(value).and_then(|value| self.scaled.plus(value)) {
            self.scaled = sum;
        } else {
            self.widen().add(value);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.special += other.special;
        if let Some(wide) = &other.wide {
            self.widen().merge(wide);
        } else if let Some(wide) = &mut self.wide {
            other.scaled.add_to(wide);
        } else if let Some(sum) = self.scaled.plus(other.scaled) {
            self.scaled = sum;
        } else {
            other.scaled.add_to(self.widen());
        }
    }

    #[cold]
    fn widen(&mut self) -> &mut Superaccumulator {
        let scaled = std::mem::take(&mut self.scaled);
        let wide = self.wide.get_or_insert_with(|| Box::new(Superaccumulator::new()));
        scaled.add_to(wide);
        wide
    }

    /// Appends the sum.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_i64(out, self.scaled.exponent.into());
        put_i128(out, self.scaled.mantissa);
        put_f64(out, self.special);
        put_bool(out, self.wide.is_some());
        if let Some(wide) = &self.wide {
            wide.write(out);
        }
    }

    /// The sum that was written.
    pub(super) fn read(stored: &mut Stored<'_>) -> Read<Self> {
        let exponent = i32::try_from(stored.i64()?).ok().filter(|exponent| EXPONENTS.contains(exponent));
        let exponent = exponent.ok_or(Malformed::new("the exponent of a sum"))?;
        let scaled = Scaled { mantissa: stored.i128()?, exponent };
        let special = stored.f64()?;
        let wide = if stored.bool()? { Some(Box::new(Superaccumulator::read(stored)?)) } else { None };
        Ok(Self { scaled, special, wide })
    }

    /// Whether the finite part is zero.
    pub(super) fn is_zero(&self) -> bool {
        self.scaled.mantissa == 0 && self.wide.as_deref().is_none_or(Superaccumulator::is_zero)
    }

    /// Bytes beyond the struct itself.
    pub(super) fn heap_bytes(&self) -> u64 {
        if self.wide.is_some() { bytes_of::<Superaccumulator>(1) } else { 0 }
    }

    /// The double nearest to this and the integers together.
    pub(super) fn round(&self, ints: i128) -> f64 {
        if self.special != 0.0 {
            return self.special;
        }
        let ints = Scaled { mantissa: ints, exponent: 0 };
        if self.wide.is_none()
            && let Some(sum) = self.scaled.plus(ints)
        {
            return sum.round();
        }
        let mut exact = self.wide.as_deref().map_or_else(Superaccumulator::new, Superaccumulator::clone);
        self.scaled.add_to(&mut exact);
        ints.add_to(&mut exact);
        exact.round()
    }
}

impl Scaled {
    /// A finite double, in units as coarse as it allows; none if that is outside [`EXPONENTS`].
    #[inline]
    fn of(value: f64) -> Option<Self> {
        const MANTISSA_BITS: u32 = 52;
        let bits = value.to_bits();
        let field = i32::try_from((bits >> MANTISSA_BITS) & 0x7FF).expect("11 bits");
        let fraction = bits & ((1 << MANTISSA_BITS) - 1);
        if field == 0 {
            // A zero, or a subnormal, which is far below the range.
            return (fraction == 0).then(Self::default);
        }
        let mantissa = fraction | (1 << MANTISSA_BITS);
        let zeros = mantissa.trailing_zeros();
        let exponent = field - 1075 + zeros.cast_signed();
        let mantissa = i128::from(mantissa >> zeros);
        let mantissa = if value.is_sign_negative() { -mantissa } else { mantissa };
        EXPONENTS.contains(&exponent).then_some(Self { mantissa, exponent })
    }

    /// The exact sum in the finer units of the two; none if it does not fit.
    #[inline]
    fn plus(self, other: Self) -> Option<Self> {
        if self.mantissa == 0 {
            return Some(other);
        }
        if other.mantissa == 0 {
            return Some(self);
        }
        let exponent = self.exponent.min(other.exponent);
        let mantissa = self.mantissa_in(exponent)?.checked_add(other.mantissa_in(exponent)?)?;
        Some(Self { mantissa, exponent })
    }

    /// The mantissa in units of `2^exponent`, which are not coarser than these.
    #[inline]
    fn mantissa_in(self, exponent: i32) -> Option<i128> {
        let shift = (self.exponent - exponent).unsigned_abs();
        (self.mantissa.unsigned_abs().leading_zeros() > shift).then(|| self.mantissa << shift)
    }

    /// The nearest double. Only the conversion rounds: scaling by a power of two within the range is exact.
    fn round(self) -> f64 {
        let power = u64::try_from(self.exponent + 1023).expect("within EXPONENTS");
        round_int(self.mantissa) * f64::from_bits(power << 52)
    }

    fn add_to(self, wide: &mut Superaccumulator) {
        wide.add_scaled(self.mantissa, self.exponent);
    }
}

/// The double nearest to an integer.
pub(super) fn round_int(value: i128) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests;
