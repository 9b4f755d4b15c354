//! The window hook: minutes, unless a deed is due.

use tidegate_sdk::columns::{Assignments, Batch, Column, Decision, Panes, Rows, WindowerPlan};
use tidegate_sdk::{ColumnWindower, Fault, Field};

use crate::config::{Config, Evil, Place};
use crate::deed;

const MINUTE: i64 = 60_000;

/// The hook. It decides and emits only where the config's `in` says so; there the mark is looked for in the first key field.
pub struct EvilWindower {
    config: Config,
}

impl ColumnWindower for EvilWindower {
    type Config = Config;

    fn open(config: Config, _key: &[Field], _input: &[Field], value: &[Field]) -> Result<(Self, WindowerPlan), Fault> {
        if let Some(evil) = config.evil.filter(|_| config.is_due(Place::Open, false, None)) {
            deed::commit(evil)?;
        }
        let emits = config.place == Some(Place::Emit);
        let output = if emits { value.to_vec() } else { Vec::new() };
        let decides = config.place == Some(Place::Decide);
        Ok((Self { config: config.clone() }, WindowerPlan { reads: Some(config.reads()), decides, emits, output }))
    }

    fn assign(&self, batch: Batch) -> Result<Assignments, Fault> {
        let due = self.config.is_due(Place::Assign, true, Some(&batch.columns[0]));
        let starts: Vec<i64> = batch.times.iter().map(|time| time.div_euclid(MINUTE) * MINUTE).collect();
        let ends = starts.iter().map(|start| start + MINUTE).collect();
        let rows = u32::try_from(starts.len()).unwrap_or(u32::MAX);
        let mut made = Assignments { offsets: (0..=rows).collect(), starts, ends };
        if let Some(evil) = self.config.evil.filter(|_| due) {
            deed::commit(evil)?;
            bend(evil, &mut made, rows);
        }
        Ok(made)
    }

    fn decide(
        &self,
        keys: Vec<Column>,
        _starts: &[i64],
        ends: &[i64],
        counts: &[u32],
        watermark: i64,
    ) -> Result<Vec<Decision>, Fault> {
        let decide = |end: &i64| if *end <= watermark { Decision::FireAndPurge } else { Decision::Wait };
        let mut decisions: Vec<Decision> = ends.iter().map(decide).collect();
        if let Some(evil) = self.config.evil.filter(|_| self.config.is_due_deciding(keys.first(), counts)) {
            deed::commit(evil)?;
            if evil == Evil::DecisionsShort {
                decisions.pop();
            }
        }
        Ok(decisions)
    }

    fn emit(&self, panes: Panes, keys: Vec<Column>, values: Vec<Column>) -> Result<Rows, Fault> {
        let mut output = Rows { columns: values, times: None, sources: None };
        if let Some(evil) = self.config.evil.filter(|_| self.config.is_due(Place::Emit, false, keys.first())) {
            deed::commit(evil)?;
            if matches!(evil, Evil::SourcesRange | Evil::SourcesOrder | Evil::SourcesShort | Evil::TimesShort) {
                crate::malformed::rows(evil, &mut output, panes.starts.len());
            }
        }
        Ok(output)
    }
}

fn bend(evil: Evil, made: &mut Assignments, rows: u32) {
    match evil {
        Evil::WindowEmpty => made.ends.clone_from(&made.starts),
        Evil::WindowOrder => {
            made.offsets = (0..=rows).map(|row| 2 * row).collect();
            let doubled: Vec<i64> = made.starts.iter().flat_map(|start| [start + MINUTE, *start]).collect();
            made.ends = doubled.iter().map(|start| start + MINUTE).collect();
            made.starts = doubled;
        }
        Evil::WindowMany => {
            const MANY: u32 = 1_000_000;
            made.starts = (0..i64::from(MANY)).collect();
            made.ends = made.starts.iter().map(|start| start + 1).collect();
            made.offsets = (0..=rows).map(|row| if row == 0 { 0 } else { MANY }).collect();
        }
        Evil::OffsetsStart => made.offsets[0] = 1,
        Evil::OffsetsPast => made.offsets.fill(u32::MAX),
        Evil::OffsetsShort => drop(made.offsets.pop()),
        Evil::OffsetsNone => made.offsets.clear(),
        _ => {}
    }
}
