//! WebAssembly components behind the hook traits: the only user of wasmtime.
//!
//! [`Sandbox`] owns the engine; [`Sandbox::load`] checks and compiles a component; [`Component`] opens hooks. A hook takes
//! and gives whole batches of columns, each call under a budget of fuel, a bound on memory, stack and answer, and a
//! wall-clock backstop. docs/security/isolation.md lists what is kept out, how, and which test shows it.
//!
//! Threads that call hooks need a stack of [`SandboxConfig::stack_bytes`] and 1 MiB more.

mod aggregator;
mod bindings;
mod compile;
mod component;
mod config;
mod digest;
mod engine;
mod error;
mod failure;
mod fields;
mod hook;
mod input;
mod instance;
mod lift;
mod log;
mod lower;
mod mapper;
mod memory;
mod plan;
mod price;
mod scan;
mod text;
mod ticker;
mod windower;
mod world;

pub use component::{Component, OpenOptions};
pub use config::{SandboxConfig, ScanLimits};
pub use engine::Sandbox;
pub use error::{OpenError, SandboxError};
pub use log::{GuestLog, LogLevel, NoLog};
pub use memory::MemoryTotal;
pub use world::HookKind;
