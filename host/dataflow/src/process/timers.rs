//! The timers of a processor's keys: what is due of them, and in which order.

use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::TimerClock;
use tidegate_types::{EventTime, NO_CLOCK};

use super::keys::KeyId;
use super::store::{Due, PendingTimer, Reach, Store};

impl Store {
    /// Whether a pending timer of any key is due.
    pub(super) fn has_due_timer(&self, reach: Reach) -> bool {
        let event = self.event.first().is_some_and(|(time, ..)| reach.watermark.reached(*time));
        let processing = self.processing.first().is_some_and(|(time, ..)| *time <= reach.clock);
        event || (processing && reach.clock != NO_CLOCK)
    }

    /// The time of the next timer that follows the clock.
    pub(super) fn next_instant(&self) -> Option<EventTime> {
        self.processing.first().map(|(time, ..)| *time)
    }

    /// Marks the keys that have a due timer and are not marked so, and returns them in the order of their encodings.
    pub(super) fn mark_due(&mut self, reach: Reach, mark: u64) -> Vec<KeyId> {
        let event = self.event.iter().take_while(|(time, ..)| reach.watermark.reached(*time));
        let processing = self.processing.iter().take_while(|(time, ..)| *time <= reach.clock);
        let mut due = Vec::new();
        for (_, key, _) in event.chain(processing) {
            let head = self.keys.head_mut(*key);
            if head.mark != mark {
                head.mark = mark;
                due.push(*key);
            }
        }
        let keys = &self.keys;
        due.sort_unstable_by(|a, b| keys.encoded(*a).cmp(keys.encoded(*b)));
        due
    }

    /// The next thing that is due for a key: in order of event time, expiries before timers, timers of one time in the order
    /// of the plan; then timers that follow the clock.
    pub(super) fn next_due(&self, key: KeyId, reach: Reach) -> Option<Due> {
        let event = self.next_timer(key, TimerClock::Event).filter(|timer| reach.watermark.reached(timer.time));
        let expiry = self.next_expiry(key).filter(|at| reach.watermark.reached(*at));
        match (expiry, event) {
            (Some(at), event) if event.is_none_or(|event| at <= event.time) => Some(Due::Expiry),
            (_, Some(event)) => Some(Due::Timer(event)),
            (_, None) => {
                let timer = self.next_timer(key, TimerClock::Processing);
                timer.filter(|timer| reach.clock != NO_CLOCK && timer.time <= reach.clock).map(Due::Timer)
            }
        }
    }

    fn next_timer(&self, key: KeyId, clock: TimerClock) -> Option<PendingTimer> {
        let timers = (0..self.clocks.len()).filter(|timer| self.clocks[*timer] == clock);
        let set = timers.filter_map(|timer| {
            let time = self.pending[self.timer_at(key, timer)]?;
            Some(PendingTimer { timer: index32(timer), clock, time })
        });
        set.min_by_key(|timer| timer.time)
    }

    /// Whether a timer of the key is due.
    pub(super) fn is_timer_due(&self, key: KeyId, reach: Reach) -> bool {
        let event = self.next_timer(key, TimerClock::Event).is_some_and(|timer| reach.watermark.reached(timer.time));
        let processing = || self.next_timer(key, TimerClock::Processing);
        event || (reach.clock != NO_CLOCK && processing().is_some_and(|timer| timer.time <= reach.clock))
    }

    /// Takes a pending timer away, because it fires.
    pub(super) fn take_timer(&mut self, key: KeyId, timer: u32) {
        let at = self.timer_at(key, index(timer));
        self.before_timer(at);
        if let Some(time) = self.pending[at].take() {
            self.queue(timer).remove(&(time, key, timer));
            self.touch_timer(at);
        }
    }
}
