//! The members that say how new a result is and when it was made (docs/tables.md, "Versions").

use tidegate_types::{EventTime, NO_CLOCK, Stamping, Timing, Version, Watermark};

use super::write::{write_int, write_unsigned};
use crate::time::write_time;

/// Appends the stamps that a sink's records bear, each with a comma before it.
///
/// `made_at`: the clock at the firing, or [`NO_CLOCK`], which is written as null.
pub fn write_stamps(out: &mut Vec<u8>, stamping: &Stamping, pane_index: u64, timing: Timing, made_at: EventTime) {
    if stamping.stamp.version {
        write_version(out, stamping.version(pane_index));
    }
    if stamping.stamp.completeness {
        out.extend_from_slice(b",\"completeness\":\"");
        out.extend_from_slice(timing.completeness().as_bytes());
        out.push(b'"');
    }
    if stamping.stamp.generated_at {
        write_time_member(out, b",\"generated_at\":", Some(made_at).filter(|at| *at != NO_CLOCK));
    }
}

fn write_version(out: &mut Vec<u8>, version: Version) {
    out.extend_from_slice(b",\"version\":{\"precedence\":");
    write_int(out, i64::from(version.precedence));
    out.extend_from_slice(b",\"restore_epoch\":");
    write_unsigned(out, version.restore_epoch);
    out.extend_from_slice(b",\"pane_index\":");
    write_unsigned(out, version.pane_index);
    out.push(b'}');
}

/// Appends a label and a time as text, or null.
pub(super) fn write_time_member(out: &mut Vec<u8>, label: &[u8], time: Option<EventTime>) {
    out.extend_from_slice(label);
    if let Some(time) = time {
        out.push(b'"');
        write_time(out, time);
        out.push(b'"');
    } else {
        out.extend_from_slice(b"null");
    }
}

/// Appends the watermark's member; null for both infinities.
pub(super) fn write_watermark_member(out: &mut Vec<u8>, watermark: Watermark) {
    write_time_member(out, b"\"watermark\":", watermark.finite());
}
