//! Chance that can be repeated: SplitMix64 from a seed, and the seeds of a run.

/// A source of numbers.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The numbers of a seed.
    #[must_use]
    pub const fn of_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound that is not zero.
    pub const fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
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
