//! The instants of processing time at which `every N processing_time` fires: the epoch-aligned multiples of N
//! (docs/semantics.md, 4).

use tidegate_types::{EventTime, Millis, NO_CLOCK};

/// The first multiple of `every` after `clock`. Of a clock that stands nowhere yet, none is known: the caller's clock
/// starts at its first reading, and that instant itself counts.
#[must_use]
pub const fn next_instant(clock: EventTime, every: Millis) -> EventTime {
    clock.div_euclid(every.0).saturating_add(1).saturating_mul(every.0)
}

/// The first multiple of `every` on the clock's way from `from` (exclusive) to `to` (inclusive).
///
/// Between two records nothing new arrives, so that only the first instant on the way can fire anything.
/// A clock that starts (`from` is [`NO_CLOCK`]) passes no instant but the one at which it starts.
#[must_use]
pub fn ticks_within(from: EventTime, to: EventTime, every: Millis) -> Option<EventTime> {
    let next =
        if from == NO_CLOCK { (to.rem_euclid(every.0) == 0).then_some(to) } else { Some(next_instant(from, every)) };
    next.filter(|instant| *instant <= to && *instant > from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_multiples_and_the_start_is_exclusive() {
        assert_eq!(ticks_within(0, 9, Millis(10)), None);
        assert_eq!(ticks_within(0, 10, Millis(10)), Some(10));
        assert_eq!(ticks_within(10, 10, Millis(10)), None);
        assert_eq!(ticks_within(-11, 35, Millis(10)), Some(-10));
        assert_eq!(ticks_within(NO_CLOCK, 35, Millis(10)), None);
        assert_eq!(ticks_within(NO_CLOCK, 30, Millis(10)), Some(30));
    }
}
