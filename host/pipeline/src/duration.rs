//! Durations as the file writes them: an integer and `ms`, `s`, `m`, `h` or `d`.

use tidegate_types::Millis;

use crate::node::Content;
use crate::path::quoted;

/// The longest duration, 10,000 years: a time of the years 0001–9999 and several durations still add up in 64 bits.
pub(crate) const MAX: Millis = Millis(3_652_425 * DAY);

const DAY: i64 = 86_400_000;
const UNITS: [(&str, i64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", DAY)];

/// What other notations call the units.
const OTHER_NAMES: [(&str, &str); 17] = [
    ("milliseconds", "ms"),
    ("millis", "ms"),
    ("msec", "ms"),
    ("seconds", "s"),
    ("second", "s"),
    ("secs", "s"),
    ("sec", "s"),
    ("minutes", "m"),
    ("minute", "m"),
    ("mins", "m"),
    ("min", "m"),
    ("hours", "h"),
    ("hour", "h"),
    ("hrs", "h"),
    ("hr", "h"),
    ("days", "d"),
    ("day", "d"),
];

/// Reads a duration of zero or more; the error is the reason and the mend.
pub(crate) fn from_content(content: &Content) -> Result<Millis, String> {
    match content {
        Content::Text(text) => from_text(text),
        Content::Int(number) if *number < 0 => {
            Err(format!("{number} is negative; a duration is zero or more, such as `30s`"))
        }
        Content::Int(number) => Err(format!("{number} has no unit; write `{number}ms`, or use `s`, `m`, `h` or `d`")),
        Content::Float(number) => Err(format!("{number} is no whole number with a unit; write for example `1500ms`")),
        _ => Err("a duration is needed: an integer and `ms`, `s`, `m`, `h` or `d`, such as `30s`".into()),
    }
}

/// Reads a duration that may be negative, in milliseconds; the error is the reason and the mend.
pub(crate) fn signed(content: &Content) -> Result<i64, String> {
    match content {
        Content::Text(text) => match text.strip_prefix('-') {
            Some(rest) if rest.starts_with(|first: char| first.is_ascii_digit()) => Ok(-from_text(rest)?.0),
            _ => Ok(from_text(text)?.0),
        },
        Content::Int(number) if *number < 0 => {
            Err(format!("{number} has no unit; write `{number}ms`, or use `s`, `m`, `h` or `d`"))
        }
        _ => Ok(from_content(content)?.0),
    }
}

/// Reads `30s`.
pub(crate) fn from_text(text: &str) -> Result<Millis, String> {
    let shown = quoted(text);
    let trimmed = text.trim();
    if trimmed.starts_with('-') {
        return Err(format!("{shown} is negative; a duration is zero or more, such as `30s`"));
    }
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = trimmed.split_at(digits);
    if number.is_empty() {
        return Err(format!("{shown} is no duration; write an integer and `ms`, `s`, `m`, `h` or `d`, such as `30s`"));
    }
    if unit.is_empty() {
        return Err(format!("{shown} has no unit; write `{number}ms`, or use `s`, `m`, `h` or `d`"));
    }
    let Some((_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(wrong_unit(&shown, number, unit));
    };
    if text != trimmed {
        return Err(format!("{shown} has spaces around it; write `{number}{unit}`"));
    }
    let millis = number.parse::<i64>().ok().and_then(|number| number.checked_mul(*factor));
    match millis {
        Some(millis) if millis <= MAX.0 => Ok(Millis(millis)),
        _ => Err(format!("{shown} is too long; a duration is at most {MAX} (10,000 years)")),
    }
}

/// Why a unit is none, with the mend where it can be guessed.
fn wrong_unit(shown: &str, number: &str, unit: &str) -> String {
    let number = crate::path::shown(number);
    let lower = unit.trim().to_lowercase();
    if unit.starts_with('.') {
        return format!("{shown} has a fraction; write a whole number of a smaller unit, such as `1500ms`");
    }
    let known = UNITS.iter().map(|(name, _)| *name).find(|name| *name == lower);
    let renamed = || OTHER_NAMES.iter().find(|(name, _)| *name == lower).map(|(_, unit)| *unit);
    match known.or_else(renamed) {
        Some(unit) => format!("{shown} is no duration; write `{number}{unit}`"),
        None => {
            format!("{shown} has no unit that is known; write an integer and `ms`, `s`, `m`, `h` or `d`, such as `30s`")
        }
    }
}
