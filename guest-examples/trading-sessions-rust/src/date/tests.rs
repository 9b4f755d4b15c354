//! Days against known ones, and there and back.

use super::*;

fn date(text: &str) -> Date {
    Date::try_from(text.to_owned()).unwrap()
}

#[test]
fn days_are_counted_from_1970() {
    for (text, days) in [("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11_016), ("2026-11-27", 20_784)] {
        assert_eq!((date(text).0, date(text).to_string().as_str()), (days, text));
    }
}

#[test]
fn every_day_of_four_centuries_is_written_as_it_is_read() {
    for days in -80_000..80_000 {
        assert_eq!(date(&Date(days).to_string()), Date(days));
    }
}

#[test]
fn weekdays_are_those_of_the_calendar() {
    for (text, weekday) in [("1970-01-01", "thursday"), ("2026-11-26", "thursday"), ("1969-12-31", "wednesday")] {
        assert_eq!(WEEKDAYS[date(text).weekday()], weekday);
    }
}

#[test]
fn what_is_no_day_or_time_is_refused() {
    for text in ["2026-02-29", "2026-13-01", "2026-1-1", "26-01-01", "2026-00-10", "2026-01-00", "+026-01-01", ""] {
        assert!(Date::try_from(text.to_owned()).is_err(), "{text}");
    }
    for text in ["9:30", "24:01", "09:60", "0930", "-1:30", "noon"] {
        assert!(TimeOfDay::try_from(text.to_owned()).is_err(), "{text}");
    }
    assert_eq!(TimeOfDay::try_from("24:00".to_owned()), Ok(TimeOfDay(1_440)));
}
