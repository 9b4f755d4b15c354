//! Drives a join by hand: events in, what came out of each, however the events are cut into rounds.

use std::sync::Arc;

use tidegate_pipeline::{Hook as HookSpec, Join, JoinKind, JoinOutput, JoinSide, Matching, Selected, WindowKind};
use tidegate_types::batch::index32;
use tidegate_types::{
    Arrivals, Batch, Column, Field, Millis, NO_CLOCK, Origin, Progress, ProgressEntry, ReadRecords, Schema, Value,
    ValueRef, Watermark,
};

use super::script::Script;
use crate::join::{JoinConfig, join_operator};
use crate::keyed::keys_of;
use crate::{Account, Operator, OperatorOutput, StateSize, Work};

/// A row of the left or the right input.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) side: JoinSide,
    pub(super) key: Value,
    pub(super) time: i64,
    /// What pairs show of it.
    pub(super) mark: Value,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Event {
    Row(Row),
    /// Rows that arrive by one event, the left ones first; then the watermark that it brings.
    Together(Vec<Row>, Option<i64>),
    Watermark(i64),
}

/// The number of key groups.
pub(super) const GROUPS: u32 = 16;

/// The watermark at the end of the input.
pub(super) const END: Event = Event::Watermark(i64::MAX);

pub(super) fn left(key: impl Into<Value>, time: i64, mark: impl Into<Value>) -> Event {
    Event::Row(Row { side: JoinSide::Left, key: key.into(), time, mark: mark.into() })
}

pub(super) fn right(key: impl Into<Value>, time: i64, mark: impl Into<Value>) -> Event {
    Event::Row(Row { side: JoinSide::Right, key: key.into(), time, mark: mark.into() })
}

pub(super) fn at(watermark: i64) -> Event {
    Event::Watermark(watermark)
}

/// An interval join without lateness.
pub(super) fn interval(lower: i64, upper: i64, matching: Matching) -> Join {
    join(JoinKind::Interval { lower, upper }, matching, 0)
}

/// A join of windows of `size` every `slide`.
pub(super) fn windows(size: i64, slide: i64, lateness: i64) -> Join {
    let (size, offset) = (Millis(size), Millis(0));
    let kind = if size.0 == slide {
        WindowKind::Tumbling { size, offset }
    } else {
        WindowKind::Sliding { size, slide: Millis(slide), offset }
    };
    join(JoinKind::Window(kind), Matching::Inner, lateness)
}

pub(super) fn join(kind: JoinKind, matching: Matching, lateness: i64) -> Join {
    let selected = |name: &str, side| Selected { name: name.into(), side, field: "mark".into() };
    Join {
        kind,
        matching,
        left_key: vec!["key".into()],
        right_key: vec!["id".into()],
        allowed_lateness: Millis(lateness),
        output: JoinOutput::Select(vec![selected("l", JoinSide::Left), selected("r", JoinSide::Right)]),
        late_side_output: None,
    }
}

/// A row that came out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Out {
    /// Which event brought it about.
    pub(super) event: usize,
    pub(super) key: Vec<u8>,
    /// The first two columns.
    pub(super) left: Value,
    pub(super) right: Value,
    pub(super) time: i64,
    pub(super) watermark: Watermark,
}

/// A record that left at the side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Aside {
    pub(super) reason: String,
    pub(super) operator: String,
    /// The record's bytes: `left` or `right` and the mark.
    pub(super) record: String,
}

#[derive(Debug)]
pub(super) struct Ran {
    pub(super) outs: Vec<Out>,
    pub(super) sides: Vec<Aside>,
    pub(super) account: Account,
    /// How many rows each piece of output has.
    pub(super) pieces: Vec<usize>,
    /// What was kept after each round.
    pub(super) states: Vec<StateSize>,
}

impl Ran {
    /// Left mark, right mark and time of each row, in order.
    pub(super) fn rows(&self) -> Vec<(Option<i64>, Option<i64>, i64)> {
        self.outs.iter().map(|out| (int(&out.left), int(&out.right), out.time)).collect()
    }

    /// The same, with the event that brought it about in place of the time.
    pub(super) fn by_event(&self) -> Vec<(usize, Option<i64>, Option<i64>)> {
        self.outs.iter().map(|out| (out.event, int(&out.left), int(&out.right))).collect()
    }

    /// The records at the side.
    pub(super) fn asides(&self) -> Vec<(&str, &str)> {
        self.sides.iter().map(|side| (side.reason.as_str(), side.record.as_str())).collect()
    }

    pub(super) fn last_state(&self) -> StateSize {
        *self.states.last().expect("there was a round")
    }
}

fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(int) => Some(*int),
        Value::Null => None,
        other => panic!("{other:?} is no integer"),
    }
}

/// Runs each event as a round of its own.
pub(super) fn run(join: &Join, events: &[Event]) -> Ran {
    run_in(join, None, events, &vec![1; events.len()])
}

/// Runs the events in rounds of these lengths, with a hook if there is one.
pub(super) fn run_in(join: &Join, script: Option<&Script>, events: &[Event], lengths: &[usize]) -> Ran {
    let mut operator = operator(join, script);
    let mut ran = new_ran();
    let mut first = 0;
    for length in lengths {
        let events = &events[first..first + length];
        round(operator.as_mut(), events, first, &mut ran);
        first += length;
    }
    assert_eq!(first, events.len(), "the rounds hold all events");
    ran
}

/// Nothing came out yet.
pub(super) fn new_ran() -> Ran {
    Ran { outs: vec![], sides: vec![], account: Account::default(), pieces: vec![], states: vec![] }
}

/// A fresh operator, with a hook if there is one.
pub(super) fn operator(join: &Join, script: Option<&Script>) -> Box<dyn Operator> {
    let mut join = join.clone();
    if script.is_some() {
        join.output = JoinOutput::Hook(hook_spec());
    }
    let config = JoinConfig { join, operator: "pairs".into(), feeds: true, batch_rows: 1000, max_parallelism: GROUPS };
    join_operator(config, script.map(Script::open))
}

pub(super) fn hook_spec() -> HookSpec {
    let component = tidegate_pipeline::ComponentRef { name: "pair".into(), version: None };
    HookSpec { uid: "pairs.hook".into(), component, config: Default::default() }
}

pub(super) fn round(operator: &mut dyn Operator, events: &[Event], first: usize, ran: &mut Ran) {
    let mut sides = [Vec::new(), Vec::new()];
    let mut progress = Progress::default();
    let mut add =
        |position: u32, row: &Row| sides[usize::from(row.side == JoinSide::Right)].push((position, row.clone()));
    for (position, event) in events.iter().enumerate() {
        let position = index32(position);
        let moved = match event {
            Event::Row(row) => {
                add(position, row);
                None
            }
            Event::Together(rows, moved) => {
                rows.iter().for_each(|row| add(position, row));
                *moved
            }
            Event::Watermark(moved) => Some(*moved),
        };
        if let Some(watermark) = moved.map(Watermark::at) {
            progress.push(ProgressEntry { position, watermark, clock: NO_CLOCK });
        }
    }
    let inputs = vec![batch(&sides[0], "key"), batch(&sides[1], "id")];
    let mut out = OperatorOutput::default();
    let mut work = operator.process(inputs, &Arc::new(progress), None, &mut out).expect("no hook stops the task");
    loop {
        take(std::mem::take(&mut out), first, ran);
        match work {
            Work::Done => break,
            Work::Paused => work = operator.resume(&mut out).expect("no hook stops the task"),
        }
    }
    ran.states.push(operator.state());
}

fn batch(rows: &[(u32, Row)], key: &str) -> Batch {
    let column = |value: fn(&Row) -> &Value| Column::of_values(rows.iter().map(|(_, row)| value(row).as_ref()));
    let mut read = ReadRecords::default();
    let mut data = String::new();
    for (number, (_, row)) in (0..).zip(rows) {
        let start = index32(data.len());
        let name = if row.side == JoinSide::Left { "left" } else { "right" };
        let mark = match &row.mark {
            Value::Text(text) => text.len().to_string(),
            mark => format!("{:?}", int(mark)),
        };
        data.push_str(&format!("{name} {mark}"));
        read.spans.push((start, index32(data.len())));
        read.partitions.push(Value::Text(name.into()));
        read.offsets.push(number);
    }
    read.data = data.into_bytes().into();
    let mut batch = Batch {
        schema: Arc::new(Schema::new(vec![Field::dynamic(key), Field::dynamic("mark")])),
        columns: vec![column(|row| &row.key), column(|row| &row.mark)],
        times: rows.iter().map(|(_, row)| row.time).collect(),
        rows: (0..index32(rows.len())).collect(),
        positions: rows.iter().map(|(position, _)| *position).collect(),
        arrivals: Arrivals::From(0),
        retractions: None,
        keys: None,
        origin: Arc::new(Origin::Read(read)),
        progress: Arc::default(),
    };
    batch.keys = Some(keys_of(&batch, &[key.to_owned()]));
    batch
}

fn take(out: OperatorOutput, first: usize, ran: &mut Ran) {
    ran.account += out.account;
    ran.pieces.push(out.rows.iter().map(|rows| rows.times.len()).sum());
    for rows in out.rows {
        let order = rows.order.expect("the operator feeds another");
        assert!(order.positions.windows(2).all(|pair| pair[0] <= pair[1]), "positions ascend");
        for row in 0..rows.times.len() {
            let value = |column: usize| rows.columns.get(column).map_or(ValueRef::Null, |column| column.value(row));
            ran.outs.push(Out {
                event: first + usize::try_from(order.positions[row]).expect("few"),
                key: order.keys[row].to_vec(),
                left: value(0).to_value(),
                right: value(1).to_value(),
                time: rows.times[row],
                watermark: rows.watermarks[row],
            });
        }
    }
    for side in out.sides {
        let (origin, record) = side.record.expect("every record at the side is known");
        ran.sides.push(Aside {
            reason: side.reason,
            operator: side.operator.to_string(),
            record: String::from_utf8(origin.record(record).into_owned()).expect("text"),
        });
    }
}
