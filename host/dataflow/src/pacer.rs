//! How many rows a hook gets in one call: fewer when its calls cost more than a quarter of the fuel budget.
//!
//! This changes speed only: no verdict depends on how a batch was cut.

/// Sizes a hook's calls by what the last ones cost.
#[derive(Debug)]
pub(crate) struct Pacer {
    most: usize,
    rows: usize,
}

impl Pacer {
    /// A pacer for calls of at most `most` rows.
    pub(crate) fn new(most: usize) -> Self {
        Self { most: most.max(1), rows: most.max(1) }
    }

    /// The most rows that the next call should have.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// A call of `rows` rows used `fuel` of `budget`.
    pub(crate) fn note(&mut self, rows: usize, fuel: u64, budget: u64) {
        let target = budget / 4;
        if fuel > target {
            let fitting = u128::from(target) * rows as u128 / u128::from(fuel.max(1));
            self.rows = usize::try_from(fitting).unwrap_or(self.most).clamp(1, self.most);
        } else if fuel < target / 2 && rows >= self.rows {
            self.rows = self.rows.saturating_mul(2).min(self.most);
        }
    }

    /// A call failed for want of fuel, or was stopped by the clock.
    pub(crate) fn shrink(&mut self) {
        self.rows = (self.rows / 2).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_shrink_to_a_quarter_of_the_budget_and_grow_back() {
        let mut pacer = Pacer::new(1000);
        pacer.note(1000, 1000, 1000);
        assert_eq!(pacer.rows(), 250);
        pacer.note(250, 200, 1000);
        assert_eq!(pacer.rows(), 250);
        pacer.note(250, 20, 1000);
        assert_eq!(pacer.rows(), 500);
        pacer.note(500, 1_000_000, 1000);
        assert_eq!(pacer.rows(), 1);
    }
}
