//! The stored form of a window operator. A stored format: golden bytes in the tests hold it.
//!
//! Behind `namespace, key group` the keys of entries are: `window`: end, start, key; `session`: key, start, end; `slice`: key,
//! start; `fired` (windows over slices that may fire again): key, end; `identity`: key, identity; `refused`: key and row;
//! `shown` (records of several windows, one of which has shown them): number. Times are 8 bytes that compare like the times;
//! keys and identities are encodings of values, which end by themselves. Values begin with [`VERSION`].
//!
//! Timers, free places, tables that find things, and what awaits an instant are made again.

use tidegate_state::Namespace;
use tidegate_types::key::decode_value;
use tidegate_types::stored::{Malformed, Read, Stored, put_bool, put_i64, put_len, put_u64, put_value};
use tidegate_types::{EventTime, PaneInfo, PaneOp, Timing, Watermark};

use super::table::StandingPane;

mod restore;
mod write;

/// A window of one key that does not merge.
pub(super) const WINDOW: Namespace = Namespace(1);
/// A session.
pub(super) const SESSION: Namespace = Namespace(2);
/// A slice that sliding windows share.
pub(super) const SLICE: Namespace = Namespace(3);
/// A window over slices that has fired and may fire again.
pub(super) const FIRED: Namespace = Namespace(4);
/// An identity that makes equal ones duplicates.
pub(super) const IDENTITY: Namespace = Namespace(5);
/// A row that was refused because of a sum.
pub(super) const REFUSED: Namespace = Namespace(6);
/// A record of several windows that one of them has shown.
pub(super) const SHOWN: Namespace = Namespace(7);

/// The first byte of every value and of the head.
pub(super) const VERSION: u8 = 1;

/// Appends a time so that bytes compare like times.
pub(super) fn put_time(out: &mut Vec<u8>, time: EventTime) {
    out.extend_from_slice(&(time.cast_unsigned() ^ (1 << 63)).to_be_bytes());
}

/// Takes a time off the front of a key.
pub(super) fn take_time(rest: &mut &[u8]) -> Read<EventTime> {
    let (bytes, behind) = rest.split_first_chunk().ok_or(Malformed::new("a time in a key"))?;
    *rest = behind;
    Ok((u64::from_be_bytes(*bytes) ^ (1 << 63)).cast_signed())
}

/// Takes the encodings of so many values off the front of a key.
pub(super) fn take_values<'a>(rest: &mut &'a [u8], values: usize) -> Read<&'a [u8]> {
    let whole = *rest;
    for _ in 0..values {
        decode_value(rest).map_err(|_| Malformed::new("the encoding of a key"))?;
    }
    Ok(&whole[..whole.len() - rest.len()])
}

/// That nothing of a key is left.
pub(super) fn end_of_key(rest: &[u8]) -> Read<()> {
    if rest.is_empty() { Ok(()) } else { Err(Malformed::new("the end of a key")) }
}

const EARLY: u8 = 0;
const ON_TIME: u8 = 1;
const LATE: u8 = 2;

/// Appends records that stand.
pub(super) fn put_standing(out: &mut Vec<u8>, standing: &[StandingPane]) {
    put_len(out, standing.len());
    for StandingPane { info, values } in standing {
        put_bool(out, info.window.is_some());
        if let Some((start, end)) = info.window {
            put_i64(out, start);
            put_i64(out, end);
        }
        out.push(match info.timing {
            Timing::Early => EARLY,
            Timing::OnTime => ON_TIME,
            Timing::Late => LATE,
        });
        put_u64(out, info.index);
        put_bool(out, info.is_last);
        put_i64(out, info.watermark.as_millis());
        put_i64(out, info.fired_at);
        put_len(out, values.len());
        values.iter().for_each(|value| put_value(out, value.as_ref()));
    }
}

/// The records that stood.
pub(super) fn read_standing(stored: &mut Stored<'_>) -> Read<Vec<StandingPane>> {
    let mut standing = Vec::new();
    for _ in 0..stored.len()? {
        let window = if stored.bool()? { Some((stored.i64()?, stored.i64()?)) } else { None };
        let timing = match stored.byte()? {
            EARLY => Timing::Early,
            ON_TIME => Timing::OnTime,
            LATE => Timing::Late,
            _ => return Err(Malformed::new("the timing of a pane")),
        };
        let info = PaneInfo {
            window,
            timing,
            index: stored.u64()?,
            is_last: stored.bool()?,
            watermark: Watermark::at(stored.i64()?),
            op: PaneOp::Insert,
            fired_at: stored.i64()?,
        };
        let mut values = Vec::new();
        for _ in 0..stored.len()? {
            values.push(stored.value()?);
        }
        standing.push(StandingPane { info, values });
    }
    Ok(standing)
}
