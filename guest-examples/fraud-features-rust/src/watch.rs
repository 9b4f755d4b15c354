//! The process hook: what is kept of each customer, and when it speaks.
//!
//! Of each customer there is a balance, which stays, and the last payments and the identities of events, which are forgotten when the
//! customer has been away for a day. A timer in event time tells when a customer fell silent, once for each silence.

use std::time::Duration;

use serde::Deserialize;
use tidegate_sdk::columns::Value;
use tidegate_sdk::{Fault, Fired, Key, ListState, MapState, Processor, Reject, Row, Setup, Timer, ValueState, reject};

use crate::features::{Horizons, Recent, features, remember};

/// Money that moved, as the shop reports it.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Money<'a> {
    /// The event's identity.
    pub event_id: &'a str,
    /// `payment` or `refund`.
    pub kind: &'a str,
    /// How much, above zero.
    pub amount_cents: i64,
    /// Two capital letters.
    pub country: &'a str,
    /// When, ms since the Unix epoch.
    #[row(time)]
    pub at: i64,
}

/// What is told about a customer.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Told {
    /// Who.
    pub customer_id: String,
    /// `payment`, or `silent` where the customer has been silent for a while.
    pub about: String,
    /// The payment that it is about.
    pub event_id: Option<String>,
    /// How much was paid.
    pub amount_cents: Option<i64>,
    /// What the customer paid so far, less what was given back.
    pub balance_cents: i64,
    /// How many payments that were.
    pub payments: i64,
    /// Payments of the last minutes, this one too.
    pub velocity: Option<i64>,
    /// Countries of the last hour, this one's too.
    pub countries: Option<i64>,
    /// The amount over the mean of the last ones.
    pub ratio: Option<f64>,
}

/// What stays of a customer.
#[derive(Row, Clone, Debug, Default, PartialEq)]
pub struct Balance {
    /// Payments less refunds.
    pub cents: i64,
    /// Payments.
    pub payments: i64,
    /// The latest event, ms since the Unix epoch.
    pub last: i64,
}

/// The hook's `config`. All in minutes, but for `remember`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    velocity_min: u32,
    countries_min: u32,
    /// After how long without an event a customer is silent.
    silent_min: u32,
    /// How long after the last event payments are remembered.
    forget_min: u32,
    /// How many payments are remembered at most.
    remember: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { velocity_min: 10, countries_min: 60, silent_min: 30, forget_min: 1_440, remember: 50 }
    }
}

/// The process hook.
pub struct Watch {
    horizons: Horizons,
    silent_ms: i64,
    most: usize,
    balance: ValueState<Balance>,
    recent: ListState<Recent>,
    /// The events that were counted: a map without fields is a set.
    seen: MapState<String, ()>,
    silent: Timer,
}

impl Processor for Watch {
    type Config = Config;
    type In<'a> = Money<'a>;
    type Out = Option<Told>;
    const KEYS: bool = true;

    fn open(config: Config, setup: &mut Setup<'_>) -> Result<Self, Fault> {
        if config.silent_min == 0 || config.remember == 0 {
            return Err(Fault::new("config: `silent_min` and `remember` are above 0"));
        }
        if setup.key.len() != 1 {
            return Err(Fault::new("the hook wants one key field, the customer: `key_by: [customer_id]`"));
        }
        let forget = Duration::from_secs(60 * u64::from(config.forget_min));
        Ok(Self {
            horizons: Horizons {
                velocity_ms: minutes(config.velocity_min),
                countries_ms: minutes(config.countries_min),
            },
            silent_ms: minutes(config.silent_min),
            most: config.remember,
            balance: setup.value("balance"),
            silent: setup.event_timer("silent"),
            // What is set up from here on is forgotten after this.
            recent: setup.ttl(forget).list("recent"),
            seen: setup.map("seen"),
        })
    }

    fn process(&self, key: &Key<'_>, row: Money<'_>) -> Result<Option<Told>, Reject> {
        check(&row)?;
        let event_id = row.event_id.to_owned();
        if self.seen.get(key, &event_id).is_some() {
            return Ok(None);
        }
        self.seen.put(key, event_id, ());
        let mut balance = self.balance.get(key).unwrap_or_default();
        balance.last = balance.last.max(row.at);
        let told = match row.kind {
            "refund" => {
                balance.cents -= row.amount_cents;
                None
            }
            _ => {
                balance.cents += row.amount_cents;
                balance.payments += 1;
                Some(self.pay(key, &row, &balance))
            }
        };
        self.silent.set(key, balance.last + self.silent_ms);
        self.balance.put(key, balance);
        Ok(told)
    }

    fn on_timer(&self, key: &Key<'_>, _fired: Fired) -> Option<Told> {
        let balance = self.balance.get(key)?;
        Some(Told {
            customer_id: customer(key),
            about: "silent".to_owned(),
            event_id: None,
            amount_cents: None,
            balance_cents: balance.cents,
            payments: balance.payments,
            velocity: None,
            countries: None,
            ratio: None,
        })
    }
}

impl Watch {
    /// Remembers a payment, and tells what is special about it.
    fn pay(&self, key: &Key<'_>, row: &Money<'_>, balance: &Balance) -> Told {
        let recent = self.recent.get(key);
        let payment = Recent { at: row.at, amount_cents: row.amount_cents, country: row.country.to_owned() };
        let made = features(&payment, &recent, self.horizons);
        self.recent.replace(key, remember(recent, payment, self.most));
        Told {
            customer_id: customer(key),
            about: "payment".to_owned(),
            event_id: Some(row.event_id.to_owned()),
            amount_cents: Some(row.amount_cents),
            balance_cents: balance.cents,
            payments: balance.payments,
            velocity: Some(made.velocity),
            countries: Some(made.countries),
            ratio: made.ratio,
        }
    }
}

fn check(row: &Money<'_>) -> Result<(), Reject> {
    if row.event_id.is_empty() {
        return Err(reject!("no-event-id", "the event has no identity, so a repetition could not be told"));
    }
    if row.amount_cents <= 0 {
        return Err(reject!("bad-amount", "{}: {} cents is no amount above 0", row.event_id, row.amount_cents));
    }
    if row.country.len() != 2 || !row.country.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(reject!("bad-country", "{}: `{}` is not two capital letters", row.event_id, row.country));
    }
    if !["payment", "refund"].contains(&row.kind) {
        return Err(reject!("unknown-kind", "{}: `{}` is neither a payment nor a refund", row.event_id, row.kind));
    }
    Ok(())
}

fn customer(key: &Key<'_>) -> String {
    match key.field(0) {
        Value::Text(text) => text.to_owned(),
        Value::Int(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn minutes(minutes: u32) -> i64 {
    60_000 * i64::from(minutes)
}

#[cfg(test)]
mod tests;
