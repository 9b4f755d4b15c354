//! A lane: one thread of a tenant that steps that tenant's tasks in turn.
//!
//! Everything done for a tenant (decoding, hooks, state) is on its lanes. A lane that has nothing to do waits for its
//! queues or for the instant at which something falls due; it never polls.

use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use tidegate_dataflow::channel::Signal;
use tidegate_dataflow::task::{Progress, Task, TaskError};
use tidegate_types::{Clock, EventTime};

/// The stack of a lane, bytes: a guest's own 512 KiB, what hooks need besides, and room.
const STACK_BYTES: usize = 8 << 20;

/// Starts a lane that steps these tasks until all have finished or one has failed.
///
/// `clock` is none under a virtual clock.
///
/// # Errors
/// If the thread cannot be started.
pub(crate) fn start(
    name: String,
    tasks: Vec<Box<dyn Task>>,
    signal: Arc<Signal>,
    clock: Option<Arc<dyn Clock>>,
) -> std::io::Result<JoinHandle<Result<(), TaskError>>> {
    Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || {
        let guard = StopOnPanic(Arc::clone(&signal));
        let result = drive(tasks, &signal, clock.as_deref());
        drop(guard);
        if result.is_err() {
            signal.stop();
        }
        result
    })
}

/// Stops the other lanes if this one panics: they would wait for it for ever.
struct StopOnPanic(Arc<Signal>);

impl Drop for StopOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

fn drive(mut tasks: Vec<Box<dyn Task>>, signal: &Signal, clock: Option<&dyn Clock>) -> Result<(), TaskError> {
    while !tasks.is_empty() && !signal.is_stopped() {
        let seen = signal.events();
        let now = clock.map(Clock::now);
        let mut worked = false;
        let mut until: Option<EventTime> = None;
        let mut place = 0;
        while place < tasks.len() {
            match tasks[place].step(now)? {
                Progress::Worked => worked = true,
                Progress::Waiting { until: due } => {
                    until = match (until, due) {
                        (Some(a), Some(b)) => Some(a.min(b)),
                        (a, b) => a.or(b),
                    };
                }
                Progress::Finished => {
                    tasks.remove(place);
                    worked = true;
                    continue;
                }
            }
            place += 1;
        }
        if !worked {
            signal.wait(seen, wait_time(now, until));
        }
    }
    Ok(())
}

/// How long to wait for an instant.
fn wait_time(now: Option<EventTime>, until: Option<EventTime>) -> Option<Duration> {
    let millis = until?.saturating_sub(now?).max(1);
    Some(Duration::from_millis(u64::try_from(millis).unwrap_or(1)))
}

#[cfg(test)]
mod tests;
