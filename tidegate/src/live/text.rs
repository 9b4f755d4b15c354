//! Text that fits a terminal: cleaned, measured and cut.
//!
//! What stands in a cell comes from a tenant's data. Invariant: it never holds a character that a terminal obeys.

use tidegate_formats::{format_time, write_value};
use tidegate_types::{EventTime, Millis, ValueRef, Watermark};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A value as people read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) text: String,
    /// Numbers stand at the right of their column.
    pub(super) is_number: bool,
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_number: false }
    }

    pub(super) fn of(value: ValueRef<'_>) -> Self {
        let (text, is_number) = match value {
            ValueRef::Null => ("-".to_owned(), false),
            ValueRef::Int(value) => (signed(value), true),
            ValueRef::Float(value) if value.is_nan() => ("-".to_owned(), true),
            ValueRef::Float(value) if value.abs() < 1e12 => (format!("{value:.2}"), true),
            ValueRef::Float(value) => (format!("{value:.3e}"), true),
            ValueRef::Text(value) => (clean(value), false),
            ValueRef::Bool(_) | ValueRef::Bytes(_) | ValueRef::Json(_) => {
                let mut json = Vec::new();
                write_value(&mut json, value);
                (clean(&String::from_utf8_lossy(&json)), false)
            }
        };
        Self { text, is_number }
    }
}

/// The text without characters that a terminal obeys, or that turn what follows around.
pub(crate) fn clean(text: &str) -> String {
    let obeyed = |c: char| {
        c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if obeyed(c) { '\u{fffd}' } else { c }).collect()
}

/// The columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// At most so many columns of the text; `…` at the end says that there is more.
pub(super) fn clip(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut clipped = String::new();
    let mut taken = 1;
    for c in text.chars() {
        taken += c.width().unwrap_or(0);
        if taken > columns {
            break;
        }
        clipped.push(c);
    }
    if columns > 0 {
        clipped.push('…');
    }
    clipped
}

/// The text in exactly so many columns.
pub(super) fn fit(text: &str, columns: usize, right: bool) -> String {
    let text = clip(text, columns);
    let blanks = " ".repeat(columns - width(&text));
    if right { blanks + &text } else { text + &blanks }
}

/// A count with its thousands apart: `27,004`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", count(number.unsigned_abs()))
}

/// A size: `5.6 MB`.
pub(super) fn bytes(number: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match UNITS.iter().find(|(size, _)| number >= *size) {
        Some((size, unit)) => format!("{}.{} {unit}", number / size, number % size * 10 / size),
        None => format!("{number} B"),
    }
}

/// How long something takes, to two or three digits: `40 ms`, `7.5 s`, `95 min`, `21 h 41 min`, `3.5 d`.
pub(super) fn span(duration: Millis) -> String {
    let millis = duration.0.unsigned_abs();
    let sign = if duration.0 < 0 { "-" } else { "" };
    let (seconds, minutes, hours) = (millis / 1_000, millis / 60_000, millis / 3_600_000);
    let text = match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..120_000 => format!("{seconds}.{} s", millis % 1_000 / 100),
        120_000..7_200_000 => format!("{minutes} min"),
        7_200_000..172_800_000 => format!("{hours} h {} min", minutes % 60),
        _ => format!("{}.{} d", hours / 24, hours % 24 * 10 / 24),
    };
    format!("{sign}{text}")
}

/// A time to the minute, or as exactly as it is: `2013-01-14 09:00`.
pub(super) fn time(time: EventTime) -> String {
    let text = format_time(time).replacen('T', " ", 1);
    let text = text.strip_suffix('Z').unwrap_or(&text);
    text.strip_suffix(":00").unwrap_or(text).to_owned()
}

/// A window: `2013-01-14 09:00–10:00`, with the end's date where it is another. Midnight ends the day as `24:00`.
pub(super) fn window(window: Option<(EventTime, EventTime)>) -> String {
    const DAY: EventTime = 86_400_000;
    let Some((start, end)) = window else { return "all time".to_owned() };
    if end.rem_euclid(DAY) == 0 && end.div_euclid(DAY) - 1 == start.div_euclid(DAY) {
        return format!("{}–24:00", time(start));
    }
    let (start, end) = (time(start), time(end));
    match (start.split_once(' '), end.split_once(' ')) {
        (Some((day, _)), Some((other, clock))) if day == other => format!("{start}–{clock}"),
        _ => format!("{start}–{end}"),
    }
}

/// A watermark in words.
pub(super) fn watermark(watermark: Watermark) -> String {
    match watermark {
        Watermark::MIN => "none yet".to_owned(),
        Watermark::MAX => "end of input".to_owned(),
        _ => time(watermark.as_millis()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_never_holds_what_a_terminal_obeys() {
        let cell = Cell::of(ValueRef::Text("a\u{1b}[2Jb\nc\u{202e}"));
        assert_eq!(cell.text, "a\u{fffd}[2Jb\u{fffd}c\u{fffd}");
        assert!(!Cell::of(ValueRef::Json("[\"\u{9b}\"]")).text.chars().any(char::is_control));
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(Cell::of(ValueRef::Int(i64::MIN)).text, "-9,223,372,036,854,775,808");
        assert_eq!(Cell::of(ValueRef::Int(-999)).text, "-999");
        assert_eq!(Cell::of(ValueRef::Float(41.666)).text, "41.67");
        assert_eq!((count(0), count(1000), count(27_004)), ("0".into(), "1,000".into(), "27,004".into()));
        assert_eq!((bytes(999), bytes(5_660_215)), ("999 B".into(), "5.6 MB".into()));
    }

    #[test]
    fn a_text_is_cut_by_columns_not_by_characters() {
        assert_eq!(clip("漢字漢字", 5), "漢字…");
        assert_eq!(clip("漢字", 4), "漢字");
        assert_eq!(fit("漢字漢字", 4, false), "漢… ");
        assert_eq!(fit("7", 3, true), "  7");
        assert_eq!(clip("abc", 0), "");
    }

    #[test]
    fn a_span_has_few_digits() {
        let spans = [0, 40, 7_500, 119_999, 5_700_000, 78_060_000, 302_400_000, -7_500].map(|ms| span(Millis(ms)));
        assert_eq!(spans, ["0 ms", "40 ms", "7.5 s", "119.9 s", "95 min", "21 h 41 min", "3.5 d", "-7.5 s"]);
    }

    #[test]
    fn windows_name_the_day_once() {
        let at = |text| tidegate_formats::parse_rfc3339(text).expect("a time");
        let hour = (at("2013-01-14T09:00:00Z"), at("2013-01-14T10:00:00Z"));
        assert_eq!(window(Some(hour)), "2013-01-14 09:00–10:00");
        let evening = (at("2013-01-14T23:59:30Z"), at("2013-01-15T00:00:00Z"));
        assert_eq!(window(Some(evening)), "2013-01-14 23:59:30–24:00");
        let night = (at("2013-01-14T23:00:00Z"), at("2013-01-15T01:00:00Z"));
        assert_eq!(window(Some(night)), "2013-01-14 23:00–2013-01-15 01:00");
        assert_eq!(window(None), "all time");
    }
}
