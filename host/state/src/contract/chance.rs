//! Chance that can be repeated: a xorshift generator from a seed, and the seeds of a run.

/// A source of numbers.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The numbers of a seed.
    #[must_use]
    pub const fn of_seed(seed: u64) -> Self {
        // Nearby seeds start far apart, and none at zero.
        Self((seed ^ 0x5DEE_CE66_D1CE_4E5B).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Any number.
    pub const fn number(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below a bound that is not zero.
    pub const fn below(&mut self, bound: u64) -> u64 {
        // The high bits are the better ones.
        (self.number() >> 16) % bound
    }

    /// The same, of 32 bits.
    ///
    /// # Panics
    /// Never: what is below 32 bits fits.
    pub fn below32(&mut self, bound: u32) -> u32 {
        u32::try_from(self.below(bound.into())).expect("below a number of 32 bits")
    }

    /// A place in something of this length, which is not zero.
    ///
    /// # Panics
    /// Never: a place is below a length.
    pub fn place(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).expect("below a length")
    }

    /// Whether something that has this chance in a hundred happens.
    pub const fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }
}

/// The seeds to run: `SEED=n` alone, `SEEDS=n` of them, or the usual number.
///
/// # Panics
/// If a variable is no number.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "tests read the environment: whoever replays a seed names it there")]
pub fn seeds(usual: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a seed is a number"));
    match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(usual),
    }
}
