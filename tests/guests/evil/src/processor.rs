//! The process hook: it counts the rows of each key, keeps its marks, and reports a second after its last row, unless a deed is
//! due.

use tidegate_sdk::columns::{
    Batch, Clock, Column, Due, Processed, ProcessorPlan, Rows, Shape, StatePlan, TimerPlan, Value,
};
use tidegate_sdk::processor::HostState;
use tidegate_sdk::{ColumnProcessor, Fault, Field, KeyedState, Kind};

use crate::config::{Config, Evil, Place};
use crate::mapper::reject;
use crate::state::{BY_MARK, MARKS, ROWS, SOON, misuse};
use crate::{deed, malformed};

/// The hook.
pub struct EvilProcessor {
    config: Config,
}

fn plan(config: &Config) -> ProcessorPlan {
    let state = |name: &str, shape, fields, ttl| StatePlan { name: name.to_owned(), shape, fields, ttl };
    let timer = |name: &str, clock| TimerPlan { name: name.to_owned(), clock };
    ProcessorPlan {
        reads: Some(config.reads()),
        keys: true,
        watermarks: true,
        states: vec![
            state("rows", Shape::Value, vec![Field::new("rows", Kind::Int)], None),
            state("marks", Shape::List, vec![Field::new("mark", Kind::Text)], None),
            state("by-mark", Shape::Map(Kind::Text), vec![Field::new("rows", Kind::Int)], Some(60_000)),
        ],
        timers: vec![timer("soon", Clock::Event), timer("later", Clock::Processing)],
        output: vec![Field::nullable("echo", Kind::Text), Field::new("rows", Kind::Int)],
    }
}

impl ColumnProcessor for EvilProcessor {
    type Config = Config;

    fn open(config: Config, _key: &[Field], _input: &[Field]) -> Result<(Self, ProcessorPlan), Fault> {
        let mut plan = plan(&config);
        if config.is_due(Place::Open, false, None) {
            let evil = config.evil.unwrap_or(Evil::Trap);
            deed::commit(evil)?;
            misuse(evil, &HostState, 1);
            match evil {
                Evil::PlanStates => plan.states.push(plan.states[0].clone()),
                Evil::PlanTtl => plan.states[0].ttl = Some(0),
                _ => {}
            }
        }
        Ok((Self { config }, plan))
    }

    fn process(
        &self,
        state: &dyn KeyedState,
        keys: Vec<Column>,
        groups: &[u32],
        _watermarks: &[i64],
        batch: Batch,
    ) -> Result<Processed, Fault> {
        let marks = &batch.columns[0];
        let mut counts = Vec::with_capacity(groups.len());
        for (row, group) in groups.iter().enumerate() {
            counts.push(count(state, *group, text(marks, row), batch.times[row])?);
        }
        let due = self.config.is_due(Place::Process, true, Some(marks));
        let mut columns = vec![marks.clone(), Column::from_ints(counts)];
        let Some(evil) = self.config.evil.filter(|_| due) else {
            return Ok(Processed { output: Rows { columns, times: None, sources: None }, rejected: Vec::new() });
        };
        deed::commit(evil)?;
        misuse(evil, state, u32::try_from(keys[0].rows()).unwrap_or(u32::MAX));
        if evil == Evil::Reject {
            let rejected: Vec<_> =
                self.config.marked(marks).map(|row| reject(u32::try_from(row).unwrap_or(u32::MAX))).collect();
            columns = vec![Column::from_texts(Vec::<&str>::new()), Column::from_ints(Vec::new())];
            return Ok(Processed { output: Rows { columns, times: None, sources: Some(Vec::new()) }, rejected });
        }
        if evil == Evil::StateEcho {
            return Ok(Processed { output: echo(state, groups[0]), rejected: Vec::new() });
        }
        let mut output = Rows { columns, times: None, sources: None };
        malformed::rows(evil, &mut output, groups.len());
        Ok(Processed { output, rejected: malformed::rejections(evil, groups.len()) })
    }

    fn on_timer(&self, state: &dyn KeyedState, keys: Vec<Column>, due: Due) -> Result<Rows, Fault> {
        let counts = state.get(ROWS, &due.groups).columns.remove(0);
        let echo = Column::from_texts(vec!["soon"; due.groups.len()]);
        let mut output = Rows { columns: vec![echo, counts], times: Some(due.times.clone()), sources: None };
        let here = self.config.is_due(Place::OnTimer, false, keys.first());
        if let Some(evil) = self.config.evil.filter(|_| here) {
            deed::commit(evil)?;
            misuse(evil, state, u32::try_from(keys[0].rows()).unwrap_or(u32::MAX));
            match evil {
                Evil::TimerAgain => state.set_timer(SOON, &due.groups, &due.times),
                Evil::TimerTimeless => output.times = None,
                _ => malformed::rows(evil, &mut output, due.groups.len()),
            }
        }
        Ok(output)
    }
}

/// Counts a row of a key, and of a key and mark; returns how many the key has.
fn count(state: &dyn KeyedState, key: u32, mark: &str, time: i64) -> Result<i64, Fault> {
    let rows = state.get(ROWS, &[key]);
    let rows = if rows.present[0] == 1 { rows.columns[0].as_ints()?[0] } else { 0 } + 1;
    state.put(ROWS, &[key], &[Column::from_ints(vec![rows])]);
    let marks = Column::from_texts([mark]);
    let like = state.map_get(BY_MARK, &[key], &marks);
    let like = if like.present[0] == 1 { like.columns[0].as_ints()?[0] } else { 0 } + 1;
    state.map_put(BY_MARK, &[key], &marks, &[Column::from_ints(vec![like])]);
    state.append(MARKS, &[key], &[marks]);
    state.set_timer(SOON, &[key], &[time + 1_000]);
    Ok(rows)
}

fn text(column: &Column, row: usize) -> &str {
    if let Value::Text(text) = column.value(row) { text } else { "" }
}

/// All marks of a key, as rows of the first input row.
fn echo(state: &dyn KeyedState, key: u32) -> Rows {
    let marks = state.get_list(MARKS, &[key]).columns.remove(0);
    let rows = marks.rows();
    Rows { columns: vec![marks, Column::from_ints(vec![0; rows])], times: None, sources: Some(vec![0; rows]) }
}
