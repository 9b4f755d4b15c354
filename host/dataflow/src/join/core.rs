//! What every join keeps: the rows of both inputs, their keys, and how far the operator has come.

use std::sync::Arc;

use tidegate_pipeline::JoinSide;
use tidegate_types::batch::index32;
use tidegate_types::{EventTime, MadeRecords, NO_CLOCK, Origin, ReadRecords, Value, Watermark};

use super::buffer::{Buffer, Kept};
use super::emitter::{About, Emitter};
use super::keys::{KeyId, KeyTable};
use super::packed::{RowValues, pack};
use super::round::Round;
use super::stored::Entry;
use super::{Arriving, Both};
use crate::changed::Mark;

pub(super) struct Core {
    /// The fields that pairs show of each input's rows.
    pub(super) fields: Both<Vec<String>>,
    pub(super) keys: KeyTable,
    pub(super) buffers: Both<Buffer>,
    pub(super) emitter: Emitter,
    pub(super) watermark: Watermark,
    pub(super) clock: EventTime,
    /// Whether a dead letter may have to show the record of a kept row.
    blames_kept_rows: Both<bool>,
    /// How many rows were kept: the order of arrival.
    pub(super) arrivals: u64,
    pub(super) max_parallelism: u32,
}

impl Core {
    pub(super) fn new(
        fields: Both<Vec<String>>,
        blames_kept_rows: Both<bool>,
        emitter: Emitter,
        max_parallelism: u32,
    ) -> Self {
        Self {
            fields,
            keys: KeyTable::default(),
            buffers: Both::default(),
            emitter,
            watermark: Watermark::MIN,
            clock: NO_CLOCK,
            blames_kept_rows,
            arrivals: 0,
            max_parallelism,
        }
    }

    /// Keeps a row that has arrived.
    pub(super) fn keep(&mut self, row: Arriving, round: &Round, matched: bool) -> KeyId {
        let input = round.inputs.of(row.side);
        let (hash, encoded) = input.key(row.row);
        let key = self.keys.add_row(hash, encoded);
        let origin =
            self.blames_kept_rows.of(row.side).then(|| copy_of(&input.batch.origin, input.batch.rows[row.row]));
        let kept = Kept {
            packed: pack(&input.columns, row.row),
            origin_bytes: origin.as_ref().map_or(0, |(_, bytes)| *bytes),
            origin: origin.map(|(origin, _)| origin),
            matched,
            mark: Mark::default(),
        };
        self.arrivals += 1;
        let buffer = self.buffers.of_mut(row.side);
        let mut kept = kept;
        // Nothing of a new row is frozen.
        buffer.changed.touch(&mut kept.mark, || (key, row.time, self.arrivals), |_| {});
        buffer.insert(key, (row.time, self.arrivals), kept);
        buffer.tidy();
        key
    }

    /// Emits an arriving row without a partner.
    pub(super) fn emit_arriving(&mut self, row: Arriving, round: &Round) {
        let input = round.inputs.of(row.side);
        let about = About {
            key: input.key(row.row).1,
            time: row.time,
            watermark: self.watermark,
            clock: self.clock,
            position: input.batch.positions[row.row],
            blame: Some((&input.batch.origin, input.batch.rows[row.row])),
        };
        self.emitter.row(row.side, input.values(row.row), RowValues::Missing, &about);
    }

    /// Drops the first kept row of an input. `unmatched_at`: if it met no partner, it comes out by the event there.
    pub(super) fn drop_oldest(&mut self, side: JoinSide, unmatched_at: Option<u32>) {
        let Some((key, place, kept)) = self.buffers.of_mut(side).take_oldest() else { return };
        let time = place.0;
        let entry = Entry { side, keys: &self.keys, max_parallelism: self.max_parallelism, key, place };
        let changed = &mut self.buffers.of_mut(side).changed;
        changed.remove(
            kept.mark,
            true,
            |changes| entry.put(&kept, changes),
            |changes| changes.delete(|out| entry.key(out)),
        );
        if let (Some(position), false) = (unmatched_at, kept.matched) {
            let about = About {
                key: self.keys.encoded(key),
                time,
                watermark: self.watermark,
                clock: self.clock,
                position,
                blame: kept.origin.as_ref().map(|origin| (origin, 0)),
            };
            self.emitter.row(side, RowValues::Kept(&kept.packed), RowValues::Missing, &about);
        }
        self.keys.remove_row(key);
    }

    /// Bytes of kept rows and their keys.
    pub(super) fn state_bytes(&self) -> u64 {
        self.keys.state_bytes() + self.buffers.left.state_bytes() + self.buffers.right.state_bytes()
    }
}

/// A record by itself, so that keeping it keeps nothing else; and about how many bytes it takes.
fn copy_of(origin: &Origin, record: u32) -> (Arc<Origin>, u32) {
    let read = origin.offset(record).map(|offset| (origin.partition(record).to_value(), offset));
    record_of(origin.record(record).into_owned(), read)
}

/// A record by itself. `read`: the partition and the offset that a source read it from.
pub(super) fn record_of(bytes: Vec<u8>, read: Option<(Value, u64)>) -> (Arc<Origin>, u32) {
    let len = index32(bytes.len());
    let (copy, fixed) = match read {
        Some((partition, offset)) => {
            let read = ReadRecords {
                data: bytes.into(),
                spans: vec![(0, len)],
                partitions: vec![partition],
                offsets: vec![offset],
            };
            (Origin::Read(read), size_of::<Origin>() + size_of::<(u32, u32)>() + size_of::<u64>() + 24)
        }
        None => (Origin::Made(Box::new(Written(bytes.into()))), size_of::<Origin>() + size_of::<Written>()),
    };
    (Arc::new(copy), len.saturating_add(index32(fixed)))
}

/// The text of one record that an operator made.
#[derive(Debug)]
struct Written(Box<[u8]>);

impl MadeRecords for Written {
    fn record(&self, _row: u32) -> Vec<u8> {
        self.0.to_vec()
    }
}
