//! The map hook that gives back every declared field as it came: what crossing the border costs, and nothing else.
//!
//! No config. It works on whole columns and hands the host's own lists back without looking at them.

use tidegate_sdk::columns::{Batch, Mapped, MapperPlan, Reads, Rows};
use tidegate_sdk::{ColumnMapper, Fault, Field};

/// The hook.
pub struct Identity;

impl ColumnMapper for Identity {
    type Config = ();

    fn open((): (), input: &[Field]) -> Result<(Self, MapperPlan), Fault> {
        let reads = Reads { columns: input.to_vec(), times: false };
        Ok((Self, MapperPlan { reads: Some(reads), keep: Vec::new(), output: input.to_vec() }))
    }

    fn process(&self, batch: Batch) -> Result<Mapped, Fault> {
        let output = Rows { columns: batch.columns, times: None, sources: None };
        Ok(Mapped { output, rejected: Vec::new() })
    }
}

tidegate_sdk::export! {
    column_mapper: Identity,
}
