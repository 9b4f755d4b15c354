//! Chance that can be repeated: SplitMix64 (Steele, Lea, Flood 2014), from a seed.

/// A source of numbers that follow from a seed.
#[derive(Debug, Clone)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn of_seed(seed: u64) -> Self {
        Self(seed)
    }

    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound that is not zero.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }

    /// One of some, each as likely.
    pub(super) fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        let at = self.below(u64::try_from(of.len()).expect("a short list"));
        of[usize::try_from(at).expect("below a length")]
    }

    /// Whether something of this many in a thousand happens.
    pub(super) fn of_thousand(&mut self, times: u64) -> bool {
        self.below(1000) < times
    }
}
