//! Times as section 1 of docs/semantics.md writes them: milliseconds, RFC 3339 in and out, durations.
//!
//! Own code for the same reason as `json`. Invariant: every readable time lies in the years 0001–9999.

use crate::json::Value;

#[cfg(test)]
mod tests;

/// Milliseconds since the epoch, wide enough that no sum of times and durations overflows; its ends are the infinities.
pub type Time = i128;

/// 0001-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z.
const YEARS: std::ops::RangeInclusive<Time> = -62_135_596_800_000..=253_402_300_799_999;

/// "an integer (ms) or an RFC 3339 string with a zone …; anything else, or a year outside 0001–9999 in UTC" is no time.
pub fn read_time(value: &Value) -> Option<Time> {
    let t = match value {
        Value::Int(n) => Time::from(*n),
        Value::Str(s) => read_rfc3339(s)?,
        _ => return None,
    };
    YEARS.contains(&t).then_some(t)
}

fn number(digits: &str) -> Option<Time> {
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// `date "T" hh:mm:ss [.digits] ("Z" | ±hh:mm)`; "fractions below a millisecond are floored".
fn read_rfc3339(s: &str) -> Option<Time> {
    let s = s.to_ascii_uppercase();
    let b = s.as_bytes();
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if b.len() < 20 || marks.iter().any(|(i, mark)| b[*i] != *mark) {
        return None;
    }
    let part = |from: usize, to: usize| number(s.get(from..to)?);
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let month_days = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let last_day = *month_days.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    if !(1..=last_day).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (millis, zone) = match s[19..].strip_prefix('.') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            let end = rest.find(|c: char| !c.is_ascii_digit())?;
            // A time is a whole number of ms plus the rest of the fraction: to cut the rest is to floor.
            (number(&format!("{:0<3}", rest[..end].get(..3).unwrap_or(&rest[..end])))?, &rest[end..])
        }
        Some(_) | None => (0, &s[19..]),
    };
    let shift = if zone == "Z" { 0 } else { read_offset(zone)? };
    let days = days_before_year(year) + month_days[..usize::try_from(month - 1).ok()?].iter().sum::<Time>() + day - 1;
    Some((((days - days_before_year(1970)) * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + millis - shift)
}

/// `±hh:mm` in milliseconds east of UTC.
fn read_offset(zone: &str) -> Option<Time> {
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let (h, m) = (number(hours)?, number(minutes)?);
    let sign = if zone.starts_with('+') {
        1
    } else if zone.starts_with('-') {
        -1
    } else {
        return None;
    };
    (hours.len() == 2 && minutes.len() == 2 && h < 24 && m < 60).then_some(sign * (h * 60 + m) * 60_000)
}

/// Days from 0000-01-01 to the first of January of a year (proleptic Gregorian).
fn days_before_year(year: Time) -> Time {
    let y = year - 1;
    366 + y * 365 + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400)
}

/// "RFC 3339 in UTC with `Z`, three digits of milliseconds only where they are not zero."
pub fn write_time(t: Time) -> Value {
    let (mut days, ms) = (t.div_euclid(86_400_000) + days_before_year(1970), t.rem_euclid(86_400_000));
    let year =
        (0..=10_000).rev().find(|y| days_before_year(*y) <= days).expect("times stay within the years that print");
    days -= days_before_year(year);
    let leap = days_before_year(year + 1) - days_before_year(year) == 366;
    let mut month = 1;
    for length in [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days >= length {
            (days, month) = (days - length, month + 1);
        } else {
            break;
        }
    }
    let (h, m, s, fraction) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
    let tail = if fraction == 0 { String::new() } else { format!(".{fraction:03}") };
    Value::Str(format!("{year:04}-{month:02}-{:02}T{h:02}:{m:02}:{s:02}{tail}Z", days + 1))
}

/// "an integer and `ms`, `s`, `m`, `h` or `d`"; the bounds of an interval join may be below zero.
pub fn read_duration(text: &str) -> Time {
    if let Some(size) = text.strip_prefix('-') {
        return -read_duration(size);
    }
    let split = text.find(|c: char| !c.is_ascii_digit()).expect("a duration has a unit");
    let unit = match &text[split..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        other => panic!("no unit of time: {other}"),
    };
    text[..split].parse::<Time>().expect("a duration begins with an integer") * unit
}
