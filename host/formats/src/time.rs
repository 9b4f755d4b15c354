//! Times as text: RFC 3339 to milliseconds and back (docs/semantics.md, 1).
//!
//! Reading is exactly the grammar of RFC 3339, section 5.6, which is narrower than what date libraries accept: seconds
//! and a zone (`Z` or `±hh:mm`) are required and nothing but `T` separates date and time. Invariants: fractions are
//! floored to milliseconds on both sides of 1970; a time that is read lies in the years 0001 to 9999 in UTC; every 64-bit
//! time can be written, and those that can be read back are written so that they are read back as themselves.

use tidegate_types::{EventTime, ValueRef};

mod calendar;
use calendar::{Civil, days_from_civil};

/// 0001-01-01T00:00:00Z.
const FIRST: EventTime = -62_135_596_800_000;
/// 9999-12-31T23:59:59.999Z.
const LAST: EventTime = 253_402_300_799_999;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The time that a value of a record stands for: integer milliseconds, or RFC 3339 text with a zone.
///
/// None for any other value, and outside the years 0001 to 9999 in UTC.
#[must_use]
pub fn parse_time(value: ValueRef<'_>) -> Option<EventTime> {
    match value {
        ValueRef::Int(millis) => in_range(millis),
        ValueRef::Text(text) => parse_rfc3339(text),
        _ => None,
    }
}

/// Reads RFC 3339 text with a zone: `2026-10-22T09:41:00Z`, `2026-10-22T11:41:00.25+02:00`.
///
/// The leap second `23:59:60` (UTC) is the second after it, as Unix time counts.
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<EventTime> {
    let (head, rest) = text.as_bytes().split_first_chunk::<19>()?;
    let Clock { date, hour, minute, second } = Clock::read(head)?;
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days_from_civil(date)?;
    let (millis, offset) = if rest == b"Z" { (0, 0) } else { fraction_and_offset(rest)? };
    let whole = days * DAY + hour * HOUR + minute * MINUTE + second * SECOND - offset;
    // A leap second ends a day of UTC, so the second that it is counted as starts one.
    if second == 60 && whole.rem_euclid(DAY) != 0 {
        return None;
    }
    in_range(whole + millis)
}

/// A date and a time of day, as far as they have their digits.
struct Clock {
    date: Civil,
    hour: i64,
    minute: i64,
    second: i64,
}

impl Clock {
    /// Reads `YYYY-MM-DDThh:mm:ss`.
    #[inline]
    fn read(text: &[u8; 19]) -> Option<Self> {
        let [y3, y2, y1, y0, b'-', o1, o0, b'-', d1, d0, b'T' | b't', h1, h0, b':', m1, m0, b':', s1, s0] = *text
        else {
            return None;
        };
        let digits = [y3, y2, y1, y0, o1, o0, d1, d0, h1, h0, m1, m0, s1, s0].map(|byte| byte.wrapping_sub(b'0'));
        // Without a way out in between, the digits are checked side by side.
        if digits.iter().fold(false, |wrong, digit| wrong | (*digit > 9)) {
            return None;
        }
        let pair = |place: usize| i64::from(10 * digits[place] + digits[place + 1]);
        let date = Civil { year: 100 * pair(0) + pair(2), month: pair(4), day: pair(6) };
        Some(Self { date, hour: pair(8), minute: pair(10), second: pair(12) })
    }
}

fn in_range(time: EventTime) -> Option<EventTime> {
    (FIRST..=LAST).contains(&time).then_some(time)
}

fn digit(byte: u8) -> Option<i64> {
    byte.is_ascii_digit().then(|| i64::from(byte - b'0'))
}

fn two_digits(tens: u8, ones: u8) -> Option<i64> {
    Some(10 * digit(tens)? + digit(ones)?)
}

/// The milliseconds of an optional fraction, and the distance of local time from UTC, ms.
fn fraction_and_offset(rest: &[u8]) -> Option<(i64, i64)> {
    let Some((b'.', rest)) = rest.split_first() else {
        return Some((0, zone_offset(rest)?));
    };
    let len = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    let (digits, zone) = rest.split_at(len);
    let mut scale = 100;
    let mut millis = 0;
    for byte in digits.iter().take(3) {
        millis += scale * digit(*byte)?;
        scale /= 10;
    }
    if len > 0 { Some((millis, zone_offset(zone)?)) } else { None }
}

/// The distance of local time from UTC, ms.
fn zone_offset(zone: &[u8]) -> Option<i64> {
    match *zone {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h0, b':', m1, m0] => {
            let (hours, minutes) = (two_digits(h1, h0)?, two_digits(m1, m0)?);
            let offset = hours * HOUR + minutes * MINUTE;
            (hours <= 23 && minutes <= 59).then_some(if sign == b'-' { -offset } else { offset })
        }
        _ => None,
    }
}

/// Writes a time as RFC 3339 in UTC; see [`write_time`].
#[must_use]
pub fn format_time(time: EventTime) -> String {
    let mut out = Vec::with_capacity(24);
    write_time(&mut out, time);
    String::from_utf8(out).expect("times are written in ASCII")
}

/// Appends a time as RFC 3339 in UTC, with three digits of milliseconds where they are not zero.
///
/// Years outside 0000 to 9999, which RFC 3339 cannot say, get a sign: `+10000-01-01T00:00:00Z`.
pub fn write_time(out: &mut Vec<u8>, time: EventTime) {
    let Civil { year, month, day } = Civil::from_days(time.div_euclid(DAY));
    let rest = time.rem_euclid(DAY);
    write_year(out, year);
    let mut text = *b"-00-00T00:00:00.000Z";
    put(&mut text, 1, month);
    put(&mut text, 4, day);
    put(&mut text, 7, rest / HOUR);
    put(&mut text, 10, rest / MINUTE % 60);
    put(&mut text, 13, rest / SECOND % 60);
    let millis = rest % SECOND;
    if millis == 0 {
        text[15] = b'Z';
        out.extend_from_slice(&text[..16]);
    } else {
        text[16] = ascii(millis / 100);
        put(&mut text, 17, millis % 100);
        out.extend_from_slice(&text);
    }
}

fn write_year(out: &mut Vec<u8>, year: i64) {
    if (0..=9_999).contains(&year) {
        out.extend_from_slice(&[ascii(year / 1_000), ascii(year / 100), ascii(year / 10), ascii(year)]);
    } else {
        let sign = if year < 0 { '-' } else { '+' };
        out.extend_from_slice(format!("{sign}{:04}", year.unsigned_abs()).as_bytes());
    }
}

/// Writes two digits at a place.
fn put(text: &mut [u8], at: usize, number: i64) {
    text[at] = ascii(number / 10);
    text[at + 1] = ascii(number);
}

/// The last decimal digit of a number that is not negative.
fn ascii(number: i64) -> u8 {
    b'0' + u8::try_from(number % 10).expect("a digit fits a byte")
}

#[cfg(test)]
mod tests;
