//! The map hook: `mark` comes back as `echo` with `calls`, unless a deed is due.

use std::cell::Cell;

use tidegate_sdk::columns::{Batch, Column, Mapped, MapperPlan, Rejection, Rows};
use tidegate_sdk::processor::HostState;
use tidegate_sdk::{ColumnMapper, Fault, Field, Kind};

use crate::config::{Config, Evil, Place};
use crate::{deed, malformed, state};

/// The hook.
pub struct EvilMapper {
    config: Config,
    calls: Cell<i64>,
}

impl ColumnMapper for EvilMapper {
    type Config = Config;

    fn open(config: Config, _input: &[Field]) -> Result<(Self, MapperPlan), Fault> {
        let mut reads = config.reads();
        let echo = Field { name: "echo".to_owned(), ..reads.columns[0].clone() };
        let mut output = vec![echo, Field::new("calls", Kind::Int)];
        let mut keep = Vec::new();
        if config.is_due(Place::Open, false, None) {
            let evil = config.evil.unwrap_or(Evil::Trap);
            deed::commit(evil)?;
            match evil {
                Evil::PlanTwice => reads.columns.push(reads.columns[0].clone()),
                Evil::PlanHuge => output = (0..10_000).map(|i| Field::new(format!("f{i}"), Kind::Int)).collect(),
                Evil::PlanClash => keep.push("echo".to_owned()),
                _ => {}
            }
        }
        let plan = MapperPlan { reads: Some(reads), keep, output };
        Ok((Self { config, calls: Cell::new(0) }, plan))
    }

    fn process(&self, batch: Batch) -> Result<Mapped, Fault> {
        let mut columns = batch.columns;
        let rows = columns[0].rows();
        let due = self.config.is_due(Place::Process, true, Some(&columns[0]));
        self.calls.set(self.calls.get() + 1);
        let seen = if due && self.config.evil == Some(Evil::Remember) { self.calls.get() } else { 0 };
        columns.push(Column::from_ints(vec![seen; rows]));
        let mut output = Rows { columns, times: None, sources: None };
        let Some(evil) = self.config.evil.filter(|_| due) else {
            return Ok(Mapped { output, rejected: Vec::new() });
        };
        deed::commit(evil)?;
        // A mapper has no state.
        state::misuse(evil, &HostState, 1);
        if evil == Evil::Reject {
            return Ok(self.reject_marked(&output.columns));
        }
        malformed::rows(evil, &mut output, rows);
        Ok(Mapped { output, rejected: malformed::rejections(evil, rows) })
    }
}

impl EvilMapper {
    /// The honest refusal: marked rows are rejected, the others echoed.
    fn reject_marked(&self, columns: &[Column]) -> Mapped {
        let marked: Vec<usize> = self.config.marked(&columns[0]).collect();
        let honest: Vec<usize> = (0..columns[0].rows()).filter(|row| !marked.contains(row)).collect();
        let number = |row: &usize| u32::try_from(*row).unwrap_or(u32::MAX);
        let rejected = marked.iter().map(|row| reject(number(row))).collect();
        let sources = honest.iter().map(number).collect();
        let columns = columns.iter().map(|column| take(column, &honest)).collect();
        Mapped { output: Rows { columns, times: None, sources: Some(sources) }, rejected }
    }
}

pub(crate) fn reject(row: u32) -> Rejection {
    Rejection { row, code: "evil-row".to_owned(), message: "marked".to_owned() }
}

fn take(column: &Column, rows: &[usize]) -> Column {
    use tidegate_sdk::columns::Value;
    let values = rows.iter().map(|row| column.value(*row));
    let present = column.present.as_ref().map(|present| rows.iter().map(|row| present[*row]).collect());
    let taken = match column.as_ints() {
        Ok(_) => Column::from_ints(values.map(|value| if let Value::Int(int) = value { int } else { 0 }).collect()),
        Err(_) => Column::from_texts(values.map(|value| if let Value::Text(text) = value { text } else { "" })),
    };
    Column { present, ..taken }
}
