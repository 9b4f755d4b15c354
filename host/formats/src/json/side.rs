//! Records that went to a side output (too late, duplicate, rejected), as JSON lines (docs/local-run.md).
//!
//! Invariant: each is one line, and its `record` is the input as it was: JSON is embedded byte for byte, but for line
//! breaks between its tokens, which become blanks; anything else becomes text, with U+FFFD where it is no UTF-8.

use tidegate_types::time::is_record_time;
use tidegate_types::{EventTime, ValueRef};

use super::scan::is_json;
use super::write::{write_string, write_unsigned, write_value};
use crate::time::write_time;

/// What a side output says of one record.
#[derive(Debug, Clone, Copy, Default)]
pub struct SideRecord<'a> {
    /// `too-late`, `duplicate`, or the code of the rejection.
    pub reason: &'a str,
    /// What the record's partition is called.
    pub partition: ValueRef<'a>,
    /// The record's offset in its partition. None is written as null.
    pub offset: Option<u64>,
    /// The record's bytes. None is written as null.
    pub record: Option<&'a [u8]>,
    /// What was wrong. From here on, what is none or empty is left out.
    pub detail: Option<&'a str>,
    /// The id of the operator that refused the record.
    pub operator: Option<&'a str>,
    /// The key's fields and their values.
    pub key: &'a [(&'a str, ValueRef<'a>)],
    /// The window's bounds, ms.
    pub window: Option<(EventTime, EventTime)>,
    /// The timer's name, and the time that it was set to, ms.
    pub timer: Option<(&'a str, EventTime)>,
    /// The digest of the component whose hook refused the record.
    pub component: Option<&'a str>,
    /// Fuel that the hook's call used.
    pub fuel_used: Option<u64>,
}

/// Appends one line: a JSON object and a line feed.
pub fn encode_side_record(side: &SideRecord<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"reason\":");
    write_string(out, side.reason);
    out.extend_from_slice(b",\"partition\":");
    write_value(out, side.partition);
    out.extend_from_slice(b",\"offset\":");
    match side.offset {
        Some(offset) => write_unsigned(out, offset),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"record\":");
    match side.record {
        Some(record) => write_record(out, record),
        None => out.extend_from_slice(b"null"),
    }
    write_text(out, b",\"detail\":", side.detail);
    write_text(out, b",\"operator\":", side.operator);
    write_key(out, side.key);
    if let Some((start, end)) = side.window {
        out.extend_from_slice(b",\"window_start\":\"");
        write_time(out, start);
        out.extend_from_slice(b"\",\"window_end\":\"");
        write_time(out, end);
        out.push(b'"');
    }
    if let Some((name, time)) = side.timer {
        write_text(out, b",\"timer\":", Some(name));
        write_timer_time(out, time);
    }
    write_text(out, b",\"component\":", side.component);
    if let Some(fuel) = side.fuel_used {
        out.extend_from_slice(b",\"fuel_used\":");
        write_unsigned(out, fuel);
    }
    out.extend_from_slice(b"}\n");
}

/// A guest may set a timer to any integer: one that is no time of a record is written as the integer.
fn write_timer_time(out: &mut Vec<u8>, time: EventTime) {
    out.extend_from_slice(b",\"time\":");
    if is_record_time(time) {
        out.push(b'"');
        write_time(out, time);
        out.push(b'"');
    } else {
        write_value(out, ValueRef::Int(time));
    }
}

fn write_text(out: &mut Vec<u8>, label: &[u8], text: Option<&str>) {
    if let Some(text) = text {
        out.extend_from_slice(label);
        write_string(out, text);
    }
}

fn write_key(out: &mut Vec<u8>, key: &[(&str, ValueRef<'_>)]) {
    if key.is_empty() {
        return;
    }
    out.extend_from_slice(b",\"key\":");
    let mut before = b'{';
    for (name, value) in key {
        out.push(before);
        write_string(out, name);
        out.push(b':');
        write_value(out, *value);
        before = b',';
    }
    out.push(b'}');
}

fn write_record(out: &mut Vec<u8>, record: &[u8]) {
    if is_json(record) {
        let place = out.len();
        out.extend_from_slice(record.trim_ascii());
        // A line break inside valid JSON stands between tokens.
        for byte in &mut out[place..] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    } else {
        write_string(out, &String::from_utf8_lossy(record));
    }
}

#[cfg(test)]
mod tests;
