//! What the end-to-end tests share: the command as a child process, files for it, and events that are the same every time.
//!
//! Invariant: a test judges the command only by what a user of it can see: its status, its output and its files.

mod chance;
mod command;
mod cuts;
mod lines;

pub mod ads;
pub mod flights;
pub mod platform;

pub use chance::Chance;
pub use command::{Finished, Folder, binary, guest};
pub use cuts::{CUTS, Outputs, all_outputs};
pub use lines::{by_key, last_per_window, parsed};
