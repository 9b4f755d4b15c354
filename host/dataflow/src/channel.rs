//! Channels between tasks of one process: bounded queues with credits, one sender and one receiver each.
//!
//! A sender has a credit for each free place; a task that has none left stops, and so on up to the source. Both ends wake
//! the lanes through the [`Signal`] that they share.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Wakes lanes: a count of everything that happened, and who waits for the next.
///
/// A job's signal may stand within that of the lanes which its tasks share with other jobs: what happens in the job wakes
/// these lanes, and only the job stops.
#[derive(Debug, Default)]
pub struct Signal {
    state: Mutex<SignalState>,
    changed: Condvar,
    within: Option<Arc<Self>>,
}

#[derive(Debug, Default, Clone, Copy)]
struct SignalState {
    events: u64,
    stopped: bool,
}

impl Signal {
    /// A signal that nobody waits for yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// A signal that passes on to `outer` that something happened.
    #[must_use]
    pub fn within(outer: &Arc<Self>) -> Arc<Self> {
        Arc::new(Self { within: Some(Arc::clone(outer)), ..Self::default() })
    }

    /// The number of events so far. To be read before looking at queues, and handed to [`Signal::wait`].
    #[must_use]
    pub fn events(&self) -> u64 {
        self.lock().events
    }

    /// Something happened that a waiting task may want to see.
    pub fn notify(&self) {
        self.lock().events += 1;
        self.wake();
    }

    /// Everybody is to stop: a task has failed, or somebody stopped the job. The signal around this one goes on.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.wake();
    }

    fn wake(&self) {
        self.changed.notify_all();
        if let Some(outer) = &self.within {
            outer.notify();
        }
    }

    /// Whether everybody is to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// Waits for an event after the first `seen`, for `timeout` at most.
    pub fn wait(&self, seen: u64, timeout: Option<Duration>) {
        let guard = self.lock();
        let nothing_new = |state: &mut SignalState| state.events == seen && !state.stopped;
        match timeout {
            None => drop(self.changed.wait_while(guard, nothing_new)),
            Some(timeout) => drop(self.changed.wait_timeout_while(guard, timeout, nothing_new)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Queue<T> {
    elements: VecDeque<T>,
    sender_gone: bool,
    receiver_gone: bool,
}

#[derive(Debug)]
struct Shared<T> {
    queue: Mutex<Queue<T>>,
    capacity: usize,
    signal: Arc<Signal>,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sending end. Dropping it ends the channel once its elements are taken.
#[derive(Debug)]
pub struct Sender<T>(Arc<Shared<T>>);

/// The receiving end. Dropping it makes the sender's elements go nowhere.
#[derive(Debug)]
pub struct Receiver<T>(Arc<Shared<T>>);

/// What a receiver finds.
#[derive(Debug, PartialEq, Eq)]
pub enum Received<T> {
    /// The next element.
    Element(T),
    /// None yet.
    Empty,
    /// The sender has gone and everything was taken.
    Ended,
}

/// A channel of `capacity` elements.
#[must_use]
pub fn channel<T>(capacity: usize, signal: &Arc<Signal>) -> (Sender<T>, Receiver<T>) {
    let queue = Queue { elements: VecDeque::with_capacity(capacity), sender_gone: false, receiver_gone: false };
    let shared = Arc::new(Shared { queue: Mutex::new(queue), capacity, signal: Arc::clone(signal) });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl<T> Sender<T> {
    /// Whether an element may be sent now. Only this sender takes credits, so that true stays true until it sends.
    #[must_use]
    pub fn has_credit(&self) -> bool {
        let queue = self.0.lock();
        queue.receiver_gone || queue.elements.len() < self.0.capacity
    }

    /// Sends an element, for which there MUST be a credit.
    pub fn send(&self, element: T) {
        let mut queue = self.0.lock();
        if queue.receiver_gone {
            return;
        }
        debug_assert!(queue.elements.len() < self.0.capacity, "an element was sent without credit");
        queue.elements.push_back(element);
        drop(queue);
        self.0.signal.notify();
    }

    /// Waits for credit and sends; for threads that are no lanes. False: nobody receives any more.
    pub fn send_waiting(&self, element: T) -> bool {
        loop {
            let seen = self.0.signal.events();
            if self.0.lock().receiver_gone || self.0.signal.is_stopped() {
                return false;
            }
            if self.has_credit() {
                self.send(element);
                return true;
            }
            self.0.signal.wait(seen, None);
        }
    }
}

impl<T> Receiver<T> {
    /// The next element, if there is one.
    pub fn receive(&self) -> Received<T> {
        let mut queue = self.0.lock();
        match queue.elements.pop_front() {
            Some(element) => {
                drop(queue);
                self.0.signal.notify();
                Received::Element(element)
            }
            None if queue.sender_gone => Received::Ended,
            None => Received::Empty,
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.lock().sender_gone = true;
        self.0.signal.notify();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.receiver_gone = true;
        queue.elements.clear();
        drop(queue);
        self.0.signal.notify();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_channel_has_no_credit_until_its_receiver_takes_one() {
        let signal = Signal::new();
        let (sender, receiver) = channel(2, &signal);
        sender.send(1);
        sender.send(2);
        assert!(!sender.has_credit());
        assert_eq!(receiver.receive(), Received::Element(1));
        assert!(sender.has_credit());
        drop(sender);
        assert_eq!(receiver.receive(), Received::Element(2));
        assert_eq!(receiver.receive(), Received::Ended);
    }

    #[test]
    fn an_inner_signal_wakes_the_outer_one_and_stops_alone() {
        let outer = Signal::new();
        let inner = Signal::within(&outer);
        let seen = outer.events();
        inner.notify();
        assert!(outer.events() > seen);
        let seen = outer.events();
        inner.stop();
        assert!(inner.is_stopped() && !outer.is_stopped());
        assert!(outer.events() > seen, "whoever waits for the outer signal sees that the inner one has stopped");
    }

    #[test]
    fn every_element_arrives_in_order_across_threads() {
        let signal = Signal::new();
        let (sender, receiver) = channel(3, &signal);
        let producer = std::thread::Builder::new()
            .name("producer".into())
            .spawn(move || (0..10_000).all(|element| sender.send_waiting(element)))
            .expect("a thread");
        let mut taken = Vec::new();
        loop {
            let seen = signal.events();
            match receiver.receive() {
                Received::Element(element) => taken.push(element),
                Received::Empty => signal.wait(seen, None),
                Received::Ended => break,
            }
        }
        assert!(producer.join().expect("no panic"));
        assert_eq!(taken, (0..10_000).collect::<Vec<i32>>());
    }
}
