//! Drives process operators by hand: rounds of rows and of moves of the watermark and the clock, dealt to several subtasks.

use std::sync::Arc;

use arrow_array::BinaryArray;
use tidegate_types::batch::index32;
use tidegate_types::key::{decode_value, encode_value};
use tidegate_types::{
    Arrivals, Batch, Column, EventTime, Field, Keys, Origin, Progress, ProgressEntry, Schema, Value, ValueRef,
    Watermark, key_group, key_hash, subtask_of,
};

use super::super::{ProcessConfig, ProcessOperator};
use super::hook::Scripted;
use super::script::Op;
use crate::OperatorError;
use crate::account::Account;
use crate::operator::{Operator, OperatorOutput, Work};

/// The number of key groups.
pub(super) const GROUPS: u32 = 16;

/// A row that arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) id: u32,
    pub(super) key: String,
    pub(super) op: i64,
    pub(super) v: i64,
    pub(super) time: EventTime,
}

/// One event: rows that arrive, or a move of the watermark and the clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    Rows(Vec<Row>),
    Move(i64, EventTime),
}

/// A row that came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) key: String,
    pub(super) text: String,
    pub(super) time: EventTime,
    pub(super) watermark: i64,
    pub(super) emitted_at: EventTime,
}

/// A dead letter: of a row, or of a key's timer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Letter {
    pub(super) reason: String,
    pub(super) row: Option<u32>,
    pub(super) timer: Option<(String, String, EventTime)>,
}

pub(super) struct Bench {
    pub(super) operators: Vec<ProcessOperator>,
    pub(super) lines: Vec<Line>,
    pub(super) letters: Vec<Letter>,
    pub(super) account: Account,
    /// The records of each piece of output.
    pub(super) pieces: Vec<usize>,
}

pub(super) fn encoded(key: &str) -> Vec<u8> {
    let mut encoded = Vec::new();
    encode_value(&mut encoded, ValueRef::Text(key));
    encoded
}

fn name(mut encoded: &[u8]) -> String {
    let Ok(Value::Text(name)) = decode_value(&mut encoded) else { panic!("{encoded:?} is no text") };
    name.into()
}

/// A row of this operation; ids are given when rows are handed in.
pub(super) fn row(key: &str, op: Op, v: i64, time: EventTime) -> Row {
    Row { id: 0, key: key.into(), op: op.number(), v, time }
}

pub(super) fn arrive(key: &str, op: Op, v: i64, time: EventTime) -> Event {
    Event::Rows(vec![row(key, op, v, time)])
}

/// The watermark moves; there is no clock.
pub(super) fn mark(watermark: i64) -> Event {
    Event::Move(watermark, tidegate_types::NO_CLOCK)
}

pub(super) fn batch(rows: &[(u32, Row)]) -> Batch {
    let ints = |value: fn(&Row) -> i64| Column::of_values(rows.iter().map(|(_, row)| ValueRef::Int(value(row))));
    let keys: Vec<Vec<u8>> = rows.iter().map(|(_, row)| encoded(&row.key)).collect();
    Batch {
        schema: Arc::new(Schema::new(vec![Field::dynamic("op"), Field::dynamic("v")])),
        columns: vec![ints(|row| row.op), ints(|row| row.v)],
        times: rows.iter().map(|(_, row)| row.time).collect(),
        rows: rows.iter().map(|(_, row)| row.id).collect(),
        positions: rows.iter().map(|(position, _)| *position).collect(),
        arrivals: Arrivals::From(0),
        retractions: None,
        keys: Some(Keys {
            hashes: keys.iter().map(|key| key_hash(key)).collect(),
            encoded: BinaryArray::from_iter_values(keys),
        }),
        origin: Arc::new(Origin::default()),
        progress: Arc::default(),
    }
}

impl Bench {
    /// `hook` makes the hook of each subtask.
    pub(super) fn new(parallelism: usize, batch_rows: usize, hook: impl FnMut() -> Scripted) -> Self {
        let (operator, key_by) = ("features".into(), vec!["user".into()]);
        let config = ProcessConfig { operator, key_by, batch_rows, feeds: true, max_parallelism: GROUPS };
        let hooks = std::iter::repeat_with(hook).take(parallelism);
        let operators = hooks.map(|hook| ProcessOperator::new(config.clone(), Box::new(hook))).collect();
        Self { operators, lines: Vec::new(), letters: Vec::new(), account: Account::default(), pieces: Vec::new() }
    }

    /// One subtask with calls of up to 1,000 rows.
    pub(super) fn single(hook: Scripted) -> Self {
        let mut hook = Some(hook);
        Self::new(1, 1_000, move || hook.take().expect("there is one subtask"))
    }

    pub(super) fn round(&mut self, events: &[Event]) {
        self.try_round(events, None).expect("no test's hook pauses the job");
    }

    /// Works a round through at all subtasks, on the wall clock if it reads `now`.
    pub(super) fn try_round(&mut self, events: &[Event], now: Option<EventTime>) -> Result<(), OperatorError> {
        let mut progress = Progress::default();
        let mut rows = Vec::new();
        for (position, event) in (0..).zip(events) {
            match event {
                Event::Rows(more) => rows.extend(more.iter().map(|row| (position, row.clone()))),
                Event::Move(watermark, clock) => {
                    progress.push(ProgressEntry { position, watermark: Watermark::at(*watermark), clock: *clock });
                }
            }
        }
        let progress = Arc::new(progress);
        let subtasks = self.operators.len() as u64;
        let mut emitted = Vec::new();
        for subtask in 0..subtasks {
            let is_own = |(_, row): &&(u32, Row)| {
                let group = key_group(key_hash(&encoded(&row.key)), GROUPS);
                subtask_of(group, GROUPS, u32::try_from(subtasks).expect("few")) as u64 == subtask
            };
            let own: Vec<(u32, Row)> = rows.iter().filter(is_own).cloned().collect();
            let mut out = OperatorOutput::default();
            let operator = &mut self.operators[usize::try_from(subtask).expect("few")];
            let mut work = operator.process(vec![batch(&own)], &progress, now, &mut out)?;
            loop {
                emitted.extend(self.take(std::mem::take(&mut out)));
                let operator = &mut self.operators[usize::try_from(subtask).expect("few")];
                match work {
                    Work::Done => break,
                    Work::Paused => work = operator.resume(&mut out)?,
                }
            }
        }
        // What the router behind the operator does.
        emitted.sort_by(|(a, key_a, _), (b, key_b, _)| (a, key_a).cmp(&(b, key_b)));
        self.lines.extend(emitted.into_iter().map(|(_, _, line)| line));
        Ok(())
    }

    /// The first subtask's wall clock reaches `now`.
    pub(super) fn advance_clock(&mut self, now: EventTime) {
        let mut out = OperatorOutput::default();
        self.operators[0].advance_clock(now, &mut out).expect("no test's hook pauses the job");
        let emitted = self.take(out);
        self.lines.extend(emitted.into_iter().map(|(_, _, line)| line));
    }

    /// Notes the side records and counts of an output; returns its rows, in order.
    fn take(&mut self, out: OperatorOutput) -> Vec<(u32, Box<[u8]>, Line)> {
        self.account += out.account;
        for side in out.sides {
            let key = || side.pane.as_ref().expect("a timer has a key").key[0].1.clone();
            let key = |_| match key() {
                Value::Text(key) => key.to_string(),
                other => format!("{other:?}"),
            };
            let timer = side.timer.as_ref().map(|timer| (key(()), timer.name.clone(), timer.time));
            self.letters.push(Letter { reason: side.reason.clone(), row: side.record.map(|(_, row)| row), timer });
        }
        let mut emitted = Vec::new();
        let mut records = 0;
        for rows in out.rows {
            let order = rows.order.expect("the operator feeds another");
            records += rows.times.len();
            assert_eq!(rows.columns[0].len(), rows.times.len());
            for (row, (position, key)) in order.positions.into_iter().zip(order.keys).enumerate() {
                let ValueRef::Text(text) = rows.columns[0].value(row) else { panic!("the script emits texts") };
                let line = Line {
                    key: name(&key),
                    text: text.to_owned(),
                    time: rows.times[row],
                    watermark: rows.watermarks[row].as_millis(),
                    emitted_at: rows.emitted_at[row],
                };
                emitted.push((position, key, line));
            }
        }
        self.pieces.push(records);
        emitted
    }

    /// What came out: key, text and time of each row.
    pub(super) fn rows(&self) -> Vec<(&str, &str, EventTime)> {
        self.lines.iter().map(|line| (line.key.as_str(), line.text.as_str(), line.time)).collect()
    }

    /// The reasons of the dead letters, in order.
    pub(super) fn reasons(&self) -> Vec<&str> {
        self.letters.iter().map(|letter| letter.reason.as_str()).collect()
    }
}

/// Gives the rows their ids in order of arrival.
pub(super) fn numbered(mut events: Vec<Event>) -> Vec<Event> {
    let mut next = 0;
    for event in &mut events {
        if let Event::Rows(rows) = event {
            for row in rows {
                row.id = index32(next);
                next += 1;
            }
        }
    }
    events
}
