//! A window operator by itself, given rounds that are made by hand: rows and changes at positions of our choice.

use std::sync::Arc;

use tidegate_pipeline::{Accumulation, Aggregate, Early, Function, Late, WindowKind};
use tidegate_types::{
    Arrivals, Batch, Column, EventTime, Field, Millis, NO_CLOCK, Origin, PaneInfo, PaneOp, Progress, ProgressEntry,
    Schema, Timing, Value, Watermark,
};

use crate::keyed::keys_of;
use crate::operator::{Operator, OperatorOutput, Work};
use crate::window::{CustomWindows, WindowConfig, WindowOperator};
use crate::{Account, Side};

/// A row.
#[derive(Debug, Clone)]
pub(in crate::window) struct Row {
    pub(in crate::window) position: u32,
    pub(in crate::window) key: &'static str,
    pub(in crate::window) time: EventTime,
    pub(in crate::window) value: Value,
    pub(in crate::window) undone: bool,
}

pub(in crate::window) fn row(position: u32, key: &'static str, time: EventTime, value: impl Into<Value>) -> Row {
    Row { position, key, time, value: value.into(), undone: false }
}

impl Row {
    /// The row that takes this one back.
    pub(in crate::window) fn back(self, position: u32) -> Self {
        Self { position, undone: true, ..self }
    }
}

/// A move of the watermark, the clock unheard of.
pub(in crate::window) fn to(position: u32, watermark: EventTime) -> ProgressEntry {
    ProgressEntry { position, watermark: Watermark::at(watermark), clock: NO_CLOCK }
}

/// An emitted record.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::window) struct Shown {
    /// None where the operator feeds no other.
    pub(in crate::window) position: Option<u32>,
    pub(in crate::window) key: String,
    pub(in crate::window) info: PaneInfo,
    pub(in crate::window) values: Vec<Value>,
}

impl Shown {
    /// `position key [start, end) timing#index value,…`, with a minus for a retraction.
    pub(in crate::window) fn text(&self) -> String {
        let position = self.position.map_or_else(|| "-".to_owned(), |position| position.to_string());
        let timing = match self.info.timing {
            Timing::Early => "early",
            Timing::OnTime => "on time",
            Timing::Late => "late",
        };
        let (start, end) = self.info.window.unwrap_or_default();
        let sign = if self.info.op == PaneOp::Retract { "-" } else { "" };
        let value = |value: &Value| match value {
            Value::Null => "null".to_owned(),
            Value::Int(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Text(text) | Value::Json(text) => text.to_string(),
            other => format!("{other:?}"),
        };
        let values: Vec<String> = self.values.iter().map(value).collect();
        let (key, index) = (&self.key, self.info.index);
        format!("{position} {sign}{key} [{start}, {end}) {timing}#{index} {}", values.join(" "))
    }
}

/// An operator at work, and what came out of it.
pub(in crate::window) struct Bench {
    pub(in crate::window) operator: WindowOperator,
    schema: Arc<Schema>,
    /// The arrival number of the next row.
    pub(in crate::window) arrived: u64,
    pub(in crate::window) panes: Vec<Shown>,
    pub(in crate::window) sides: Vec<Side>,
    pub(in crate::window) account: Account,
    /// How often the operator paused.
    pub(in crate::window) pauses: usize,
}

pub(in crate::window) fn tumbling(size: i64) -> WindowKind {
    WindowKind::Tumbling { size: Millis(size), offset: Millis(0) }
}

pub(in crate::window) fn sliding(size: i64, slide: i64) -> WindowKind {
    WindowKind::Sliding { size: Millis(size), slide: Millis(slide), offset: Millis(0) }
}

/// An operator that feeds others, keyed by `k`, whose values are a count and the sum of `v`.
pub(in crate::window) fn config(kind: WindowKind) -> WindowConfig {
    let aggregate = |name: &str, function, field: Option<&str>| Aggregate::Builtin {
        name: name.into(),
        function,
        field: field.map(Into::into),
        condition: None,
    };
    WindowConfig {
        kind,
        lateness: Millis(0),
        shares_panes: false,
        early: Early::None,
        late: Late::EveryElement,
        accumulation: Accumulation::Accumulating,
        dedup: None,
        aggregates: vec![aggregate("n", Function::Count, None), aggregate("sum", Function::Sum, Some("v"))],
        schema: Arc::new(Schema::new(["k", "v", "mark"].map(Field::dynamic).to_vec())),
        key_by: vec!["k".into()],
        feeds: true,
        undoes: false,
        max_parallelism: 16,
        operator: "o".into(),
    }
}

impl Bench {
    pub(in crate::window) fn new(config: WindowConfig) -> Self {
        Self::with(config, None)
    }

    pub(in crate::window) fn with(config: WindowConfig, custom: Option<CustomWindows>) -> Self {
        let schema = Arc::clone(&config.schema);
        Self::of(WindowOperator::new(config, Vec::new(), custom), schema)
    }

    pub(in crate::window) fn of(operator: WindowOperator, schema: Arc<Schema>) -> Self {
        Self {
            operator,
            schema,
            arrived: 0,
            panes: Vec::new(),
            sides: Vec::new(),
            account: Account::default(),
            pauses: 0,
        }
    }

    /// Works through a round.
    pub(in crate::window) fn round(&mut self, rows: &[Row], entries: &[ProgressEntry]) {
        let progress = Arc::new(Progress { entries: entries.to_vec() });
        let batch = self.batch(rows, &progress);
        let mut out = OperatorOutput::default();
        let mut work = self.operator.process(vec![batch], &progress, None, &mut out).expect("no hook can fail");
        loop {
            self.take(std::mem::take(&mut out));
            match work {
                Work::Done => return,
                Work::Paused => work = self.operator.resume(&mut out).expect("no hook can fail"),
            }
            self.pauses += 1;
        }
    }

    /// The wall clock moves.
    pub(in crate::window) fn wait_until(&mut self, now: EventTime) {
        let mut out = OperatorOutput::default();
        self.operator.advance_clock(now, &mut out).expect("no hook can fail");
        self.take(out);
    }

    /// What came out since it was last asked, as text.
    pub(in crate::window) fn texts(&mut self) -> Vec<String> {
        std::mem::take(&mut self.panes).iter().map(Shown::text).collect()
    }

    fn batch(&mut self, rows: &[Row], progress: &Arc<Progress>) -> Batch {
        let nothing = Value::Null;
        let first = self.arrived;
        self.arrived += rows.len() as u64;
        let mut batch = Batch {
            schema: Arc::clone(&self.schema),
            columns: vec![
                Column::of_values(rows.iter().map(|row| tidegate_types::ValueRef::Text(row.key))),
                Column::of_values(rows.iter().map(|row| row.value.as_ref())),
                Column::of_values(rows.iter().map(|_| nothing.as_ref())),
            ],
            times: rows.iter().map(|row| row.time).collect(),
            rows: (0..).take(rows.len()).collect(),
            positions: rows.iter().map(|row| row.position).collect(),
            arrivals: Arrivals::Each((first..self.arrived).collect()),
            retractions: rows.iter().any(|row| row.undone).then(|| rows.iter().map(|row| row.undone).collect()),
            keys: None,
            origin: Arc::new(Origin::default()),
            progress: Arc::clone(progress),
        };
        batch.keys = Some(keys_of(&batch, &["k".to_owned()]));
        batch
    }

    fn take(&mut self, out: OperatorOutput) {
        self.account += out.account;
        self.sides.extend(out.sides);
        for panes in out.panes {
            for (at, info) in panes.infos.iter().enumerate() {
                let key = panes.keys[0].value(at);
                if let Some(order) = &panes.order {
                    let mut encoded = Vec::new();
                    tidegate_types::key::encode_value(&mut encoded, key);
                    assert_eq!(*order.keys[at], *encoded, "the key that emitted it");
                    assert_eq!((order.keys.len(), order.positions.len()), (panes.infos.len(), panes.infos.len()));
                }
                let Value::Text(key) = key.to_value() else { panic!("keys are texts") };
                self.panes.push(Shown {
                    position: panes.order.as_ref().map(|order| order.positions[at]),
                    key: key.into(),
                    info: *info,
                    values: panes.values.iter().map(|column| column.value(at).to_value()).collect(),
                });
            }
        }
    }
}
