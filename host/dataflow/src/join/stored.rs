//! Kept rows as they are stored: one entry for each.
//!
//! A stored format. Key: the prefix of the side's namespace and the key's group; the row's encoded key after its length; its
//! time and its number in order of arrival, big-endian, so that a key's rows stand in order. Value: a version, flags, the
//! values that pairs show, and the copy of the row's record if one is kept.

use tidegate_pipeline::JoinSide;
use tidegate_state::{Changes, Namespace, group_of, put_prefix};
use tidegate_types::key::decode_value;
use tidegate_types::stored::{Malformed, Read, Stored, put_bytes, put_i64, put_len, put_u64, put_value};
use tidegate_types::time::is_record_time;
use tidegate_types::{EventTime, Origin, Value, ValueRef, Watermark, key_group, key_hash};

use super::Both;
use super::buffer::{Kept, Place};
use super::core::{Core, record_of};
use super::keys::{KeyId, KeyTable};
use super::packed::{RowValues, pack_values};
use crate::changed::Mark;

const LEFT: Namespace = Namespace(1);
const RIGHT: Namespace = Namespace(2);
const VERSION: u8 = 1;

/// The row has met a partner.
const MATCHED: u8 = 1;
/// A copy of its record follows the values.
const HAS_RECORD: u8 = 2;
/// A source read the record: its partition and offset come first.
const WAS_READ: u8 = 4;

/// Numbers in order of arrival stay below this, so that a restored operator can go on counting.
const MOST_ARRIVALS: u64 = 1 << 62;

/// Names a kept row.
pub(super) struct Entry<'a> {
    pub(super) side: JoinSide,
    pub(super) keys: &'a KeyTable,
    pub(super) max_parallelism: u32,
    pub(super) key: KeyId,
    pub(super) place: Place,
}

impl Entry<'_> {
    /// The entry's key.
    pub(super) fn key(&self, out: &mut Vec<u8>) {
        let namespace = match self.side {
            JoinSide::Left => LEFT,
            JoinSide::Right => RIGHT,
        };
        put_prefix(out, namespace, key_group(self.keys.hash(self.key), self.max_parallelism));
        put_bytes(out, self.keys.encoded(self.key));
        out.extend_from_slice(&(self.place.0.cast_unsigned() ^ (1 << 63)).to_be_bytes());
        out.extend_from_slice(&self.place.1.to_be_bytes());
    }

    /// Writes the entry.
    pub(super) fn put(&self, kept: &Kept, changes: &mut Changes) {
        changes.put(|out| self.key(out), |out| put_kept(out, kept));
    }
}

fn put_kept(out: &mut Vec<u8>, kept: &Kept) {
    let read = kept.origin.as_ref().and_then(|origin| Some((origin.partition(0), origin.offset(0)?)));
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    out.push(VERSION);
    out.push(flag(kept.matched, MATCHED) | flag(kept.origin.is_some(), HAS_RECORD) | flag(read.is_some(), WAS_READ));
    let mut values = 0;
    RowValues::Kept(&kept.packed).for_each(0, |_, _| values += 1);
    put_len(out, values);
    RowValues::Kept(&kept.packed).for_each(values, |_, value| put_value(out, value));
    if let Some((partition, offset)) = read {
        put_value(out, partition);
        put_u64(out, offset);
    }
    if let Some(origin) = &kept.origin {
        put_bytes(out, &Origin::record(origin, 0));
    }
}

/// A row's key and place.
fn read_key(rest: &[u8], fields: usize) -> Read<(&[u8], Place)> {
    let mut stored = Stored::new(rest);
    let encoded = stored.bytes()?;
    let mut values = encoded;
    for _ in 0..fields {
        decode_value(&mut values).map_err(|_| Malformed::new("a row's key"))?;
    }
    let mut eight = || Ok(u64::from_be_bytes(stored.take(8)?.try_into().map_err(|_| Malformed::new("8 bytes"))?));
    let (time, arrival) = ((eight()? ^ (1 << 63)).cast_signed(), eight()?);
    stored.end()?;
    if !values.is_empty() || !is_record_time(time) || arrival >= MOST_ARRIVALS {
        return Err(Malformed::new("a kept row's place"));
    }
    Ok((encoded, (time, arrival)))
}

/// A row of so many values.
fn read_kept(value: &[u8], values: usize) -> Read<Kept> {
    let mut stored = Stored::new(value);
    let (version, flags) = (stored.byte()?, stored.byte()?);
    if version != VERSION || flags > 7 || flags & (HAS_RECORD | WAS_READ) == WAS_READ || stored.len()? != values {
        return Err(Malformed::new("a kept row of version 1"));
    }
    let shown: Vec<Value> = (0..values).map(|_| stored.value()).collect::<Read<_>>()?;
    let read = if flags & WAS_READ == 0 { None } else { Some((stored.value()?, stored.u64()?)) };
    let record = if flags & HAS_RECORD == 0 { None } else { Some(record_of(stored.bytes()?.to_vec(), read)) };
    stored.end()?;
    Ok(Kept {
        packed: pack_values(shown.iter().map(|value| -> ValueRef<'_> { value.as_ref() })),
        origin_bytes: record.as_ref().map_or(0, |(_, bytes)| *bytes),
        origin: record.map(|(origin, _)| origin),
        matched: flags & MATCHED != 0,
        mark: Mark::STORED,
    })
}

impl Core {
    pub(super) fn keep_changes(&mut self) {
        self.buffers.left.changed.keep();
        self.buffers.right.changed.keep();
    }

    pub(super) fn freeze(&mut self) {
        self.buffers.left.changed.freeze();
        self.buffers.right.changed.freeze();
    }

    /// Writes about so many frozen entries. Returns whether all are written.
    pub(super) fn write(&mut self, mut entries: usize, changes: &mut Changes) -> bool {
        [JoinSide::Left, JoinSide::Right].into_iter().all(|side| self.write_side(side, &mut entries, changes))
    }

    fn write_side(&mut self, side: JoinSide, entries: &mut usize, changes: &mut Changes) -> bool {
        let Self { keys, buffers, max_parallelism, .. } = self;
        let buffer = buffers.of_mut(side);
        if !buffer.changed.hand_out(entries, changes) {
            return false;
        }
        while *entries > 0 {
            let Some(row) = buffer.changed.next_frozen() else { return true };
            *entries -= 1;
            if let (Some(kept), changed) = buffer.row_mut(&row)
                && changed.take(&mut kept.mark, true)
            {
                let place = (row.1, row.2);
                Entry { side, keys, max_parallelism: *max_parallelism, key: row.0, place }.put(kept, changes);
            }
        }
        !buffer.changed.has_frozen()
    }

    pub(super) fn write_head(&self, out: &mut Vec<u8>) {
        out.push(VERSION);
        put_i64(out, self.watermark.as_millis());
        put_i64(out, self.clock);
        put_u64(out, self.arrivals);
    }

    pub(super) fn restore_head(&mut self, head: &mut Stored<'_>) -> Read<()> {
        if head.byte()? != VERSION {
            return Err(Malformed::new("the head of a join of version 1"));
        }
        self.watermark = self.watermark.max(Watermark::at(head.i64()?));
        let clock: EventTime = head.i64()?;
        self.clock = self.clock.max(clock);
        self.arrivals = self.arrivals.max(head.u64()?);
        if self.arrivals >= MOST_ARRIVALS { Err(Malformed::new("a number of rows")) } else { Ok(()) }
    }

    /// `fields`: of each side's key.
    pub(super) fn restore(&mut self, key: &[u8], value: &[u8], fields: &Both<usize>) -> Read<()> {
        let (namespace, _, rest) = group_of(key)?;
        let side = match namespace {
            LEFT => JoinSide::Left,
            RIGHT => JoinSide::Right,
            _ => return Err(Malformed::new("a namespace of a join")),
        };
        let (encoded, place) = read_key(rest, *fields.of(side))?;
        let kept = read_kept(value, self.fields.of(side).len())?;
        let key = self.keys.add_row(key_hash(encoded), encoded);
        if self.buffers.of(side).has(&(key, place.0, place.1)) {
            return Err(Malformed::new("a row that is kept once"));
        }
        self.arrivals = self.arrivals.max(place.1);
        self.buffers.of_mut(side).insert(key, place, kept);
        Ok(())
    }
}
