//! Deals side records to the outputs of the operators that they come from.
//!
//! Invariant: a record goes to its own operator's output or nowhere: an operator without one only counts.

use std::collections::BTreeMap;

use tidegate_formats::SideRecord;
use tidegate_types::stored::{Malformed, Read, Stored, put_bytes, put_len};

use crate::sink::{Prepared, SideSink, SinkError};

/// The version of what is stored.
const VERSION: u8 = 1;

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

    fn prepare(&mut self, checkpoint: u64) -> Result<Option<Prepared>, SinkError> {
        let mut all = Vec::new();
        for (operator, output) in &mut self.outputs {
            if let Some(prepared) = output.prepare(checkpoint)? {
                all.push((operator.as_str(), prepared));
            }
        }
        Ok((!all.is_empty()).then(|| Prepared(encode(&all))))
    }

    fn commit(&mut self, checkpoint: u64) -> Result<(), SinkError> {
        self.outputs.values_mut().try_for_each(|output| output.commit(checkpoint))
    }

    fn recover(&mut self, prepared: Option<&Prepared>) -> Result<(), SinkError> {
        let unusable = |reason: String| SinkError::Recover { output: "side outputs".into(), reason };
        let mut all = match prepared {
            Some(prepared) => decode(prepared).map_err(|error| unusable(error.to_string()))?,
            None => BTreeMap::new(),
        };
        for (operator, output) in &mut self.outputs {
            output.recover(all.remove(operator).as_ref())?;
        }
        match all.keys().next() {
            // What was prepared for it would never be seen.
            Some(operator) => {
                Err(unusable(format!("it names operator `{operator}`, which has no side output any more")))
            }
            None => Ok(()),
        }
    }
}

fn encode(all: &[(&str, Prepared)]) -> Vec<u8> {
    let mut out = vec![VERSION];
    put_len(&mut out, all.len());
    for (operator, Prepared(bytes)) in all {
        put_bytes(&mut out, operator.as_bytes());
        put_bytes(&mut out, bytes);
    }
    out
}

fn decode(prepared: &Prepared) -> Read<BTreeMap<String, Prepared>> {
    let mut stored = Stored::new(&prepared.0);
    if stored.byte()? != VERSION {
        return Err(Malformed::new("what side outputs prepared"));
    }
    let pair = |stored: &mut Stored<'_>| Ok((stored.text()?.to_owned(), Prepared(stored.bytes()?.to_vec())));
    let all = (0..stored.len()?).map(|_| pair(&mut stored)).collect::<Read<_>>()?;
    stored.end()?;
    Ok(all)
}
