//! Write hooks for [Tidegate](https://tidegate.example) stream jobs in Rust: a struct and plain functions over typed rows.
//!
//! A *hook* is your code inside a stream job. Tidegate reads the source, keeps state, decides when windows fire and writes the
//! sink; your hook maps rows ([`Mapper`]), aggregates them ([`Aggregator`]), assigns them to windows of your own
//! ([`Windower`]), or is an operator of its own with state and timers for each key ([`Processor`]). It is compiled to WebAssembly and runs in a sandbox, without clock, files or network.
//!
//! # A complete example
//!
//! Cargo.toml of a component:
//!
//! ```toml
//! [lib]
//! crate-type = ["cdylib", "rlib"]     # the component, and a library for its tests
//!
//! [dependencies]
//! serde = { version = "1", features = ["derive"] }
//! tidegate-sdk = "0.1"
//!
//! [profile.release]
//! lto = "fat"
//! codegen-units = 1
//! panic = "abort"
//! ```
//!
//! src/lib.rs: a map hook that turns sensor readings into kelvin, drops those of sensors that are switched off, and refuses what
//! cannot be; and an aggregate hook that keeps the mean and the extremes.
//!
//! ```
//! use serde::Deserialize;
//! use tidegate_sdk::{Aggregator, Fault, Field, Mapper, Reject, Row, reject};
//!
//! // --- map: one row in; a row, none or several out ---
//!
//! #[derive(Row, Clone)]
//! struct Reading<'a> {
//!     sensor: &'a str,          // borrowed from the batch: no allocation per row
//!     celsius: Option<f64>,     // null or absent: None
//!     active: bool,
//! }
//!
//! #[derive(Row, Debug, PartialEq)]
//! struct Kelvin<'a> {
//!     sensor: &'a str,
//!     kelvin: f64,
//! }
//!
//! #[derive(Deserialize)]
//! struct Config {
//!     #[serde(default)]
//!     correction: f64,          // `config: {correction: 0.5}` in the pipeline file
//! }
//!
//! struct ToKelvin {
//!     correction: f64,
//! }
//!
//! impl Mapper for ToKelvin {
//!     type Config = Config;
//!     type In<'a> = Reading<'a>;
//!     type Out<'a> = Option<Kelvin<'a>>;
//!
//!     fn open(config: Config, _input: &[Field]) -> Result<Self, Fault> {
//!         Ok(Self { correction: config.correction })
//!     }
//!
//!     fn map<'a>(&'a self, row: Reading<'a>) -> Result<Option<Kelvin<'a>>, Reject> {
//!         let Some(celsius) = row.celsius.filter(|_| row.active) else {
//!             return Ok(None);                                            // counted as filtered
//!         };
//!         let kelvin = celsius + 273.15 + self.correction;
//!         if kelvin < 0.0 {
//!             return Err(reject!("too-cold", "{}: {celsius} °C", row.sensor));  // to the dead letters
//!         }
//!         Ok(Some(Kelvin { sensor: row.sensor, kelvin }))
//!     }
//! }
//!
//! // --- aggregate: an accumulator per key and window, kept by the host ---
//!
//! #[derive(Row)]
//! struct Range {
//!     count: i64,
//!     sum: f64,
//!     least: Option<f64>,
//!     most: Option<f64>,
//! }
//!
//! #[derive(Row, Debug, PartialEq)]
//! struct Summary {
//!     mean: Option<f64>,
//!     least: Option<f64>,
//!     most: Option<f64>,
//! }
//!
//! #[derive(Row, Clone)]
//! struct Measured {
//!     kelvin: f64,
//! }
//!
//! struct Ranges;
//!
//! impl Aggregator for Ranges {
//!     type Config = ();
//!     type In<'a> = Measured;
//!     type Accumulator = Range;
//!     type Out = Summary;
//!
//!     fn open(_config: (), _key: &[Field], _input: &[Field]) -> Result<Self, Fault> {
//!         Ok(Self)
//!     }
//!
//!     fn init(&self) -> Range {
//!         Range { count: 0, sum: 0.0, least: None, most: None }
//!     }
//!
//!     fn accumulate(&self, range: &mut Range, row: Measured) -> Result<(), Reject> {
//!         let one = Range { count: 1, sum: row.kelvin, least: Some(row.kelvin), most: Some(row.kelvin) };
//!         self.merge(range, &one);
//!         Ok(())
//!     }
//!
//!     fn merge(&self, left: &mut Range, right: &Range) {
//!         left.count += right.count;
//!         left.sum += right.sum;
//!         left.least = left.least.into_iter().chain(right.least).reduce(f64::min);
//!         left.most = left.most.into_iter().chain(right.most).reduce(f64::max);
//!     }
//!
//!     fn finish(&self, range: &Range) -> Summary {
//!         let mean = (range.count > 0).then(|| range.sum / range.count as f64);
//!         Summary { mean, least: range.least, most: range.most }
//!     }
//! }
//!
//! // --- the component's hooks ---
//!
//! tidegate_sdk::export! {
//!     mapper: ToKelvin,
//!     aggregator: Ranges,
//! }
//!
//! // --- and its tests: no host, no WebAssembly ---
//!
//! use tidegate_sdk::testing::{AggregatorHarness, Group, MapperHarness};
//!
//! let hook = MapperHarness::<ToKelvin>::open(r#"{"correction": 0.5}"#)?;
//! let mapped = hook.map(&[
//!     Reading { sensor: "a", celsius: Some(20.0), active: true },
//!     Reading { sensor: "b", celsius: Some(20.0), active: false },
//!     Reading { sensor: "c", celsius: Some(-999.0), active: true },
//! ])?;
//! assert_eq!(mapped.rows(), [Kelvin { sensor: "a", kelvin: 293.65 }]);
//! assert_eq!(mapped.rejected()[0].code, "too-cold");
//!
//! let hook = AggregatorHarness::<Ranges>::open("null")?;
//! let (pane, _) = hook.aggregate(&Group::default(), &[Measured { kelvin: 290.0 }, Measured { kelvin: 310.0 }])?;
//! assert_eq!(pane, Summary { mean: Some(300.0), least: Some(290.0), most: Some(310.0) });
//! # Ok::<(), Fault>(())
//! ```
//!
//! `tidegate build FOLDER` makes the component, and the pipeline file names it:
//!
//! ```yaml
//! map: {component: sensors@1.0.0, config: {correction: 0.5}}
//! key_by: [sensor]
//! aggregate:
//!   readings: {fn: count}
//!   range: {component: sensors@1.0.0}
//! ```
//!
//! # State and timers
//!
//! A [`Processor`] is for what windows cannot say. Its handles, made in [`open`](Processor::open), are names for what the host
//! keeps of each key: a row ([`ValueState`]), rows in order ([`ListState`]), rows by a map key ([`MapState`]), and at most one
//! pending time for each [`Timer`].
//!
//! ```
//! use std::time::Duration;
//! use tidegate_sdk::testing::{ProcessorHarness, Step};
//! use tidegate_sdk::{Fault, Fired, Key, MapState, Processor, Reject, Row, Setup, Timer, ValueState};
//!
//! #[derive(Row, Clone)]
//! struct Login<'a> {
//!     device: &'a str,
//!     #[row(time)]
//!     at: i64,
//! }
//!
//! #[derive(Row, Clone, Default)]
//! struct Count {
//!     logins: i64,
//! }
//!
//! #[derive(Row, Debug, PartialEq)]
//! struct Told {
//!     what: String,
//!     logins: i64,
//! }
//!
//! /// Tells of a new device, and of who has not been there for a week.
//! struct Logins {
//!     count: ValueState<Count>,
//!     devices: MapState<String, ()>,     // a map of rows without fields is a set
//!     away: Timer,
//! }
//!
//! impl Processor for Logins {
//!     type Config = ();
//!     type In<'a> = Login<'a>;
//!     type Out = Option<Told>;
//!
//!     fn open(_config: (), setup: &mut Setup<'_>) -> Result<Self, Fault> {
//!         Ok(Self {
//!             count: setup.value("count"),
//!             away: setup.event_timer("away"),
//!             // What is set up from here on is forgotten 90 days after the last login.
//!             devices: setup.ttl(Duration::from_secs(90 * 86_400)).map("devices"),
//!         })
//!     }
//!
//!     fn process(&self, key: &Key<'_>, row: Login<'_>) -> Result<Option<Told>, Reject> {
//!         let mut count = self.count.get(key).unwrap_or_default();
//!         count.logins += 1;
//!         let logins = count.logins;
//!         self.count.put(key, count);
//!         self.away.set(key, row.at + 7 * 86_400_000);                      // replaces what was pending
//!         let device = row.device.to_owned();
//!         if self.devices.get(key, &device).is_some() {
//!             return Ok(None);
//!         }
//!         self.devices.put(key, device, ());
//!         Ok(Some(Told { what: format!("new device {}", row.device), logins }))
//!     }
//!
//!     fn on_timer(&self, key: &Key<'_>, _fired: Fired) -> Option<Told> {
//!         let logins = self.count.get(key)?.logins;
//!         Some(Told { what: "away for a week".to_owned(), logins })
//!     }
//! }
//!
//! tidegate_sdk::export! {
//!     processor: Logins,
//! }
//!
//! let hook = ProcessorHarness::<Logins>::open("null")?;
//! let result = hook.run(&[
//!     Step::row("ada", Login { device: "phone", at: 0 }),
//!     Step::row("ada", Login { device: "phone", at: 1_000 }),
//!     Step::Watermark(8 * 86_400_000),
//! ])?;
//! let told = |what: &str, logins| Told { what: what.to_owned(), logins };
//! assert_eq!(result.rows, [told("new device phone", 1), told("away for a week", 2)]);
//! assert_eq!(result.times, [0, 1_000 + 7 * 86_400_000]);
//! # Ok::<(), Fault>(())
//! ```
//!
//! In a pipeline's long form:
//!
//! ```yaml
//! operators:
//!   - name: logins
//!     input: events
//!     key_by: [customer_id]
//!     process: {component: logins@1.0.0}
//! ```
//!
//! - **Gathered.** The rows of one call share what they read. The first `get` of a value asks for all keys of the call at once, and
//!   what is written goes to the host once, at the end. Lists and single map entries are asked for when they are needed.
//! - **Refused rows.** Where `process` answers `Err`, what the row had written is undone.
//! - **Order.** Rows of one key come in order of arrival, late ones too: compare times yourself where it matters. A timer that is set to a time that has passed
//!   fires after the row that set it, before the next.
//! - **The time of a timer's row** is the timer's, unless the row has a `#[row(time)]` field. Rows of a processing timer need one.
//! - **At the end of the input** the watermark passes every time: all event timers fire, also one that is set to `i64::MAX`. A timer that
//!   always sets itself again without getting further is stopped after 1,000 times (`timer-loop` among the dead letters).
//! - **Fuel and size.** Each entry that is read or written costs about a thousand units, and one a byte. One call may write
//!   8 MiB in all, and read as much at once.
//!
//! # Which form
//!
//! | you want to | row by row | whole columns |
//! |---|---|---|
//! | derive, filter, split, decode, enrich rows | [`Mapper`] | [`ColumnMapper`] |
//! | remember something per key and window | [`Aggregator`] | [`ColumnAggregator`] |
//! | say which windows there are, when they fire, what they emit | [`Windower`] | [`ColumnWindower`] |
//! | keep state by key, wait for a time, compare with what came before | [`Processor`] | [`ColumnProcessor`] |
//!
//! The row-wise form is right nearly always: columns are opened once per batch and a row that borrows (`&'a str`) allocates
//! nothing. The column form is for hooks that hand columns on untouched, that choose their fields by their config, or that work
//! faster on slices. It takes the contract's own types, in [`columns`].
//!
//! # Rules that a hook lives by
//!
//! - **State between calls is a cache.** `&self` is what `open` made. The host drops, copies and replaces instances as it likes,
//!   so what must last goes into rows, accumulators or a processor's states. The test harness runs inputs in several cuts and in fresh instances and fails
//!   where an answer depends on them.
//! - **Refuse one row with [`reject!`]**: its record goes to the dead-letter output with your code and message, and the others go on.
//!   A panic costs more: the host stops the call, searches for the guilty record by halving the batch, and dead-letters that one. Its
//!   message goes to the job's [`log`] first.
//! - **Fuel.** Each call has a budget of instructions. A row that makes a hook loop is found and dead-lettered like one that makes it
//!   panic.
//! - **No clock, no randomness, no I/O.** The same input gives the same output on every run; event times come with the rows
//!   (`#[row(time)]`).
//! - **Fields cost.** The host sends only the columns that your row struct names. [`Mapper::KEEP`] carries others along for free.

mod aggregator;
#[doc(hidden)]
pub mod bindings;
pub mod columns;
mod config;
mod error;
#[doc(hidden)]
pub mod export;
pub mod log;
mod mapper;
#[doc(hidden)]
pub mod processor;
pub mod row;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
mod utf8;
#[doc(hidden)]
pub mod windower;

pub use aggregator::{Aggregator, Cell, ColumnAggregator};
pub use columns::{Fault, Field, Kind};
pub use error::Reject;
pub use mapper::{ColumnMapper, Mapper};
pub use processor::{
    ColumnProcessor, Fired, Key, KeyedState, ListState, MapKey, MapState, Processor, Setup, Stored, Timer, ValueState,
};
pub use row::Row;
pub use windower::{ColumnWindower, Pane, Progress, Window, Windower};
