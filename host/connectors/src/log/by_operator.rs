//! Deals side records to the outputs of the operators that they come from.
//!
//! Invariant: a record goes to its own operator's output or nowhere: an operator without one only counts.

use std::collections::BTreeMap;

use tidegate_formats::SideRecord;

use crate::sink::{SideSink, SinkError};

/// An output for each of some operators, by their ids. Records MUST say their operator.
#[derive(Default)]
pub struct SideByOperator {
    outputs: BTreeMap<String, Box<dyn SideSink>>,
}

impl SideByOperator {
    /// The records of this operator go here.
    pub fn add(&mut self, operator: String, output: Box<dyn SideSink>) {
        self.outputs.insert(operator, output);
    }
}

impl SideSink for SideByOperator {
    fn write(&mut self, record: &SideRecord<'_>) -> Result<(), SinkError> {
        match record.operator.and_then(|operator| self.outputs.get_mut(operator)) {
            Some(output) => output.write(record),
            None => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.outputs.values_mut().try_for_each(|output| output.flush())
    }
}
