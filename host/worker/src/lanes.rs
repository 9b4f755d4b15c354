//! The lanes of one tenant: as many threads as its quota allows, shared by all its jobs and by no other tenant's.
//!
//! The kernel's scheduler shares the machine between tenants; within a tenant its lanes take its tasks in turn. A hook that
//! spins delays its own tenant only. Dropping the lanes stops every run on them and waits for the threads.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::thread::JoinHandle;

use tidegate_dataflow::channel::Signal;
use tidegate_types::Clock;

use crate::lane::{self, Inbox, Slot};

/// Threads that step tasks.
pub struct Lanes {
    /// Wakes every lane.
    signal: Arc<Signal>,
    lanes: Vec<Lane>,
}

struct Lane {
    inbox: Arc<Inbox>,
    thread: Option<JoinHandle<()>>,
}

impl Lanes {
    /// Starts `count` lanes. `name` stands in the names of their threads; `clock` is none under a virtual clock.
    ///
    /// # Errors
    /// If a thread cannot be started; those that were started have ended.
    pub fn start(name: &str, count: NonZeroU32, clock: Option<&Arc<dyn Clock>>) -> std::io::Result<Self> {
        let mut lanes = Self { signal: Signal::new(), lanes: Vec::new() };
        for place in 0..count.get() {
            let inbox = Arc::new(Inbox::default());
            let name = format!("{name}{place}");
            let thread = lane::start(name, Arc::clone(&inbox), Arc::clone(&lanes.signal), clock.cloned())?;
            lanes.lanes.push(Lane { inbox, thread: Some(thread) });
        }
        Ok(lanes)
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lanes.len()
    }

    /// How many tasks are on them.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.lanes.iter().map(|lane| lane.inbox.load()).sum()
    }

    /// A signal of a job whose tasks run on these lanes.
    pub(crate) fn job_signal(&self) -> Arc<Signal> {
        Signal::within(&self.signal)
    }

    /// Puts groups of tasks onto lanes: each group together, on the lane that has the fewest tasks.
    pub(crate) fn add(&self, groups: Vec<Vec<Slot>>) {
        for group in groups {
            let lane = self.lanes.iter().min_by_key(|lane| lane.inbox.load());
            lane.expect("there is at least one lane").inbox.add(group);
        }
        self.signal.notify();
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        for lane in &self.lanes {
            lane.inbox.close();
        }
        self.signal.notify();
        for lane in &mut self.lanes {
            if let Some(thread) = lane.thread.take() {
                // A lane catches the panics of its tasks. One of its own is a defect that was reported where it happened, and
                // whose runs have failed.
                drop(thread.join());
            }
        }
    }
}

#[cfg(test)]
mod tests;
