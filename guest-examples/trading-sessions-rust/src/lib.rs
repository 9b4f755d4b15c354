//! Trading sessions of an exchange: the code that a tenant brings to the `trading-sessions` job (`../pipeline.yaml`).
//!
//! - [`Trades`], the map hook: checks each trade and multiplies price and quantity.
//! - [`Sessions`], the window hook: which sessions a trade is in, by weekday, holiday, half day and time zone; when a session
//!   is shown; and what is shown of it.

mod calendar;
mod config;
mod date;
mod phase;
mod sessions;
mod trades;

pub use config::Config;
pub use sessions::{Executed, Session, Sessions, Totals};
pub use trades::{Priced, Trade, Trades};

tidegate_sdk::export! {
    mapper: Trades,
    windower: Sessions,
}
