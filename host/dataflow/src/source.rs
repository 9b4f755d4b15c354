//! The chain of one source: decode → map hook. One batch in, its rows out; when they arrive is the timeline's business
//! (`sources`).
//!
//! Watermarks come from the decoded time where the pipeline names a `timestamp_field`, otherwise from the times of the map
//! hook's rows.

use std::sync::Arc;

use tidegate_connectors::SourceBatch;
use tidegate_formats::{Decoded, Decoder};
use tidegate_types::batch::{index, index32};
use tidegate_types::{Arrivals, Batch, Column, EventTime, Origin, PartitionId, ReadRecords, Schema, Value, Watermark};
use tidegate_windows::SourceWatermarks;

use crate::OperatorError;
use crate::account::Account;
use crate::map::{MapOperator, NO_TIME};
use crate::report::SourceReport;
use crate::side::{Condemned, Side};

/// The chain of one source.
pub(crate) struct SourceChain {
    pub(crate) decoder: Decoder,
    pub(crate) decoded_schema: Arc<Schema>,
    pub(crate) map: Option<MapOperator>,
    /// Whether records have a time before the map hook.
    pub(crate) timed: bool,
    pub(crate) watermarks: SourceWatermarks,
    pub(crate) partition_names: Vec<Value>,
    pub(crate) source_id: Arc<str>,
    pub(crate) map_id: Arc<str>,
}

/// What became of the records of one source in a batch.
pub(crate) struct Chained {
    pub(crate) decoded: Decoded,
    pub(crate) rows: Rows,
    pub(crate) origin: Arc<Origin>,
    pub(crate) sides: Vec<Side>,
    pub(crate) account: Account,
}

/// The rows of a batch once decoded and mapped.
pub(crate) struct Rows {
    pub(crate) schema: Arc<Schema>,
    pub(crate) columns: Vec<Column>,
    /// Each row's record. Ascending.
    pub(crate) records: Vec<u32>,
    pub(crate) times: Vec<EventTime>,
}

impl SourceChain {
    /// Everything that the source shows of itself.
    pub(crate) fn report(&self) -> SourceReport {
        SourceReport {
            source: Arc::clone(&self.source_id),
            partitions: self.partition_names.clone(),
            watermarks: self.watermarks.report(),
        }
    }

    /// The active partition with the least watermark, and that watermark.
    pub(crate) fn slowest(&self) -> Option<(Value, Watermark)> {
        let slowest = self.watermarks.slowest();
        slowest.map(|(id, watermark)| (self.partition_name(Some(id)), watermark))
    }

    /// Decodes and maps what was read of this source. The partitions are the source's own.
    ///
    /// # Errors
    /// If the map hook cannot be called; no record is condemned then.
    pub(crate) fn process(&mut self, input: &SourceBatch) -> Result<Chained, OperatorError> {
        let decoded = self.decoder.decode(&input.data, &input.spans);
        let origin = Arc::new(Origin::Read(ReadRecords {
            partitions: input.partition.iter().map(|id| self.partition_name(*id)).collect(),
            data: input.data.clone(),
            spans: input.spans.clone(),
            offsets: input.offsets.clone(),
        }));
        let mut account = Account { read: input.spans.len() as u64, ..Account::default() };
        let mut dead = self.refused(&decoded, &origin);
        let rows = self.rows(&decoded, &origin, &mut account, &mut dead)?;
        account.rejected += dead.len() as u64;
        dead.sort_by_key(|(record, _)| *record);
        let sides = dead.into_iter().map(|(_, side)| side).collect();
        Ok(Chained { decoded, rows, origin, sides, account })
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
            arrivals: Arrivals::From(0),
            retractions: None,
            keys: None,
            origin: Arc::clone(origin),
            progress: Arc::default(),
        };
        let mut output = map.process(&batch)?;
        output.count(batch.len(), account);
        output.refuse_untimed();
        for (row, condemned) in output.condemned {
            let record = batch.rows[index(row)];
            dead.push((record, condemned.into_side(origin, record, &self.map_id)));
        }
        Ok(Rows {
            schema: Arc::clone(map.schema()),
            columns: output.columns,
            records: output.sources.iter().map(|row| batch.rows[index(*row)]).collect(),
            times: output.times,
        })
    }

    /// What to call a partition where it is shown; null for a record of no partition.
    fn partition_name(&self, id: Option<PartitionId>) -> Value {
        id.map_or(Value::Null, |id| self.partition_names[index(id.0)].clone())
    }
}
