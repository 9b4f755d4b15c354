//! What a join emits: pairs become rows, by the built-in projection or by the tenant's hook, many at once.
//!
//! Pairs are gathered in columns and put out together; what is put out between two pauses is bounded in rows and bytes.
//! A pair that the hook refuses, or on which alone it fails, becomes a dead letter with the record of the row that brought it
//! about, and is counted as failed; the rows themselves were accepted.

use std::sync::Arc;

use tidegate_formats::codes;
use tidegate_pipeline::{JoinOutput, JoinSide};
use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::MapHook;
use tidegate_types::time::is_record_time;
use tidegate_types::{
    Arrivals, Batch, ColumnBuilder, Emitted, EventTime, Field, Keys, Origin, RowBatch, Schema, Watermark,
};

use super::packed::{RowValues, packed_len};
use super::{Both, JoinConfig, fields, other};
use crate::OperatorError;
use crate::map::MapOperator;
use crate::operator::{BYTES_BEFORE_PAUSE, OperatorOutput, RECORDS_BEFORE_PAUSE, long_bytes};
use crate::side::Condemned;

/// So many bytes of values are gathered at most.
const BYTES_AT_ONCE: usize = 4 << 20;

/// Where a pair belongs.
#[derive(Debug)]
pub(super) struct About<'a> {
    /// The encoding of its rows' key.
    pub(super) key: &'a [u8],
    /// Its time.
    pub(super) time: EventTime,
    /// The operator's watermark.
    pub(super) watermark: Watermark,
    /// The operator's clock.
    pub(super) clock: EventTime,
    /// The event that brings it about.
    pub(super) position: u32,
    /// The record that a dead letter shows.
    pub(super) blame: Option<(&'a Arc<Origin>, u32)>,
}

/// Gathers pairs and puts them out.
pub(super) struct Emitter {
    /// For each field that pairs show of a side's rows, the columns that it goes to.
    targets: Both<Vec<Vec<usize>>>,
    columns: Vec<ColumnBuilder>,
    gathered: RowBatch,
    /// The records of dead letters: with a hook only.
    blames: Vec<Option<(Arc<Origin>, u32)>>,
    gathered_bytes: usize,
    /// Rows and bytes put out since the operator began or went on.
    spent_rows: usize,
    spent_bytes: usize,
    most_rows: usize,
    hook: Option<PairHook>,
}

/// The tenant's hook over pairs.
struct PairHook {
    map: MapOperator,
    pairs: Arc<Schema>,
    id: Arc<str>,
}

impl Emitter {
    /// `shown`: the fields that pairs show of each side's rows.
    pub(super) fn new(config: &JoinConfig, hook: Option<Box<dyn MapHook>>, shown: &Both<Vec<String>>) -> Self {
        let (targets, count) = match &config.join.output {
            JoinOutput::Select(selected) => {
                let columns_of = |side: JoinSide, field: &String| {
                    let places = selected.iter().enumerate();
                    places.filter(|(_, one)| one.side == side && one.field == *field).map(|(place, _)| place).collect()
                };
                let of = |side| shown.of(side).iter().map(|field| columns_of(side, field)).collect();
                (Both { left: of(JoinSide::Left), right: of(JoinSide::Right) }, selected.len())
            }
            JoinOutput::Hook(_) => {
                let left = shown.left.len();
                let each = |from: usize, count: usize| (from..from + count).map(|place| vec![place]).collect();
                (Both { left: each(0, left), right: each(left, shown.right.len()) }, left + shown.right.len())
            }
        };
        let hook = hook.map(|hook| PairHook::new(hook, config, shown));
        Self {
            targets,
            columns: (0..count).map(|_| ColumnBuilder::new()).collect(),
            gathered: RowBatch { order: config.feeds.then(Emitted::default), ..RowBatch::default() },
            blames: Vec::new(),
            gathered_bytes: 0,
            spent_rows: 0,
            spent_bytes: 0,
            most_rows: if hook.is_some() {
                config.batch_rows.clamp(1, RECORDS_BEFORE_PAUSE)
            } else {
                RECORDS_BEFORE_PAUSE
            },
            hook,
        }
    }

    /// The operator begins, or goes on.
    pub(super) fn begin(&mut self) {
        (self.spent_rows, self.spent_bytes) = (0, 0);
    }

    /// Whether enough was gathered to be put out.
    pub(super) fn is_ripe(&self) -> bool {
        self.gathered.times.len() >= self.most_rows || self.gathered_bytes >= BYTES_AT_ONCE
    }

    /// Whether enough was put out for the operator to pause.
    pub(super) fn is_spent(&self) -> bool {
        self.spent_rows >= RECORDS_BEFORE_PAUSE || self.spent_bytes >= BYTES_BEFORE_PAUSE
    }

    /// Adds a row of `side` and what it met on the other.
    pub(super) fn row(&mut self, side: JoinSide, one: RowValues<'_>, other_one: RowValues<'_>, about: &About<'_>) {
        for (side, values) in [(side, one), (other(side), other_one)] {
            let targets = self.targets.of(side);
            values.for_each(targets.len(), |place, value| {
                self.gathered_bytes += packed_len(value) * targets[place].len();
                targets[place].iter().for_each(|column| self.columns[*column].push(value));
            });
        }
        let gathered = &mut self.gathered;
        gathered.times.push(about.time);
        gathered.watermarks.push(about.watermark);
        gathered.emitted_at.push(about.clock);
        if let Some(order) = &mut gathered.order {
            order.positions.push(about.position);
            order.keys.push(about.key.into());
            self.gathered_bytes += about.key.len();
        }
        if self.hook.is_some() {
            self.blames.push(about.blame.map(|(origin, record)| (Arc::clone(origin), record)));
        }
    }

    /// Puts out what was gathered.
    pub(super) fn flush(&mut self, out: &mut OperatorOutput) -> Result<(), OperatorError> {
        let pairs = self.gathered.times.len();
        if pairs == 0 {
            return Ok(());
        }
        let order = self.gathered.order.as_ref().map(|_| Emitted::default());
        let mut rows = std::mem::replace(&mut self.gathered, RowBatch { order, ..RowBatch::default() });
        rows.columns = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        self.spent_bytes += std::mem::take(&mut self.gathered_bytes);
        self.spent_rows += pairs;
        if let Some(hook) = &mut self.hook {
            let blames = std::mem::take(&mut self.blames);
            rows = hook.map(rows, &blames, out)?;
            self.spent_rows += rows.times.len();
            self.spent_bytes += rows.columns.iter().map(long_bytes).sum::<usize>();
        }
        if !rows.times.is_empty() {
            out.push_rows(rows);
        }
        Ok(())
    }
}

impl PairHook {
    fn new(hook: Box<dyn MapHook>, config: &JoinConfig, shown: &Both<Vec<String>>) -> Self {
        let id: Arc<str> = match &config.join.output {
            JoinOutput::Hook(hook) => hook.uid.as_str().into(),
            JoinOutput::Select(_) => Arc::clone(&config.operator),
        };
        let fields = [JoinSide::Left, JoinSide::Right]
            .into_iter()
            .flat_map(|side| shown.of(side).iter().map(move |name| Field::dynamic(fields::pair_name(side, name))));
        let pairs = Arc::new(Schema::new(fields.collect()));
        let map = MapOperator::new(hook, Arc::clone(&id), &pairs, config.batch_rows);
        Self { map, pairs, id }
    }

    /// The rows that the hook makes of pairs.
    fn map(
        &mut self,
        pairs: RowBatch,
        blames: &[Option<(Arc<Origin>, u32)>],
        out: &mut OperatorOutput,
    ) -> Result<RowBatch, OperatorError> {
        let numbers = 0..index32(pairs.times.len());
        let batch = Batch {
            schema: Arc::clone(&self.pairs),
            columns: pairs.columns,
            times: pairs.times.into(),
            rows: numbers.clone().collect(),
            positions: numbers.collect(),
            arrivals: Arrivals::From(0),
            retractions: None,
            keys: None::<Keys>,
            origin: Arc::default(),
            progress: Arc::default(),
        };
        let mut made = self.map.process(&batch)?;
        let mut failed = std::mem::take(&mut made.condemned);
        let bad_time = |row: usize| (made.sources[row], bad_time(made.times[row]));
        let bad = (0..made.times.len()).filter(|row| !is_record_time(made.times[*row]));
        failed.extend(bad.map(bad_time));
        failed.sort_by_key(|(pair, _)| *pair);
        out.account.failed_pairs += failed.len() as u64;
        for (pair, condemned) in failed {
            let mut side = condemned.into_side(&batch.origin, pair, &self.id);
            side.record = blames[index(pair)].clone();
            out.sides.push(side);
        }
        let good: Vec<u32> =
            (0..index32(made.times.len())).filter(|row| is_record_time(made.times[index(*row)])).collect();
        if good.len() < made.times.len() {
            made.columns = made.columns.iter().map(|column| column.take(&good)).collect();
            made.times = good.iter().map(|row| made.times[index(*row)]).collect();
            made.sources = good.iter().map(|row| made.sources[index(*row)]).collect();
        }
        let of = |source: &u32| index(*source);
        Ok(RowBatch {
            columns: made.columns,
            times: made.times,
            watermarks: made.sources.iter().map(|source| pairs.watermarks[of(source)]).collect(),
            emitted_at: made.sources.iter().map(|source| pairs.emitted_at[of(source)]).collect(),
            order: pairs.order.map(|order| Emitted {
                positions: made.sources.iter().map(|source| order.positions[of(source)]).collect(),
                keys: made.sources.iter().map(|source| order.keys[of(source)].clone()).collect(),
            }),
        })
    }
}

/// Why a row is refused to which the hook gave this time.
fn bad_time(time: EventTime) -> Condemned {
    let detail = format!("the join hook gave this row the time {time} ms, outside the years 0001 to 9999");
    Condemned::by_host(codes::BAD_TIME, detail)
}
