//! A lane: one thread of a tenant that steps that tenant's tasks in turn, whichever of its jobs they are of.
//!
//! Everything done for a tenant (decoding, hooks, state) is on its lanes. A lane that has nothing to do waits for its
//! queues or for the instant at which something falls due; it never polls. A task that fails or panics ends its job, and
//! leaves the tasks of other jobs where they are.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use tidegate_dataflow::channel::Signal;
use tidegate_dataflow::task::{Progress, Task};
use tidegate_types::{Clock, EventTime};

use crate::run::RunError;
use crate::state::{Early, Member};

/// The stack of a lane, bytes: a guest's own 512 KiB, what hooks need besides, and room.
const STACK_BYTES: usize = 8 << 20;

/// A task on a lane. Its fields are dropped in this order.
pub(crate) struct Slot {
    pub(crate) task: Box<dyn Task>,
    pub(crate) member: Member,
    /// Whether it goes on when the run ends early: the sinks, which write what was emitted.
    pub(crate) outlives: bool,
}

/// A lane's inbox: how tasks get onto it.
#[derive(Default)]
pub(crate) struct Inbox {
    slots: Mutex<Vec<Slot>>,
    /// Tasks on the lane and in the inbox.
    load: AtomicUsize,
    closing: AtomicBool,
}

impl Inbox {
    /// Puts tasks onto the lane. The signal is to be notified afterwards.
    pub(crate) fn add(&self, slots: Vec<Slot>) {
        self.load.fetch_add(slots.len(), Ordering::Relaxed);
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).extend(slots);
    }

    pub(crate) fn load(&self) -> usize {
        self.load.load(Ordering::Acquire)
    }

    /// The lane is to end: the runs of its tasks are stopped. The signal is to be notified afterwards.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    fn take(&self) -> Vec<Slot> {
        std::mem::take(&mut *self.slots.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }
}

/// Starts a lane that steps the tasks of its inbox until it is closed and they have left.
///
/// `clock` is none under a virtual clock.
///
/// # Errors
/// If the thread cannot be started.
pub(crate) fn start(
    name: String,
    inbox: Arc<Inbox>,
    signal: Arc<Signal>,
    clock: Option<Arc<dyn Clock>>,
) -> std::io::Result<JoinHandle<()>> {
    let drive = move || drive(&inbox, &signal, clock.as_deref());
    Builder::new().name(name).stack_size(STACK_BYTES).spawn(drive)
}

fn drive(inbox: &Inbox, signal: &Signal, clock: Option<&dyn Clock>) {
    let mut slots: Vec<Slot> = Vec::new();
    loop {
        let seen = signal.events();
        let closing = inbox.is_closing();
        slots.extend(inbox.take());
        if closing && slots.is_empty() {
            return;
        }
        if closing {
            slots.iter().for_each(|slot| slot.member.run.end(Early::Stopped));
        }
        let now = clock.map(Clock::now);
        let passed = pass(&mut slots, &inbox.load, now);
        if !passed.worked {
            signal.wait(seen, wait_time(now, passed.until));
        }
    }
}

/// What came of stepping every task once.
#[derive(Default)]
struct Passed {
    worked: bool,
    until: Option<EventTime>,
}

fn pass(slots: &mut Vec<Slot>, load: &AtomicUsize, now: Option<EventTime>) -> Passed {
    let mut passed = Passed::default();
    let mut place = 0;
    while place < slots.len() {
        match step(&mut slots[place], now) {
            Some(Progress::Waiting { until: due }) => {
                passed.until = match (passed.until, due) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                place += 1;
            }
            Some(Progress::Worked) => {
                passed.worked = true;
                place += 1;
            }
            Some(Progress::Finished) | None => {
                // First, so that whoever sees the run's end sees the lane without it.
                load.fetch_sub(1, Ordering::Release);
                leave(slots.remove(place));
                passed.worked = true;
            }
        }
    }
    passed
}

/// One step of a task; none if it is to leave the lane without having finished.
fn step(slot: &mut Slot, now: Option<EventTime>) -> Option<Progress> {
    let run = &slot.member.run;
    if run.is_ending() && !slot.outlives {
        return None;
    }
    // The task is dropped after a panic, so nobody sees what it left half done.
    match catch_unwind(AssertUnwindSafe(|| slot.task.step(now))) {
        Ok(Ok(progress)) => {
            slot.member.finished = progress == Progress::Finished;
            Some(progress)
        }
        Ok(Err(error)) => {
            run.end(Early::Failed(RunError::Task(error)));
            None
        }
        Err(_) => {
            run.end(Early::Failed(RunError::Panicked));
            None
        }
    }
}

/// Drops a task. One that panics even now must not take the lane with it.
fn leave(slot: Slot) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(slot)));
}

/// How long to wait for an instant.
fn wait_time(now: Option<EventTime>, until: Option<EventTime>) -> Option<Duration> {
    let millis = until?.saturating_sub(now?).max(1);
    Some(Duration::from_millis(u64::try_from(millis).unwrap_or(1)))
}
