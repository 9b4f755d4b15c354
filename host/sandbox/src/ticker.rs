//! Moves the engine's epoch every 10 ms: the clock of the wall-clock backstop and of the log's rate.
//!
//! This is the one place in the host's hooks that follows real time, and no result depends on it: an epoch interrupts a
//! call, which is then made again, and a log line more or less changes nothing. The thread ends with its owner.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};

use wasmtime::Engine;

use crate::config::TICK;

/// Owns the ticking thread.
pub(crate) struct Ticker {
    ticks: Arc<AtomicU64>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Starts to tick.
    pub(crate) fn start(engine: Engine) -> std::io::Result<Self> {
        let ticks = Arc::new(AtomicU64::new(0));
        let (stop, stopped) = channel();
        let counter = Arc::clone(&ticks);
        let thread = Builder::new().name("sandbox-ticker".into()).spawn(move || tick(&engine, &counter, &stopped))?;
        Ok(Self { ticks, stop: Some(stop), thread: Some(thread) })
    }

    /// Ticks since the start.
    pub(crate) fn ticks(&self) -> &Arc<AtomicU64> {
        &self.ticks
    }
}

fn tick(engine: &Engine, ticks: &AtomicU64, stopped: &Receiver<()>) {
    while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        ticks.fetch_add(1, Ordering::Relaxed);
        engine.increment_epoch();
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // Without its sender the receiver wakes at once.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A ticker cannot panic; if it did, its owner is going away all the same.
            drop(thread.join());
        }
    }
}
