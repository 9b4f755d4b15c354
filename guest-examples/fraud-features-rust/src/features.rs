//! What follows from a payment and the customer's payments before it.
//!
//! Everything counts by event time, looking back from the payment itself: a payment that arrives late gets the features that it
//! had in its own time, as far as the payments before it are known.

use tidegate_sdk::Row;

/// A payment that is remembered.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Recent {
    /// When, ms since the Unix epoch.
    pub at: i64,
    /// How much.
    pub amount_cents: i64,
    /// Two capital letters.
    pub country: String,
}

/// How far back the features look, ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizons {
    /// For the number of payments.
    pub velocity_ms: i64,
    /// For the countries.
    pub countries_ms: i64,
}

/// What the model gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// Payments within the velocity horizon, this one too.
    pub velocity: i64,
    /// Countries within theirs, this one's too.
    pub countries: i64,
    /// The amount over the mean of the remembered ones before it; none where there is none.
    pub ratio: Option<f64>,
}

/// The features of a payment, given what is remembered of the customer (in any order, without the payment itself).
pub fn features(payment: &Recent, recent: &[Recent], horizons: Horizons) -> Features {
    let before = |horizon: i64| {
        recent.iter().filter(move |other| other.at <= payment.at && other.at > payment.at.saturating_sub(horizon))
    };
    let velocity = before(horizons.velocity_ms).count() + 1;
    let mut countries: Vec<&str> = before(horizons.countries_ms).map(|other| other.country.as_str()).collect();
    countries.push(&payment.country);
    countries.sort_unstable();
    countries.dedup();
    let earlier: Vec<i64> =
        recent.iter().filter(|other| other.at <= payment.at).map(|other| other.amount_cents).collect();
    let sum: i64 = earlier.iter().sum();
    let mean = sum as f64 / earlier.len() as f64;
    Features {
        velocity: count(velocity),
        countries: count(countries.len()),
        ratio: (sum > 0).then(|| payment.amount_cents as f64 / mean),
    }
}

/// Adds a payment to what is remembered, and drops what is too much or too old: the oldest first.
pub fn remember(mut recent: Vec<Recent>, payment: Recent, most: usize) -> Vec<Recent> {
    // Late ones go to their place, so that the oldest stands first.
    let place = recent.partition_point(|other| other.at <= payment.at);
    recent.insert(place, payment);
    let surplus = recent.len().saturating_sub(most);
    recent.drain(..surplus);
    recent
}

fn count(number: usize) -> i64 {
    i64::try_from(number).expect("a customer has few payments")
}

#[cfg(test)]
mod tests;
