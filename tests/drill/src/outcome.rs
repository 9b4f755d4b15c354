//! What came out of a job, as its tenant sees it.

use std::collections::BTreeMap;

use serde_json::Value;

/// Everything that a job gave in the end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcome {
    /// Its account.
    pub(crate) account: Value,
    /// The records of each table and stream, with their partitions (of tables 0), in order.
    pub(crate) outputs: BTreeMap<&'static str, Vec<(u64, Value)>>,
}

/// The lines of an answer, each as what it is in JSON.
pub(crate) fn json_lines(body: &str) -> Result<Vec<Value>, String> {
    let parse = |line: &str| serde_json::from_str(line).map_err(|error| format!("{line}: {error}"));
    body.lines().filter(|line| !line.is_empty()).map(parse).collect()
}
