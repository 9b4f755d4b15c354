//! Where rows go from a source or an operator: through map hooks, to the subtasks of operators, and to sinks.
//!
//! Routes form a tree: an operator between two exchanges that keeps no state (a map hook) runs where its rows are. Invariant:
//! whatever a route does to a batch, each row keeps the position of its event and the key that emitted it, so that the
//! operator behind can put rows of several senders in order.

use std::sync::Arc;

use tidegate_types::batch::{index, index32};
use tidegate_types::{Batch, EventTime, RowBatch, Watermark};

use crate::OperatorError;
use crate::account::Account;
use crate::exchange::Exchange;
use crate::keyed::keys_of;
use crate::map::MapOperator;
use crate::side::Side;

/// Rows on their way.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) batch: Batch,
    /// The key that emitted each row; none for rows of a source.
    pub(crate) emitters: Option<Vec<Box<[u8]>>>,
    /// Where the emitting operator or source stood at each row.
    pub(crate) stood: Stood,
}

/// Where the emitting operator or source stood at each row: its watermark and its clock.
#[derive(Debug, Clone)]
pub(crate) enum Stood {
    /// A source: as the batch's progress tells, after what stood before the batch.
    Source(Watermark, EventTime),
    /// An operator: at each row.
    Each(Vec<(Watermark, EventTime)>),
}

impl Part {
    /// Rows of a source, which stood so before the batch.
    pub(crate) fn of_source(batch: Batch, watermark: Watermark, clock: EventTime) -> Self {
        Self { batch, emitters: None, stood: Stood::Source(watermark, clock) }
    }

    /// The rows of events before the position, and the others; none where there is none.
    pub(crate) fn split(self, position: u64) -> (Option<Self>, Option<Self>) {
        let count = self.batch.positions.partition_point(|of| u64::from(*of) < position);
        match count {
            0 => (None, Some(self)),
            _ if count == self.batch.len() => (Some(self), None),
            _ => {
                let (count, all) = (index32(count), index32(self.batch.len()));
                let of = |rows: std::ops::Range<u32>| {
                    let rows: Vec<u32> = rows.collect();
                    self.with(&rows, self.batch.take(&rows))
                };
                (Some(of(0..count)), Some(of(count..all)))
            }
        }
    }

    /// The rows at `indices` (ascending), with this batch in place of theirs.
    fn with(&self, indices: &[u32], batch: Batch) -> Self {
        let emitters = self.emitters.as_ref();
        let stood = match &self.stood {
            Stood::Source(watermark, clock) => Stood::Source(*watermark, *clock),
            Stood::Each(stood) => Stood::Each(indices.iter().map(|row| stood[index(*row)]).collect()),
        };
        let emitters = emitters.map(|keys| indices.iter().map(|row| keys[index(*row)].clone()).collect());
        Self { batch, emitters, stood }
    }
}

/// An input of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InputId {
    /// The operator's place in the job.
    pub(crate) operator: usize,
    /// Which of its inputs.
    pub(crate) input: usize,
}

/// A way for rows.
pub(crate) enum Route {
    /// Through a map hook.
    Map(Box<MapRoute>),
    /// To the subtasks of an operator.
    Operator(OperatorRoute),
    /// To a sink.
    Sink(usize),
}

/// A map hook and what is behind it.
pub(crate) struct MapRoute {
    pub(crate) map: MapOperator,
    pub(crate) id: Arc<str>,
    pub(crate) routes: Vec<Route>,
}

/// An operator's input.
pub(crate) struct OperatorRoute {
    pub(crate) to: InputId,
    pub(crate) key_by: Vec<String>,
    pub(crate) exchange: Exchange,
    /// The place of this route among those that lead out of a task.
    pub(crate) place: usize,
}

/// What routes made of rows.
#[derive(Debug, Default)]
pub(crate) struct Routed {
    /// For each route to an operator, in order of its place: the rows of each subtask.
    pub(crate) dealt: Vec<Vec<Part>>,
    /// Rows for sinks.
    pub(crate) results: Vec<(usize, RowBatch)>,
    /// Records that map hooks refused.
    pub(crate) sides: Vec<Side>,
    /// What became of the rows.
    pub(crate) account: Account,
}

impl Routed {
    /// Nothing yet, for so many routes to operators.
    pub(crate) fn new(places: usize) -> Self {
        Self { dealt: vec![Vec::new(); places], ..Self::default() }
    }
}

/// Sends rows along all of these routes.
pub(crate) fn send(routes: &mut [Route], part: Part, routed: &mut Routed) -> Result<(), OperatorError> {
    let Some((last, others)) = routes.split_last_mut() else { return Ok(()) };
    routed.account.forwarded += others.len() as u64 * part.batch.len() as u64;
    for route in others {
        route.take(part.clone(), routed)?;
    }
    last.take(part, routed)
}

impl Route {
    fn take(&mut self, part: Part, routed: &mut Routed) -> Result<(), OperatorError> {
        match self {
            Self::Map(map) => map.take(&part, routed),
            Self::Operator(operator) => {
                operator.take(part, routed);
                Ok(())
            }
            Self::Sink(sink) => {
                routed.account.accepted += part.batch.len() as u64;
                routed.account.emitted += part.batch.len() as u64;
                if !part.batch.is_empty() {
                    routed.results.push((*sink, result(part)));
                }
                Ok(())
            }
        }
    }

    /// The routes to operators, in order.
    pub(crate) fn to_operators(&self) -> Vec<&OperatorRoute> {
        match self {
            Self::Map(map) => map.routes.iter().flat_map(Self::to_operators).collect(),
            Self::Operator(operator) => vec![operator],
            Self::Sink(_) => Vec::new(),
        }
    }
}

impl OperatorRoute {
    fn take(&self, mut part: Part, routed: &mut Routed) {
        part.batch.keys = Some(keys_of(&part.batch, &self.key_by));
        let parts = &mut routed.dealt[self.place];
        if self.exchange.subtasks() <= 1 {
            parts.push(part);
            return;
        }
        for rows in self.exchange.rows(&part.batch) {
            let batch = part.batch.take(&rows);
            parts.push(part.with(&rows, batch));
        }
    }
}

impl MapRoute {
    fn take(&mut self, part: &Part, routed: &mut Routed) -> Result<(), OperatorError> {
        let batch = &part.batch;
        let mut output = self.map.process(batch)?;
        output.count(batch.len(), &mut routed.account);
        output.refuse_untimed();
        routed.account.rejected += output.condemned.len() as u64;
        for (row, condemned) in output.condemned {
            let record = batch.rows[index(row)];
            routed.sides.push(condemned.into_side(&batch.origin, record, &self.id));
        }
        let rows = batch.take(&output.sources);
        let mapped = Batch {
            schema: Arc::clone(self.map.schema()),
            columns: output.columns,
            times: output.times.into(),
            ..rows
        };
        send(&mut self.routes, part.with(&output.sources, mapped), routed)
    }
}

/// Rows as a sink takes them.
fn result(part: Part) -> RowBatch {
    let Part { batch, stood, .. } = part;
    let stood = match stood {
        Stood::Each(stood) => stood,
        Stood::Source(watermark, clock) => {
            let entries = &batch.progress.entries;
            let before = |position: &u32| {
                let count = entries.partition_point(|entry| entry.position < *position);
                let entry = count.checked_sub(1).map(|last| entries[last]);
                entry.map_or((watermark, clock), |entry| (entry.watermark, entry.clock.max(clock)))
            };
            batch.positions.iter().map(before).collect()
        }
    };
    RowBatch {
        columns: batch.columns,
        times: batch.times.to_vec(),
        watermarks: stood.iter().map(|(watermark, _)| *watermark).collect(),
        emitted_at: stood.iter().map(|(_, clock)| *clock).collect(),
        order: None,
    }
}
