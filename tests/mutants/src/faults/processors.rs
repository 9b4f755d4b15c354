//! Faults against section 12: processors, their state and their timers.

use super::Fault;

const ACCESS: &str = "host/dataflow/src/process/access.rs";
const TIMERS: &str = "host/dataflow/src/process/timers.rs";
const STORE: &str = "host/dataflow/src/process/store.rs";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "timer-before-expiry",
        section: "12",
        breaks: "processors: at one time a timer fires before state of that time is gone",
        file: TIMERS,
        find: "event.is_none_or(|event| at <= event.time) => Some(Due::Expiry)",
        replace: "event.is_none_or(|event| at < event.time) => Some(Due::Expiry)",
    },
    Fault {
        name: "life-counts-from-the-last-row",
        section: "12",
        breaks: "processors: a late row shortens the life of its key's state",
        file: STORE,
        find: "if self.keys.head(key).latest < Some(time) {",
        replace: "if self.keys.head(key).latest != Some(time) {",
    },
    Fault {
        name: "passed-timer-waits",
        section: "12",
        breaks: "processors: a timer set at or before the watermark does not fire before the next row",
        file: ACCESS,
        find: "self.early[index(key)] = true;",
        replace: "self.early[index(key)] = false;",
    },
    Fault {
        name: "timer-past-its-time",
        section: "12",
        breaks: "processors: an event timer at the watermark is not due yet",
        file: TIMERS,
        find: "let event = self.next_timer(key, TimerClock::Event).filter(|timer| reach.watermark.reached(timer.time));",
        replace: "let event = self.next_timer(key, TimerClock::Event).filter(|timer| reach.watermark.reached(timer.time.saturating_add(1)));",
    },
];
