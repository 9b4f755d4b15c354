//! The source chain: decode → map hook → watermarks → key. One batch in, one batch out, with its progress.
//!
//! Invariant: the progress tells, row by row, the watermark and the clock that the records before a row produced, so that
//! nothing downstream depends on where the source cut its batches. Watermarks come from the decoded time where the
//! pipeline names a `timestamp_field`, otherwise from the times of the map hook's rows.

use std::sync::Arc;

use tidegate_connectors::SourceBatch;
use tidegate_formats::{Claim, Decoded, Decoder, codes};
use tidegate_types::batch::{index, index32};
use tidegate_types::time::is_record_time;
use tidegate_types::{
    Batch, EventTime, NO_CLOCK, Origin, PartitionId, Progress, ProgressEntry, Schema, Value, Watermark,
};
use tidegate_windows::SourceWatermarks;

use crate::OperatorError;
use crate::account::Account;
use crate::keyed::keys_of;
use crate::map::{MapOperator, MapOutput, NO_TIME};
use crate::report::SourceReport;
use crate::side::{Condemned, Side};
use crate::task::SourceStatus;

/// What the chain made of it.
#[derive(Debug)]
pub struct SourceOutput {
    /// The keyed rows and the progress.
    pub batch: Batch,
    /// Rejected records.
    pub sides: Vec<Side>,
    /// What became of the records so far.
    pub account: Account,
}

/// The chain of one source task.
pub struct SourceChain {
    pub(crate) decoder: Decoder,
    pub(crate) decoded_schema: Arc<Schema>,
    pub(crate) map: Option<MapOperator>,
    /// Whether records have a time before the map hook.
    pub(crate) timed: bool,
    pub(crate) watermarks: SourceWatermarks,
    pub(crate) partition_names: Vec<Value>,
    pub(crate) key_by: Vec<String>,
    pub(crate) sequence: u64,
    pub(crate) source_id: Arc<str>,
    pub(crate) map_id: Arc<str>,
}

/// The rows of a batch once decoded and mapped.
struct Rows {
    schema: Arc<Schema>,
    columns: Vec<tidegate_types::Column>,
    /// Each row's record. Ascending.
    records: Vec<u32>,
    times: Vec<EventTime>,
}

impl SourceChain {
    /// The source's watermarks, for whoever shows them.
    #[must_use]
    pub fn watermarks(&self) -> &SourceWatermarks {
        &self.watermarks
    }

    /// Everything that the source shows of itself.
    #[must_use]
    pub fn report(&self) -> SourceReport {
        SourceReport {
            source: Arc::clone(&self.source_id),
            partitions: self.partition_names.clone(),
            watermarks: self.watermarks.report(),
        }
    }

    /// The engine read nothing from `since` to `until` of the wall clock because what is behind took no more.
    pub(crate) fn stood_still(&mut self, since: EventTime, until: EventTime) {
        self.watermarks.stood_still(since, until);
    }

    /// How far the source is, for whoever shows it; `bytes`: read since the last status.
    #[must_use]
    pub(crate) fn status(&self, bytes: u64) -> SourceStatus {
        let slowest = self.watermarks.slowest();
        SourceStatus {
            watermark: self.watermarks.combined(),
            clock: self.watermarks.clock(),
            slowest: slowest.map(|(id, watermark)| (self.partition_name(Some(id)), watermark)),
            bytes,
        }
    }

    /// Works through what a source read. `now` is the wall clock's reading; none under a virtual clock.
    ///
    /// # Errors
    /// If the map hook cannot be called; no record is condemned then.
    pub fn process(&mut self, input: SourceBatch, now: Option<EventTime>) -> Result<SourceOutput, OperatorError> {
        let decoded = self.decoder.decode(&input.data, &input.spans);
        let origin = Arc::new(Origin {
            partitions: input.partition.iter().map(|id| self.partition_name(*id)).collect(),
            data: input.data.clone(),
            spans: input.spans.clone(),
            offsets: input.offsets.clone(),
        });
        let mut account = Account { read: input.spans.len() as u64, ..Account::default() };
        let mut dead = self.refused(&decoded, &origin);
        let rows = self.rows(&decoded, &origin, &mut account, &mut dead)?;
        account.rejected += dead.len() as u64;
        dead.sort_by_key(|(record, _)| *record);
        let progress = self.progress(&input, now, &decoded, &rows);
        let count = rows.records.len();
        let mut batch = Batch {
            schema: rows.schema,
            columns: rows.columns,
            times: rows.times.into(),
            rows: rows.records.into(),
            positions: (0..index32(count)).collect(),
            sequence: self.sequence,
            keys: None,
            origin,
            progress: Arc::new(progress),
        };
        self.sequence += count as u64;
        batch.keys = Some(keys_of(&batch, &self.key_by));
        let sides = dead.into_iter().map(|(_, side)| side).collect();
        Ok(SourceOutput { batch, sides, account })
    }

    /// The dead letters of records that could not be decoded.
    fn refused(&self, decoded: &Decoded, origin: &Arc<Origin>) -> Vec<(u32, Side)> {
        let dead_letter = |reject: &tidegate_formats::Rejected| {
            let condemned = Condemned::by_host(reject.code, reject.detail.clone());
            (reject.record, condemned.into_side(origin, reject.record, &self.source_id))
        };
        decoded.rejected.iter().map(dead_letter).collect()
    }

    /// The rows that go on: those of the map hook, or the decoded ones, with a valid time each.
    fn rows(
        &mut self,
        decoded: &Decoded,
        origin: &Arc<Origin>,
        account: &mut Account,
        dead: &mut Vec<(u32, Side)>,
    ) -> Result<Rows, OperatorError> {
        let times = if self.timed { decoded.row_times.clone() } else { vec![NO_TIME; decoded.rows.len()] };
        let Some(map) = &mut self.map else {
            let schema = Arc::clone(&self.decoded_schema);
            return Ok(Rows { schema, columns: decoded.columns.clone(), records: decoded.rows.clone(), times });
        };
        let batch = Batch {
            schema: Arc::clone(&self.decoded_schema),
            columns: decoded.columns.clone(),
            times: times.into(),
            rows: decoded.rows.clone().into(),
            positions: (0..index32(decoded.rows.len())).collect(),
            sequence: self.sequence,
            keys: None,
            origin: Arc::clone(origin),
            progress: Arc::default(),
        };
        let output = map.process(&batch)?;
        count_rows(&output, batch.len(), account);
        for (row, condemned) in &output.condemned {
            let record = batch.rows[index(*row)];
            dead.push((record, condemned.clone().into_side(origin, record, &self.map_id)));
        }
        let mut rows = Rows {
            schema: Arc::clone(map.schema()),
            columns: output.columns,
            records: output.sources.iter().map(|row| batch.rows[index(*row)]).collect(),
            times: output.times,
        };
        self.drop_untimed(&mut rows, origin, dead);
        Ok(rows)
    }

    /// Rejects rows to which neither the record nor the map hook gave a valid time.
    fn drop_untimed(&self, rows: &mut Rows, origin: &Arc<Origin>, dead: &mut Vec<(u32, Side)>) {
        if rows.times.iter().all(|time| is_record_time(*time)) {
            return;
        }
        let (good, bad): (Vec<u32>, Vec<u32>) =
            (0..index32(rows.times.len())).partition(|row| is_record_time(rows.times[index(*row)]));
        for row in bad {
            let time = rows.times[index(row)];
            let detail = if time == NO_TIME {
                "the map hook gave this row no time, and the pipeline names no timestamp_field".to_owned()
            } else {
                format!("the map hook gave this row the time {time} ms, outside the years 0001 to 9999")
            };
            let record = rows.records[index(row)];
            let condemned = Condemned::by_host(codes::BAD_TIME, detail);
            dead.push((record, condemned.into_side(origin, record, &self.map_id)));
        }
        rows.columns = rows.columns.iter().map(|column| column.take(&good)).collect();
        rows.records = good.iter().map(|row| rows.records[index(*row)]).collect();
        rows.times = good.iter().map(|row| rows.times[index(*row)]).collect();
    }

    /// Moves the watermarks and the clock through the records in arrival order, and notes where they moved.
    fn progress(&mut self, input: &SourceBatch, now: Option<EventTime>, decoded: &Decoded, rows: &Rows) -> Progress {
        let mut progress = Recorder { progress: Progress::default(), virtual_clock: now.is_none() };
        let mut ended = input.ended.as_slice();
        let mut position = 0;
        if let Some(now) = now {
            progress.clock(&mut self.watermarks, 0, now);
        }
        for (record, partition) in input.partition.iter().enumerate() {
            self.end_partitions(&mut progress, &mut ended, index32(record), index32(position), false);
            if let Some(Some(arrival)) = decoded.arrivals.get(record) {
                progress.clock(&mut self.watermarks, index32(position), *arrival);
            }
            let Some(partition) = *partition else { continue };
            let claim = decoded.claims.get(record).copied().unwrap_or(Claim::Nothing);
            while rows.records.get(position).is_some_and(|of| index(*of) == record) {
                position += 1;
                if !self.timed {
                    self.hear(&mut progress, position, partition, rows.times[position - 1], claim);
                }
            }
            if self.timed
                && decoded.heard.get(record).copied().unwrap_or(false)
                && let Some(Some(time)) = decoded.times.get(record)
            {
                self.hear(&mut progress, position, partition, *time, claim);
            }
        }
        self.end_partitions(&mut progress, &mut ended, index32(input.spans.len()), index32(position), input.done);
        progress.progress
    }

    /// A partition gave a record with this time, at the position before `position`.
    fn hear(
        &mut self,
        progress: &mut Recorder,
        position: usize,
        partition: PartitionId,
        time: EventTime,
        claim: Claim,
    ) {
        self.watermarks.hear(partition);
        let moved = self.watermarks.record(partition, time, claimed(claim, time));
        progress.watermark(&self.watermarks, index32(position), moved);
    }

    /// What to call a partition where it is shown; null for a record of no partition.
    fn partition_name(&self, id: Option<PartitionId>) -> Value {
        id.map_or(Value::Null, |id| self.partition_names[index(id.0)].clone())
    }

    /// Ends the partitions that end before `record`, those of one position together.
    fn end_partitions(
        &mut self,
        progress: &mut Recorder,
        ended: &mut &[(u32, PartitionId)],
        record: u32,
        position: u32,
        done: bool,
    ) {
        let count = ended.iter().take_while(|(at, _)| *at <= record).count();
        let (now, later) = ended.split_at(count);
        *ended = later;
        let moved = if now.is_empty() { None } else { self.watermarks.end(now.iter().map(|(_, id)| *id)) };
        progress.watermark(&self.watermarks, position, moved);
        if done {
            let moved = self.watermarks.end_all();
            progress.watermark(&self.watermarks, position, moved);
        }
    }
}

/// The event time that a punctuated record claims.
fn claimed(claim: Claim, own: EventTime) -> Option<EventTime> {
    match claim {
        Claim::Nothing => None,
        Claim::OwnTime => Some(own),
        Claim::At(time) => Some(time),
    }
}

/// Counts what the map hook dropped on purpose and what it added.
fn count_rows(output: &MapOutput, input_rows: usize, account: &mut Account) {
    let mut made = vec![0_u64; input_rows];
    for source in &output.sources {
        made[index(*source)] += 1;
    }
    for (row, _) in &output.condemned {
        made[index(*row)] = 1;
    }
    account.filtered += made.iter().filter(|count| **count == 0).count() as u64;
    account.expanded += made.iter().map(|count| count.saturating_sub(1)).sum::<u64>();
}

/// Notes where the watermark and the clock moved.
struct Recorder {
    progress: Progress,
    virtual_clock: bool,
}

impl Recorder {
    /// The clock moves; idleness may fall due on the way.
    fn clock(&mut self, watermarks: &mut SourceWatermarks, position: u32, to: EventTime) {
        let virtual_clock = self.virtual_clock;
        let progress = &mut self.progress;
        watermarks.advance_clock(to, |instant, watermark| {
            let clock = if virtual_clock { instant } else { NO_CLOCK };
            progress.push(ProgressEntry { position, watermark, clock });
        });
        if virtual_clock {
            progress.push(ProgressEntry { position, watermark: watermarks.combined(), clock: watermarks.clock() });
        }
    }

    /// The watermark moved, or not.
    fn watermark(&mut self, watermarks: &SourceWatermarks, position: u32, moved: Option<Watermark>) {
        if let Some(watermark) = moved {
            let clock = if self.virtual_clock { watermarks.clock() } else { NO_CLOCK };
            self.progress.push(ProgressEntry { position, watermark, clock });
        }
    }
}
