//! WebAssembly components behind the hook traits: the only user of wasmtime.
//!
//! [`Sandbox`] owns the engine; [`Sandbox::load`] checks and compiles a component; [`Component`] opens hooks. A hook takes
//! and gives whole batches of columns, each call under a budget of fuel, a bound on memory, stack and answer, and a
//! wall-clock backstop. docs/security/isolation.md lists what is kept out, how, and which test shows it.
//!
//! A host that serves many does not compile in its own process: an [`ImageCompiler`] in a child makes an image, the host seals
//! it with an [`ImageKey`], and [`Sandbox::load_image`] takes only what that seal holds.
//!
//! Threads that call hooks need a stack of [`SandboxConfig::stack_bytes`] and 1 MiB more.

mod aggregator;
mod bindings;
mod compile;
mod component;
mod config;
mod engine;
mod error;
mod failure;
mod fields;
mod hook;
mod image;
mod input;
mod instance;
mod keyed_state;
mod lent;
mod lift;
mod log;
mod lower;
mod mapper;
mod memory;
mod plan;
mod price;
mod processor;
mod scan;
mod text;
mod ticker;
mod timers;
mod windower;
mod world;

pub use compile::{Image, ImageCompiler};
pub use component::{Component, OpenOptions};
pub use config::{SandboxConfig, ScanLimits};
pub use engine::Sandbox;
pub use error::{OpenError, SandboxError, Stage};
pub use image::{ComponentDigest, ImageError, ImageKey, Stamp};
pub use log::{GuestLog, LogLevel, NoLog};
pub use memory::{MemoryTotal, TooManyHooks};
pub use world::HookKind;
