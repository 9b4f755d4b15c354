//! The process hook: the state of each order, its timer, and what was sent.

use std::time::Duration;

use serde::Deserialize;
use tidegate_sdk::columns::Value;
use tidegate_sdk::{Fault, Fired, Key, MapState, Processor, Reject, Row, Setup, Timer, ValueState, reject};

use crate::order::{Stage, Template};

/// Something happened to an order.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct OrderEvent<'a> {
    /// Whose order it is.
    pub customer_id: &'a str,
    /// `placed`, `paid`, `shipped`, `delivered` or `cancelled`.
    pub kind: &'a str,
    /// When, ms since the Unix epoch.
    #[row(time)]
    pub at: i64,
}

/// Something to send. Its event time is that of the news, or of the moment at which the wait became too long.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Notification {
    /// The identity of the effect, the same however often the job runs again: what sends it keeps these, and sends each once.
    pub effect_id: String,
    /// Whom to send it to.
    pub customer_id: String,
    /// What it is about.
    pub order_id: String,
    /// Which text.
    pub template: String,
}

/// What is kept of an order.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Order {
    customer_id: String,
    stage: String,
}

/// The hook's `config`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How long an order may wait for its payment.
    unpaid_min: u32,
    /// How long a paid one may wait to be shipped.
    unshipped_min: u32,
    /// How long after its last event an order is remembered.
    forget_days: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { unpaid_min: 30, unshipped_min: 2_880, forget_days: 30 }
    }
}

/// The process hook.
pub struct Notify {
    unpaid_ms: i64,
    unshipped_ms: i64,
    order: ValueState<Order>,
    /// The templates that were sent: a map without fields is a set.
    sent: MapState<String, ()>,
    waiting: Timer,
}

impl Processor for Notify {
    type Config = Config;
    type In<'a> = OrderEvent<'a>;
    type Out = Option<Notification>;
    const KEYS: bool = true;

    fn open(config: Config, setup: &mut Setup<'_>) -> Result<Self, Fault> {
        if setup.key.len() != 1 {
            return Err(Fault::new("the hook wants one key field, the order: `key_by: [order_id]`"));
        }
        let minutes = |minutes: u32| 60_000 * i64::from(minutes);
        setup.ttl(Duration::from_secs(86_400 * u64::from(config.forget_days)));
        Ok(Self {
            unpaid_ms: minutes(config.unpaid_min),
            unshipped_ms: minutes(config.unshipped_min),
            order: setup.value("order"),
            sent: setup.map("sent"),
            waiting: setup.event_timer("waiting"),
        })
    }

    fn process(&self, key: &Key<'_>, row: OrderEvent<'_>) -> Result<Option<Notification>, Reject> {
        let Some(stage) = Stage::of_kind(row.kind) else {
            return Err(reject!("unknown-kind", "`{}` is nothing that happens to an order", row.kind));
        };
        if row.customer_id.is_empty() {
            return Err(reject!("no-customer", "the order has no customer to tell"));
        }
        let reached = self.order.get(key).and_then(|order| Stage::of_kind(&order.stage));
        if reached.is_some_and(|reached| reached >= stage) {
            return Ok(None);
        }
        self.order.put(key, Order { customer_id: row.customer_id.to_owned(), stage: stage.name().to_owned() });
        match stage {
            Stage::Placed => self.waiting.set(key, row.at + self.unpaid_ms),
            Stage::Paid => self.waiting.set(key, row.at + self.unshipped_ms),
            Stage::Shipped | Stage::Delivered | Stage::Cancelled => self.waiting.clear(key),
        }
        Ok(stage.news().and_then(|template| self.send(key, template, row.customer_id)))
    }

    fn on_timer(&self, key: &Key<'_>, _fired: Fired) -> Option<Notification> {
        let order = self.order.get(key)?;
        let template = Stage::of_kind(&order.stage)?.reminder()?;
        self.send(key, template, &order.customer_id)
    }
}

impl Notify {
    /// A notification, unless it was sent before.
    fn send(&self, key: &Key<'_>, template: Template, customer_id: &str) -> Option<Notification> {
        let name = template.name().to_owned();
        if self.sent.get(key, &name).is_some() {
            return None;
        }
        self.sent.put(key, name.clone(), ());
        let order_id = order_id(key);
        Some(Notification {
            effect_id: template.effect_id(&order_id),
            customer_id: customer_id.to_owned(),
            order_id,
            template: name,
        })
    }
}

fn order_id(key: &Key<'_>) -> String {
    match key.field(0) {
        Value::Text(text) => text.to_owned(),
        Value::Int(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests;
