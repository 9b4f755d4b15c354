//! Tests of a hook without any host.
//!
//! A harness opens a hook from JSON config as the host does, lays rows into columns, calls the hook through the very code that
//! runs in a sandbox, holds what comes back against the contract, and reads it back into rows. Besides, it runs every input
//! again in other cuts and in fresh instances: an answer that depends on how the host cut its batches, or on what an instance
//! saw before, fails the test.
//!
//! ```
//! # use tidegate_sdk::{Fault, Field, Mapper, Reject, Row, reject};
//! # #[derive(Row, Clone, Debug, PartialEq)] struct Reading { celsius: f64 }
//! # struct ToKelvin;
//! # impl Mapper for ToKelvin {
//! #     type Config = (); type In<'a> = Reading; type Out<'a> = Reading;
//! #     fn open(_: (), _: &[Field]) -> Result<Self, Fault> { Ok(Self) }
//! #     fn map<'a>(&'a self, row: Reading) -> Result<Reading, Reject> {
//! #         if row.celsius < -273.15 { return Err(reject!("too-cold", "{} °C", row.celsius)); }
//! #         Ok(Reading { celsius: row.celsius + 273.15 })
//! #     }
//! # }
//! use tidegate_sdk::testing::MapperHarness;
//!
//! let hook = MapperHarness::<ToKelvin>::open("null").unwrap();
//! let result = hook.map(&[Reading { celsius: 0.0 }, Reading { celsius: -300.0 }]).unwrap();
//! assert_eq!(result.rows(), [Reading { celsius: 273.15 }]);
//! assert_eq!(result.rejected()[0].code, "too-cold");
//! ```

mod aggregator;
mod check;
mod mapper;
mod processor;
mod windower;

pub use aggregator::{Accumulators, AggregatorHarness, Group};
pub use mapper::{MapResult, MapperHarness};
pub use processor::{ProcessResult, ProcessorHarness, Step};
pub use windower::{EmittedPanes, PaneInput, WindowerHarness};
