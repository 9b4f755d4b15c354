//! The map hook: one trade in, the same trade with its notional out, or a refusal that says what is wrong with it.

use tidegate_sdk::{Fault, Field, Mapper, Reject, Row, reject};

/// A trade as the exchange reports it.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Trade {
    /// The price of a share.
    pub price_cents: i64,
    /// Shares.
    pub quantity: i64,
}

/// What is added to a trade. Its other fields ride along ([`Trades::KEEP`](Mapper::KEEP)).
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Priced {
    /// Price times shares.
    pub notional_cents: i64,
}

/// The map hook.
pub struct Trades;

impl Mapper for Trades {
    type Config = ();
    type In<'a> = Trade;
    type Out<'a> = Priced;
    const KEEP: &'static [&'static str] = &["trade_id", "symbol", "price_cents", "quantity"];

    fn open(_config: (), _input: &[Field]) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn map(&self, trade: Trade) -> Result<Priced, Reject> {
        let Trade { price_cents, quantity } = trade;
        if price_cents <= 0 {
            return Err(reject!("bad-price", "the price is {price_cents} cents"));
        }
        if quantity <= 0 {
            return Err(reject!("bad-quantity", "{quantity} shares were traded"));
        }
        match price_cents.checked_mul(quantity) {
            Some(notional_cents) => Ok(Priced { notional_cents }),
            None => Err(reject!("too-large", "{quantity} shares at {price_cents} cents leave 64 bits")),
        }
    }
}

#[cfg(test)]
mod tests;
