//! The stages of an order, and what is told at each.
//!
//! Events come late and out of order. A stage is only ever left for a later one, so the news of an order that was shipped is not undone
//! by the news that it was paid.

/// How far an order is. Later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The customer ordered.
    Placed,
    /// The customer paid.
    Paid,
    /// It left the house.
    Shipped,
    /// It arrived.
    Delivered,
    /// It was called off. Nothing follows.
    Cancelled,
}

/// A text that is sent to a customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// Please pay.
    PaymentReminder,
    /// It is on its way.
    Shipped,
    /// It takes longer than it should.
    Delayed,
    /// It was called off.
    Cancelled,
}

impl Stage {
    /// All stages, with their names in events.
    const NAMES: [(&'static str, Self); 5] = [
        ("placed", Self::Placed),
        ("paid", Self::Paid),
        ("shipped", Self::Shipped),
        ("delivered", Self::Delivered),
        ("cancelled", Self::Cancelled),
    ];

    /// The stage that an event of this kind leads to.
    pub fn of_kind(kind: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(name, _)| *name == kind).map(|(_, stage)| stage)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.into_iter().find(|(_, stage)| *stage == self).map_or("", |(name, _)| name)
    }

    /// What is told as soon as an order gets there.
    pub fn news(self) -> Option<Template> {
        match self {
            Self::Shipped => Some(Template::Shipped),
            Self::Cancelled => Some(Template::Cancelled),
            Self::Placed | Self::Paid | Self::Delivered => None,
        }
    }

    /// What is told if nothing follows for too long.
    pub fn reminder(self) -> Option<Template> {
        match self {
            Self::Placed => Some(Template::PaymentReminder),
            Self::Paid => Some(Template::Delayed),
            Self::Shipped | Self::Delivered | Self::Cancelled => None,
        }
    }
}

impl Template {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::PaymentReminder => "payment-reminder",
            Self::Shipped => "shipped",
            Self::Delayed => "delayed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The identity of the effect: who sends it twice sends the same thing, and may be told so.
    pub fn effect_id(self, order_id: &str) -> String {
        format!("{order_id}/{}", self.name())
    }
}

#[cfg(test)]
mod tests;
