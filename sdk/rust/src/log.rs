//! The job's log: the one import that every component has.
//!
//! The host cuts long messages, charges fuel for each call, and drops what exceeds the tenant's rate. Log what is rare.
//! Outside a sandbox (in tests) lines go to standard error.

/// How much a line matters.
pub use crate::bindings::mapper::tidegate::job::log::Level;

/// Longer messages are cut: one that is much longer would be refused by the host, and the call with it.
const MAX_BYTES: usize = 4096;

/// Writes a line to the job's log. Of a long message, the first 4 KiB.
pub fn write(level: Level, message: &str) {
    let message = &message[..message.floor_char_boundary(MAX_BYTES)];
    #[cfg(target_arch = "wasm32")]
    crate::bindings::mapper::tidegate::job::log::write(level, message);
    #[cfg(not(target_arch = "wasm32"))]
    eprintln!("{level:?}: {message}");
}

/// Writes a line that helps while developing.
pub fn debug(message: &str) {
    write(Level::Debug, message);
}

/// Writes a line that is worth knowing.
pub fn info(message: &str) {
    write(Level::Info, message);
}

/// Writes a line that someone should look at.
pub fn warn(message: &str) {
    write(Level::Warn, message);
}

/// Writes a line about something that went wrong.
pub fn error(message: &str) {
    write(Level::Error, message);
}

/// Sends a panic's message and place to the log before the trap, which itself says nothing. Called by the exported `open`.
#[doc(hidden)]
pub fn report_panics() {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|panic| error(&panic.to_string().replacen(":\n", ": ", 1))));
}
