//! The aggregate hook: it counts rows and keeps the last mark, unless a deed is due.
//!
//! Accumulator and pane: `seen` (text: the last row's mark, `""` before any; once it is the mark of the config, it stays) and `rows`
//! (int). In `merge` and `finish` the deed is due where an accumulator has seen the mark.

use std::cell::Cell;

use tidegate_sdk::columns::{Accumulated, AggregatorPlan, Batch, Cells, Column, Value};
use tidegate_sdk::{ColumnAggregator, Fault, Field, Kind};

use crate::config::{Config, Evil, Mark, Place};
use crate::mapper::reject;
use crate::{deed, malformed};

/// The hook.
pub struct EvilAggregator {
    config: Config,
    calls: Cell<i64>,
}

fn shape() -> Vec<Field> {
    vec![Field::new("seen", Kind::Text), Field::new("rows", Kind::Int)]
}

impl ColumnAggregator for EvilAggregator {
    type Config = Config;

    fn open(config: Config, _key: &[Field], _input: &[Field]) -> Result<(Self, AggregatorPlan), Fault> {
        let mut reads = config.reads();
        let mut output = shape();
        let mut fresh = 1;
        if config.is_due(Place::Open, false, None) {
            let evil = config.evil.unwrap_or(Evil::Trap);
            deed::commit(evil)?;
            match evil {
                Evil::PlanTwice => reads.columns.push(reads.columns[0].clone()),
                Evil::PlanHuge => output = (0..10_000).map(|i| Field::new(format!("f{i}"), Kind::Int)).collect(),
                Evil::PlanInitial => fresh = 2,
                _ => {}
            }
        }
        let initial = vec![Column::from_texts(vec![""; fresh]), Column::from_ints(vec![0; fresh])];
        let plan =
            AggregatorPlan { reads: Some(reads), keys: false, windows: false, accumulator: shape(), initial, output };
        Ok((Self { config, calls: Cell::new(0) }, plan))
    }

    fn accumulate(
        &self,
        _cells: Cells,
        accumulators: Vec<Column>,
        groups: &[u32],
        batch: Batch,
    ) -> Result<Accumulated, Fault> {
        let marks = &batch.columns[0];
        self.calls.set(self.calls.get() + 1);
        let (mut seen, mut counts) = read(&accumulators)?;
        for (row, group) in groups.iter().enumerate() {
            let group = usize::try_from(*group).unwrap_or(usize::MAX);
            counts[group] += 1;
            if self.wanted().as_deref() != Some(&seen[group]) {
                match marks.value(row) {
                    Value::Text(text) => text.clone_into(&mut seen[group]),
                    Value::Int(int) => seen[group] = int.to_string(),
                    _ => {}
                }
            }
        }
        let due = self.config.is_due(Place::Accumulate, true, Some(marks));
        let Some(evil) = self.config.evil.filter(|_| due) else {
            return Ok(Accumulated { accumulators: write(seen, counts), rejected: Vec::new() });
        };
        deed::commit(evil)?;
        if evil == Evil::Remember {
            counts.fill(self.calls.get());
        }
        let mut accumulators = write(seen, counts);
        let rejected = if evil == Evil::Reject {
            let rows = self.config.marked(marks);
            rows.map(|row| reject(u32::try_from(row).unwrap_or(u32::MAX))).collect()
        } else {
            malformed::columns(evil, &mut accumulators);
            malformed::rejections(evil, groups.len())
        };
        Ok(Accumulated { accumulators, rejected })
    }

    fn merge(&self, left: Vec<Column>, right: Vec<Column>) -> Result<Vec<Column>, Fault> {
        let due = self.is_due(Place::Merge, &left) || self.is_due(Place::Merge, &right);
        let (mut seen, mut counts) = read(&left)?;
        let (other_seen, other_counts) = read(&right)?;
        for (row, (mark, count)) in other_seen.into_iter().zip(other_counts).enumerate() {
            counts[row] += count;
            if !mark.is_empty() && self.wanted().as_deref() != Some(&seen[row]) {
                seen[row] = mark;
            }
        }
        self.answer(due, write(seen, counts))
    }

    fn finish(&self, _cells: Cells, accumulators: Vec<Column>) -> Result<Vec<Column>, Fault> {
        self.answer(self.is_due(Place::Finish, &accumulators), accumulators)
    }
}

impl EvilAggregator {
    /// The mark, as `seen` has it.
    fn wanted(&self) -> Option<String> {
        self.config.on.as_ref().map(|mark| match mark {
            Mark::Int(int) => int.to_string(),
            Mark::Text(text) => text.clone(),
        })
    }

    fn is_due(&self, place: Place, accumulators: &[Column]) -> bool {
        let has_mark =
            |wanted: String| (0..accumulators[0].rows()).any(|row| accumulators[0].value(row) == Value::Text(&wanted));
        self.config.is_due(place, false, None) && self.wanted().is_none_or(has_mark)
    }

    fn answer(&self, due: bool, mut columns: Vec<Column>) -> Result<Vec<Column>, Fault> {
        if let Some(evil) = self.config.evil.filter(|_| due) {
            deed::commit(evil)?;
            malformed::columns(evil, &mut columns);
        }
        Ok(columns)
    }
}

fn read(accumulators: &[Column]) -> Result<(Vec<String>, Vec<i64>), Fault> {
    let seen = accumulators[0].as_texts()?.iter().map(str::to_owned).collect();
    Ok((seen, accumulators[1].as_ints()?.to_vec()))
}

fn write(seen: Vec<String>, counts: Vec<i64>) -> Vec<Column> {
    vec![Column::from_texts(seen), Column::from_ints(counts)]
}
