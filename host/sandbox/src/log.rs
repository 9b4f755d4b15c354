//! The import of every component: lines for its log, at a bounded size and rate, each paid for with fuel.
//!
//! Logging never fails and changes no result: what exceeds the rate is dropped and counted. The rate refills with the
//! ticker; how much fuel a line costs depends on its length alone, so that a run costs the same fuel every time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use wasmtime::component::{Linker, WasmStr};
use wasmtime::{Result, StoreContextMut};

use crate::bindings::tidegate::job::log::Level;
use crate::config::{LOG_BURST_LINES, LOG_LINE_BYTES, LOG_LINE_FUEL, LOG_TICKS_PER_LINE};
use crate::instance::HostState;
use crate::price::charge;
use crate::text;

/// How much a line of a guest's log matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For the guest's author.
    Debug,
    /// Ordinary.
    Info,
    /// Something is odd.
    Warn,
    /// Something is wrong.
    Error,
}

/// Where a hook's log goes.
///
/// Called on the thread that calls the hook, within the call: it MUST NOT block or panic.
pub trait GuestLog: Send + Sync {
    /// One line: at most 1 KiB, without control characters.
    fn write(&self, level: LogLevel, line: &str);
    /// So many lines were dropped since the last that was written, because the hook wrote too many.
    fn dropped(&self, lines: u64);
}

/// A log that goes nowhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLog;

impl GuestLog for NoLog {
    fn write(&self, _level: LogLevel, _line: &str) {}
    fn dropped(&self, _lines: u64) {}
}

/// A hook's log and its rate, shared by all instances that the hook has in its life.
pub(crate) struct LogMeter {
    log: Arc<dyn GuestLog>,
    clock: Arc<AtomicU64>,
    last: u64,
    tokens: u64,
    dropped: u64,
}

impl LogMeter {
    pub(crate) fn new(log: Arc<dyn GuestLog>, clock: Arc<AtomicU64>) -> Self {
        let last = clock.load(Ordering::Relaxed);
        Self { log, clock, last, tokens: LOG_BURST_LINES, dropped: 0 }
    }

    /// Takes one line's worth of the rate, if there is any.
    fn admit(&mut self) -> bool {
        let earned = (self.clock.load(Ordering::Relaxed) - self.last) / LOG_TICKS_PER_LINE;
        self.last += earned * LOG_TICKS_PER_LINE;
        self.tokens = self.tokens.saturating_add(earned).min(LOG_BURST_LINES);
        match self.tokens.checked_sub(1) {
            Some(left) => {
                self.tokens = left;
                true
            }
            None => {
                self.dropped += 1;
                false
            }
        }
    }

    fn write(&mut self, level: LogLevel, line: &str) {
        self.report_dropped();
        self.log.write(level, line);
    }

    fn report_dropped(&mut self) {
        if self.dropped > 0 {
            self.log.dropped(std::mem::take(&mut self.dropped));
        }
    }
}

impl Drop for LogMeter {
    fn drop(&mut self) {
        self.report_dropped();
    }
}

/// Adds the import to a linker.
pub(crate) fn link(linker: &mut Linker<HostState>) -> Result<()> {
    linker.instance("tidegate:job/log@0.1.0")?.func_wrap("write", write)
}

fn write(mut store: StoreContextMut<'_, HostState>, (level, message): (Level, WasmStr)) -> Result<()> {
    // Paid before the rate is looked at: the rate follows real time, and fuel must not.
    let (line, bytes) = {
        let message = message.to_str(&store)?;
        (text::line(&message, LOG_LINE_BYTES), message.len())
    };
    charge(&mut store, LOG_LINE_FUEL.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX)))?;
    // The lock is the hook's own, and calls of one hook never overlap.
    let meter = Arc::clone(&store.data().log);
    let mut meter = meter.lock().unwrap_or_else(PoisonError::into_inner);
    if meter.admit() {
        meter.write(level.into(), &line);
    }
    Ok(())
}

impl From<Level> for LogLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Debug => Self::Debug,
            Level::Info => Self::Info,
            Level::Warn => Self::Warn,
            Level::Error => Self::Error,
        }
    }
}
