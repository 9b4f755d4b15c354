//! What an operator emitted as rows for the operators behind it.
//!
//! A pane's row has the fields of its key, its values, and `window_start` and `window_end` as texts; its event time is the
//! last millisecond of its window (docs/semantics.md, 9). Only the fields that somebody reads become columns. A float that is
//! no number or infinite is null, as in the record that a sink would write.

use std::sync::Arc;

use tidegate_formats::{PaneEncoder, RowEncoder, format_time};
use tidegate_types::batch::{index, index32};
use tidegate_types::{
    Arrivals, Batch, Column, ColumnBuilder, Emitted, EventTime, Field, Kind, MadeRecords, Origin, PaneBatch,
    PaneFields, PaneInfo, PaneOp, Progress, RowBatch, Schema, ValueRef,
};

use crate::route::{Part, Stood};

/// The field of a window's start.
const WINDOW_START: &str = "window_start";
/// The field of a window's end.
const WINDOW_END: &str = "window_end";

/// Where a column of a pane's row comes from.
#[derive(Debug, Clone, Copy)]
enum Pick {
    Key(usize),
    Value(usize),
    Start,
    End,
}

/// Makes rows of panes.
#[derive(Debug)]
pub(crate) struct PaneRows {
    fields: Arc<PaneFields>,
    schema: Arc<Schema>,
    picks: Vec<Pick>,
}

/// The fields of a pane's row besides the key's and the values'.
pub(crate) fn window_fields() -> [Field; 2] {
    [WINDOW_START, WINDOW_END].map(|name| Field::typed(name, Kind::Text, true))
}

impl PaneRows {
    /// Rows with these fields, all of which panes have.
    pub(crate) fn new(fields: Arc<PaneFields>, schema: Arc<Schema>) -> Self {
        let place = |names: &[String], name: &str| names.iter().position(|other| other == name);
        let pick = |field: &Field| match field.name.as_str() {
            WINDOW_START => Pick::Start,
            WINDOW_END => Pick::End,
            name => match place(&fields.keys, name) {
                Some(at) => Pick::Key(at),
                None => Pick::Value(place(&fields.values, name).expect("consumers were checked against the fields")),
            },
        };
        let picks = schema.fields.iter().map(pick).collect();
        Self { fields, schema, picks }
    }

    /// The panes' rows.
    pub(crate) fn part(&self, mut panes: PaneBatch) -> Part {
        let order = panes.order.take().expect("an operator that feeds another orders what it emits");
        let infos = &panes.infos;
        let columns = self.picks.iter().map(|pick| match pick {
            Pick::Key(at) => panes.keys[*at].clone(),
            Pick::Value(at) => panes.values[*at].clone(),
            Pick::Start => bounds(infos, |(start, _)| start),
            Pick::End => bounds(infos, |(_, end)| end),
        });
        let columns = columns.collect();
        let time = |info: &PaneInfo| info.window.expect("global windows feed no operator").1 - 1;
        let times = infos.iter().map(time).collect();
        let taken_back: Vec<bool> = infos.iter().map(|info| info.op == PaneOp::Retract).collect();
        let stood = infos.iter().map(|info| (info.watermark, info.fired_at)).collect();
        let retractions = taken_back.contains(&true).then(|| taken_back.into());
        let origin = Origin::Made(Box::new(MadePanes { fields: Arc::clone(&self.fields), panes }));
        part(&self.schema, columns, times, order, stood, origin, retractions)
    }
}

fn bounds(infos: &[PaneInfo], bound: fn((EventTime, EventTime)) -> EventTime) -> Column {
    let mut builder = ColumnBuilder::of_kind(Kind::Text);
    for info in infos {
        match info.window {
            Some(window) => builder.push(ValueRef::Text(&format_time(bound(window)))),
            None => builder.push(ValueRef::Null),
        }
    }
    builder.finish()
}

/// The rows of an operator without windows.
pub(crate) fn rows_part(schema: &Arc<Schema>, mut rows: RowBatch) -> Part {
    let order = rows.order.take().expect("an operator that feeds another orders what it emits");
    let stood = rows.watermarks.iter().copied().zip(rows.emitted_at.iter().copied()).collect();
    let (columns, times) = (rows.columns.clone(), rows.times.clone());
    let origin = Origin::Made(Box::new(MadeRows { schema: Arc::clone(schema), rows }));
    part(schema, columns, times, order, stood, origin, None)
}

fn part(
    schema: &Arc<Schema>,
    columns: Vec<Column>,
    times: Vec<EventTime>,
    order: Emitted,
    stood: Vec<(tidegate_types::Watermark, EventTime)>,
    origin: Origin,
    retractions: Option<Arc<[bool]>>,
) -> Part {
    let count = index32(times.len());
    let columns = columns.into_iter().map(finite).collect();
    let batch = Batch {
        schema: Arc::clone(schema),
        columns,
        times: times.into(),
        rows: (0..count).collect(),
        positions: order.positions.into(),
        // The operator that receives them numbers them in its own order.
        arrivals: Arrivals::Each((0..u64::from(count)).collect()),
        retractions,
        keys: None,
        origin: Arc::new(origin),
        progress: Arc::new(Progress::default()),
    };
    Part { batch, emitters: Some(order.keys), stood: Stood::Each(stood) }
}

/// The column, with nulls for floats that are not finite.
fn finite(column: Column) -> Column {
    let infinite = |value: ValueRef<'_>| matches!(value, ValueRef::Float(float) if !float.is_finite());
    if !matches!(column, Column::Float(_) | Column::Dynamic(_))
        || !(0..column.len()).any(|row| infinite(column.value(row)))
    {
        return column;
    }
    let value = |row| Some(column.value(row)).filter(|value| !infinite(*value)).unwrap_or_default();
    Column::of_values((0..column.len()).map(value))
}

/// Panes, to be shown as their sink would write them.
#[derive(Debug)]
struct MadePanes {
    fields: Arc<PaneFields>,
    panes: PaneBatch,
}

impl MadeRecords for MadePanes {
    fn record(&self, row: u32) -> Vec<u8> {
        PaneEncoder::new(&self.fields).record(&self.panes, index(row))
    }
}

/// Rows without windows, to be shown as their sink would write them.
#[derive(Debug)]
struct MadeRows {
    schema: Arc<Schema>,
    rows: RowBatch,
}

impl MadeRecords for MadeRows {
    fn record(&self, row: u32) -> Vec<u8> {
        let names: Vec<String> = self.schema.fields.iter().map(|field| field.name.clone()).collect();
        RowEncoder::new(&names).record(&self.rows, index(row))
    }
}
