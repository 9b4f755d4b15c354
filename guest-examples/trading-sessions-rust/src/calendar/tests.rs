//! Days by hand: New York around the end of summer time, Thanksgiving, and the half day after it.

use super::*;
use crate::sessions::tests::CONFIG;

const HOUR: i64 = 60 * MINUTE;

fn calendar() -> Calendar {
    Calendar::new(&serde_json::from_str(CONFIG).unwrap()).unwrap()
}

/// Midnight UTC of a day of 2026.
fn midnight(text: &str) -> i64 {
    Date::try_from(format!("2026-{text}")).unwrap().0 * DAY
}

#[test]
fn a_day_begins_at_local_midnight_by_the_offset_of_its_date() {
    let calendar = calendar();
    // Friday, October 30: four hours behind UTC. Monday, November 2: five.
    for (day, offset) in [("10-30", 4), ("11-02", 5)] {
        let noon = calendar.trading_day(midnight(day) + 17 * HOUR).unwrap();
        assert_eq!(noon.midnight, midnight(day) + offset * HOUR);
        assert_eq!(calendar.trading_day(noon.midnight), Some(noon));
        assert_ne!(calendar.trading_day(noon.midnight - 1), Some(noon));
    }
}

#[test]
fn weekends_and_holidays_are_no_trading_days() {
    for day in ["11-26", "11-28", "11-29"] {
        assert_eq!(calendar().trading_day(midnight(day) + 17 * HOUR), None, "{day}");
    }
}

#[test]
fn a_half_day_closes_early() {
    let days = ["11-25", "11-27"].map(|day| calendar().trading_day(midnight(day) + 17 * HOUR).unwrap());
    assert_eq!(days.map(|day| (day.closes_early, day.hours.closes)), [(false, 16 * 60), (true, 13 * 60)]);
}

#[test]
fn the_first_offset_holds_before_its_day() {
    let day = calendar().trading_day(Date(10_000).0 * DAY + 17 * HOUR);
    // 1997-05-19, a Monday.
    assert_eq!(day.map(|day| (day.date, day.midnight)), Some((Date(10_000), 10_000 * DAY + 4 * HOUR)));
}
