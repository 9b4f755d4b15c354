//! Commands on their way to the writer: bounded by bytes, so that producers wait instead of filling the memory.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A bounded queue with many senders and one taker.
pub(crate) struct Queue<T> {
    waiting: Mutex<Waiting<T>>,
    /// Something was taken.
    room: Condvar,
    /// Something was put, or nothing more will be.
    work: Condvar,
    limit: usize,
}

struct Waiting<T> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
    closed: bool,
}

impl<T> Queue<T> {
    /// A queue that holds so many bytes; one item always fits.
    pub(crate) fn new(limit: usize) -> Self {
        let waiting = Waiting { items: VecDeque::new(), bytes: 0, closed: false };
        Self { waiting: Mutex::new(waiting), room: Condvar::new(), work: Condvar::new(), limit }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an item, once there is room. A closed queue drops it.
    pub(crate) fn put(&self, item: T, bytes: usize) {
        let full = |waiting: &mut Waiting<T>| {
            !waiting.closed && !waiting.items.is_empty() && waiting.bytes + bytes > self.limit
        };
        let mut waiting = self.room.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        if waiting.closed {
            return;
        }
        waiting.items.push_back((item, bytes));
        waiting.bytes += bytes;
        drop(waiting);
        self.work.notify_one();
    }

    /// Everything that waits, up to so many bytes and at least one item; waits for it. Empty: the queue was closed.
    ///
    /// Senders that were just answered are likely to send again: it waits for as many items as there were `answered`, beside
    /// those that wait already, but no longer than `patience`.
    pub(crate) fn take(&self, max_bytes: usize, answered: usize, patience: Duration) -> Vec<T> {
        let waiting = self.lock();
        let likely = waiting.items.len() + answered;
        let few = |waiting: &mut Waiting<T>| !waiting.closed && waiting.items.len() < likely;
        let gathered = self.work.wait_timeout_while(waiting, patience, few);
        let (waiting, _) = gathered.unwrap_or_else(PoisonError::into_inner);
        let idle = |waiting: &mut Waiting<T>| !waiting.closed && waiting.items.is_empty();
        let mut waiting = self.work.wait_while(waiting, idle).unwrap_or_else(PoisonError::into_inner);
        let mut taken = Vec::new();
        let mut bytes = 0;
        while let Some((_, next)) = waiting.items.front() {
            bytes += next;
            if !taken.is_empty() && bytes > max_bytes {
                break;
            }
            let (item, size) = waiting.items.pop_front().expect("there is a front");
            waiting.bytes -= size;
            taken.push(item);
        }
        drop(waiting);
        self.room.notify_all();
        taken
    }

    /// Lets the taker finish what waits and then find nothing.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
        self.room.notify_all();
    }

    /// There is no taker any more: drops what waits and whatever comes.
    pub(crate) fn abandon(&self) {
        self.close();
        self.lock().items.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{TryRecvError, channel};

    use super::*;

    #[test]
    fn takes_in_order_and_at_most_so_many_bytes() {
        let queue = Queue::new(100);
        for (item, bytes) in [("a", 4), ("b", 4), ("c", 4)] {
            queue.put(item, bytes);
        }
        assert_eq!(queue.take(8, 0, Duration::ZERO), ["a", "b"]);
        assert_eq!(queue.take(1, 0, Duration::ZERO), ["c"]);
        queue.put("large", 1000);
        assert_eq!(queue.take(1, 0, Duration::ZERO), ["large"]);
    }

    #[test]
    fn gathers_what_those_who_were_answered_send_again() {
        let queue = Queue::new(100);
        queue.put("waits already", 1);
        std::thread::scope(|scope| {
            scope.spawn(|| ["a", "b"].map(|item| queue.put(item, 1)));
            assert_eq!(queue.take(100, 2, Duration::from_secs(60)), ["waits already", "a", "b"]);
        });
        queue.put("alone", 1);
        assert_eq!(queue.take(100, 2, Duration::from_millis(1)), ["alone"], "patience ends");
    }

    #[test]
    fn a_closed_queue_gives_what_waits_and_then_nothing() {
        let queue = Queue::new(100);
        queue.put("a", 1);
        queue.close();
        queue.put("too late", 1);
        assert_eq!(queue.take(8, 0, Duration::ZERO), ["a"]);
        assert!(queue.take(8, 0, Duration::ZERO).is_empty());
    }

    #[test]
    fn an_abandoned_queue_drops_what_waits_and_what_comes() {
        let queue = Queue::new(100);
        let (answer, answers) = channel::<()>();
        queue.put(answer.clone(), 1);
        queue.abandon();
        queue.put(answer, 1);
        assert!(answers.recv().is_err(), "nobody is left who could answer");
    }

    #[test]
    fn a_full_queue_makes_senders_wait() {
        let queue = Queue::new(10);
        queue.put(1, 8);
        let (done, is_done) = channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                queue.put(2, 8);
                done.send(()).unwrap();
            });
            // Had the second been let in, taking everything would find both.
            assert_eq!(is_done.try_recv(), Err(TryRecvError::Empty));
            assert_eq!(queue.take(100, 0, Duration::ZERO), [1]);
            is_done.recv().unwrap();
            assert_eq!(queue.take(100, 0, Duration::ZERO), [2]);
        });
    }
}
