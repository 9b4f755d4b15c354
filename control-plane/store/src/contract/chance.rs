//! Chance that can be repeated: SplitMix64 from a seed. `SEED=n` replays one, `SEEDS=n` runs many.

use std::num::NonZeroU64;

/// A stream of numbers that a seed determines.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Sebastiano Vigna's SplitMix64 (public domain).
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a bound.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let bound = NonZeroU64::new(u64::try_from(bound).expect("a bound fits")).expect("a bound is above zero");
        usize::try_from(self.next() % bound).expect("less than the bound, which fits")
    }

    /// One of several.
    pub(super) fn of<'a, T>(&mut self, several: &'a [T]) -> &'a T {
        &several[self.below(several.len())]
    }
}

/// The seeds to run: `SEED=n` alone, `SEEDS=n` of them, or the usual few.
#[expect(clippy::disallowed_methods, reason = "tests read the environment: whoever replays a seed names it there")]
pub(super) fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a seed is a number"));
    match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(4),
    }
}
