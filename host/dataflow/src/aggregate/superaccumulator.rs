//! A fixed-point number wide enough for every sum of doubles: exact addition, one rounding at the end.
//!
//! The value is `sum of limbs[i] * 2^(32 i - 1074)`; 2^-1074 is the least subnormal. Limbs are signed and hold more than
//! 32 bits, so that carries need passing on only now and then (the "small superaccumulator" of R. M. Neal, Fast exact
//! summation using small and large superaccumulators, 2015). Order of additions and merges never matters.

use tidegate_types::stored::{Malformed, Read, Stored, put_i64};

/// 32-bit limbs from 2^-1074 to 2^1024, and 64 bits above for the number of additions.
const LIMBS: usize = 68;
const LIMB_BITS: usize = 32;
const LIMB_MASK: i64 = 0xFFFF_FFFF;
/// The highest limb stays far within this.
const TOP_LIMB: i64 = 1 << 62;
/// Where 2^0 stands.
const ONE: i32 = 1074;
/// Each addition moves a limb by less than 2^32, so that so many stay far below 2^63.
const MAX_PENDING: u32 = 1 << 29;
const MANTISSA_BITS: usize = 52;
const MANTISSA_MASK: u64 = (1 << MANTISSA_BITS) - 1;
const INFINITE_EXPONENT: u64 = 0x7FF;

/// An exact sum of finite doubles and integers.
#[derive(Debug, Clone)]
pub(super) struct Superaccumulator {
    limbs: [i64; LIMBS],
    /// Additions since carries were passed on.
    pending: u32,
}

impl Superaccumulator {
    pub(super) fn new() -> Self {
        Self { limbs: [0; LIMBS], pending: 0 }
    }

    /// Adds a finite double.
    pub(super) fn add(&mut self, value: f64) {
        debug_assert!(value.is_finite());
        let bits = value.to_bits();
        let exponent = (bits >> MANTISSA_BITS) & INFINITE_EXPONENT;
        let mantissa = bits & MANTISSA_MASK;
        let (mantissa, shift) =
            if exponent == 0 { (mantissa, 0) } else { (mantissa | (1 << MANTISSA_BITS), exponent - 1) };
        let shift = usize::try_from(shift).expect("an exponent has 11 bits");
        self.add_shifted(mantissa, shift, value.is_sign_negative());
    }

    /// Adds `mantissa * 2^exponent`. The exponent is from -1074 to 900.
    pub(super) fn add_scaled(&mut self, mantissa: i128, exponent: i32) {
        let shift = usize::try_from(exponent + ONE).expect("at least -1074");
        let magnitude = mantissa.unsigned_abs();
        for (more, part) in [(0, magnitude), (64, magnitude >> 64)] {
            let part = u64::try_from(part & u128::from(u64::MAX)).expect("masked to 64 bits");
            self.add_shifted(part, shift + more, mantissa < 0);
        }
    }

    /// Adds another sum.
    pub(super) fn merge(&mut self, other: &Self) {
        self.pass_carries();
        let mut other = other.clone();
        other.pass_carries();
        self.limbs.iter_mut().zip(other.limbs).for_each(|(limb, more)| *limb += more);
        self.pending = 1;
    }

    /// Appends the sum.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut sum = self.clone();
        sum.pass_carries();
        sum.limbs.iter().for_each(|limb| put_i64(out, *limb));
    }

    /// The sum that was written.
    pub(super) fn read(stored: &mut Stored<'_>) -> Read<Self> {
        let mut sum = Self::new();
        for (place, limb) in sum.limbs.iter_mut().enumerate() {
            let value = stored.i64()?;
            let within = if place == LIMBS - 1 { -TOP_LIMB..=TOP_LIMB } else { 0..=LIMB_MASK };
            *limb = Some(value).filter(|value| within.contains(value)).ok_or(Malformed::new("a part of a sum"))?;
        }
        Ok(sum)
    }

    /// Whether the sum is zero.
    pub(super) fn is_zero(&self) -> bool {
        let mut sum = self.clone();
        sum.pass_carries();
        sum.limbs.iter().all(|limb| *limb == 0)
    }

    /// The double nearest to the sum, of two the even one; an infinity if the sum is beyond all doubles.
    pub(super) fn round(&self) -> f64 {
        let mut sum = self.clone();
        sum.pass_carries();
        let negative = sum.limbs[LIMBS - 1] < 0;
        if negative {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.pass_carries();
        }
        let magnitude = sum.round_magnitude();
        if negative { -magnitude } else { magnitude }
    }

    /// Adds `mantissa * 2^(shift - 1074)`, or subtracts it.
    fn add_shifted(&mut self, mantissa: u64, shift: usize, negative: bool) {
        if self.pending == MAX_PENDING {
            self.pass_carries();
        }
        self.pending += 1;
        let mut wide = u128::from(mantissa) << (shift % LIMB_BITS);
        for limb in &mut self.limbs[shift / LIMB_BITS..][..3] {
            let part = i64::try_from(wide & 0xFFFF_FFFF).expect("masked to 32 bits");
            *limb += if negative { -part } else { part };
            wide >>= LIMB_BITS;
        }
    }

    /// Brings every limb but the highest into `0..2^32`; the highest keeps the sign.
    fn pass_carries(&mut self) {
        let mut carry = 0;
        for limb in &mut self.limbs[..LIMBS - 1] {
            let total = *limb + carry;
            *limb = total & LIMB_MASK;
            carry = total >> LIMB_BITS;
        }
        self.limbs[LIMBS - 1] += carry;
        self.pending = 0;
    }

    /// As [`Self::round`], of a sum that is not negative and whose carries have been passed on.
    fn round_magnitude(&self) -> f64 {
        let Some(top) = self.limbs.iter().rposition(|limb| *limb != 0) else { return 0.0 };
        let width = usize::try_from(self.limbs[top].ilog2()).expect("at most 63");
        let highest = top * LIMB_BITS + width;
        let Some(lowest) = highest.checked_sub(MANTISSA_BITS) else {
            // Every bit fits: a subnormal, whose bits are the number itself.
            return f64::from_bits(self.bits_from(0));
        };
        // The implicit bit adds 1 to the exponent field, and rounding up to the next power of two carries into it.
        let exponent = u64::try_from(lowest).expect("a bit's place is small");
        let mantissa = self.bits_from(lowest) & (MANTISSA_MASK | (1 << MANTISSA_BITS));
        let rounded = mantissa + u64::from(self.rounds_up(lowest, mantissa));
        let bits = (exponent << MANTISSA_BITS) + rounded;
        if exponent >= INFINITE_EXPONENT || bits >= f64::INFINITY.to_bits() {
            f64::INFINITY
        } else {
            f64::from_bits(bits)
        }
    }

    /// Whether the bits below `lowest` are more than half, or half and the mantissa is odd.
    fn rounds_up(&self, lowest: usize, mantissa: u64) -> bool {
        let Some(half) = lowest.checked_sub(1) else { return false };
        if self.bits_from(half) & 1 == 0 {
            return false;
        }
        let (limb, bit) = (half / LIMB_BITS, half % LIMB_BITS);
        mantissa & 1 == 1
            || self.limbs[limb] & ((1 << bit) - 1) != 0
            || self.limbs[..limb].iter().any(|lower| *lower != 0)
    }

    /// At least 64 bits from this one upwards, the lowest 64 of them.
    fn bits_from(&self, bit: usize) -> u64 {
        let limb = |place: usize| self.limbs.get(place).map_or(0, |limb| u128::from(limb.unsigned_abs()));
        let place = bit / LIMB_BITS;
        // The highest limb may be wider than 32 bits; everything above it is zero then.
        let wide = limb(place) | (limb(place + 1) << 32) | (limb(place + 2) << 64);
        u64::try_from((wide >> (bit % LIMB_BITS)) & u128::from(u64::MAX)).expect("masked to 64 bits")
    }
}

#[cfg(test)]
pub(in crate::aggregate) mod tests;
