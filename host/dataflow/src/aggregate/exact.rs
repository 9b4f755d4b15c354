//! An exact sum of integers and doubles, rounded once when it is asked for.
//!
//! Integers add up in 128 bits. Doubles add up in a few partial sums that do not overlap (J. R. Shewchuk, Adaptive
//! precision floating-point arithmetic and fast robust geometric predicates, 1997); a sum that needs many of them, or
//! comes near the largest double, moves to a [`Superaccumulator`]. Both are exact, so when that happens never shows.

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
struct FloatSum {
    /// The first `len` hold the finite part: nonoverlapping, ascending by magnitude, none of them zero.
    partials: [f64; MAX_PARTIALS],
    len: u8,
    /// The sum of the infinities and NaNs by the rules of IEEE 754; zero if there were none.
    special: f64,
    /// Holds the finite part instead of `partials`.
    wide: Option<Box<Superaccumulator>>,
}

const MAX_PARTIALS: usize = 4;

/// 2^1000: below it no step of an addition can leave the range of doubles.
const PARTIALS_LIMIT: f64 = f64::from_bits((1000 + 1023) << 52);

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

    /// Bytes beyond the struct itself.
    pub(super) fn heap_bytes(&self) -> u64 {
        if self.floats.wide.is_some() { bytes_of::<Superaccumulator>(1) } else { 0 }
    }
}

impl FloatSum {
    fn add(&mut self, value: f64) {
        if !value.is_finite() {
            self.special += value;
        } else if let Some(wide) = &mut self.wide {
            wide.add(value);
        } else if !self.add_to_partials(value) {
            self.widen().add(value);
        }
    }

    /// Adds the value exactly, or changes nothing and says false.
    fn add_to_partials(&mut self, value: f64) -> bool {
        let mut partials = self.partials;
        let mut kept = 0;
        let mut rest = value;
        for place in 0..usize::from(self.len) {
            let (sum, error) = two_sum(rest, partials[place]);
            if error != 0.0 {
                partials[kept] = error;
                kept += 1;
            }
            rest = sum;
        }
        // Written so that a NaN, which an overflow on the way can leave, is refused too.
        let in_range = rest.abs() < PARTIALS_LIMIT;
        if !in_range || kept == MAX_PARTIALS {
            return false;
        }
        if rest != 0.0 {
            partials[kept] = rest;
            kept += 1;
        }
        self.partials = partials;
        self.len = u8::try_from(kept).expect("at most MAX_PARTIALS");
        true
    }

    fn merge(&mut self, other: &Self) {
        self.special += other.special;
        if let Some(wide) = &other.wide {
            self.widen().merge(wide);
        }
        for partial in other.partials() {
            self.add(*partial);
        }
    }

    fn partials(&self) -> &[f64] {
        &self.partials[..usize::from(self.len)]
    }

    fn widen(&mut self) -> &mut Superaccumulator {
        if self.wide.is_none() {
            let mut wide = Superaccumulator::new();
            self.partials().iter().for_each(|partial| wide.add(*partial));
            self.len = 0;
            self.wide = Some(Box::new(wide));
        }
        self.wide.as_mut().expect("set just above")
    }

    /// The double nearest to this and the integers together.
    fn round(&self, ints: i128) -> f64 {
        if self.special != 0.0 {
            return self.special;
        }
        match (self.partials(), &self.wide) {
            ([], None) => round_int(ints),
            // One addition of doubles rounds correctly.
            ([one], None) if ints == 0 => *one,
            ([low, high], None) if ints == 0 => low + high,
            (partials, wide) => {
                let mut exact = wide.as_deref().map_or_else(Superaccumulator::new, Superaccumulator::clone);
                partials.iter().for_each(|partial| exact.add(*partial));
                exact.add_int(ints);
                exact.round()
            }
        }
    }
}

/// The rounded sum and its error: `sum + error == a + b` exactly (D. E. Knuth's two-sum).
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    (sum, error)
}

/// The double nearest to an integer.
pub(super) fn round_int(value: i128) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests;
