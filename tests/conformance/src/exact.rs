//! The exact sum of integers and floats, rounded once.
//!
//! One large integer counts units of 2^-1074, the smallest float. Invariant: nothing is rounded before `rounded`.

use crate::json::Value;

#[cfg(test)]
mod tests;

/// Digits of base 2^32, each with room for many carries. 70 of them hold 2^1024 and its unit 2^-1074.
pub(crate) struct ExactSum([i128; 70]);

const BASE: i128 = 1 << 32;

impl ExactSum {
    /// The exact sum of numbers, each with whether it is taken away.
    pub(crate) fn of<'a>(values: impl IntoIterator<Item = (bool, &'a Value)>) -> Self {
        let mut sum = ExactSum([0; 70]);
        for (minus, value) in values {
            match value {
                Value::Int(n) => sum.add((*n < 0) != minus, n.unsigned_abs(), 1074),
                Value::Float(x) => {
                    let (bits, fraction) = (x.abs().to_bits(), x.to_bits() & ((1 << 52) - 1));
                    let exponent = usize::try_from(bits >> 52).expect("an exponent has 11 bits");
                    let hidden = if exponent == 0 { 0 } else { 1 << 52 };
                    sum.add(x.is_sign_negative() != minus, fraction + hidden, exponent.max(1) - 1);
                }
                _ => unreachable!("only numbers are added up"),
            }
        }
        sum
    }

    fn add(&mut self, negative: bool, mantissa: u64, shift: usize) {
        let mut rest = i128::from(mantissa) << (shift % 32);
        for digit in &mut self.0[shift / 32..] {
            *digit += if negative { -(rest % BASE) } else { rest % BASE };
            rest /= BASE;
        }
    }

    /// The nearest float, ties to even; infinite beyond the range of floats.
    pub(crate) fn rounded(mut self) -> f64 {
        let negative = self.carry() < 0;
        if negative {
            self.0.iter_mut().for_each(|digit| *digit = -*digit);
            self.carry();
        }
        let bit = |i: usize| self.0[i / 32] >> (i % 32) & 1 == 1;
        let Some(top) = (0..70 * 32).rev().find(|i| bit(*i)) else { return 0.0 };
        let shift = top.saturating_sub(52);
        let mut mantissa: u64 = (shift..=top).filter(|i| bit(*i)).map(|i| 1 << (i - shift)).sum();
        let half = shift > 0 && bit(shift - 1);
        if half && (mantissa % 2 == 1 || (0..shift - 1).any(bit)) {
            mantissa += 1;
        }
        // The mantissa with its leading bit counts 1 in the exponent's field, as IEEE 754's layout has it.
        let bits = (u64::try_from(shift).expect("a small shift") << 52) + mantissa;
        let size = if bits >= f64::INFINITY.to_bits() { f64::INFINITY } else { f64::from_bits(bits) };
        if negative { -size } else { size }
    }

    /// Brings each digit into `0..2^32` and returns what is carried out of the last one: -1 for a negative sum.
    fn carry(&mut self) -> i128 {
        let mut carry = 0;
        for digit in &mut self.0 {
            *digit += carry;
            carry = digit.div_euclid(BASE);
            *digit = digit.rem_euclid(BASE);
        }
        carry
    }
}
