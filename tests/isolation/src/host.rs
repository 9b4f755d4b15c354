//! The host's side of the tests: a sandbox, and rows to call hooks with.

use std::sync::Arc;

use arrow_array::{Int64Array, StringArray};
use tidegate_sandbox::{Component, NoLog, OpenOptions, Sandbox, SandboxConfig};
use tidegate_types::hooks::{GuestFailure, HookError, HookRows, MapHook};
use tidegate_types::{Column, Field, Kind};

/// A sandbox for a few instances.
pub fn sandbox() -> Sandbox {
    sandbox_with(|_| {})
}

/// A sandbox with other limits.
pub fn sandbox_with(change: impl FnOnce(&mut SandboxConfig)) -> Sandbox {
    let mut config = SandboxConfig { instances: 4, ..SandboxConfig::default() };
    change(&mut config);
    Sandbox::new(config).expect("the sandbox starts")
}

/// A component from its bytes.
///
/// # Panics
/// If it does not load.
#[must_use]
pub fn load(sandbox: &Sandbox, bytes: &[u8]) -> Component {
    sandbox.load("guest", bytes).expect("the component loads")
}

/// The usual options, without a log.
#[must_use]
pub fn options() -> OpenOptions {
    OpenOptions::new(Arc::new(NoLog))
}

/// `n: int`, `name: text?`.
pub fn fields() -> Vec<Field> {
    vec![Field::typed("n", Kind::Int, false), Field::typed("name", Kind::Text, true)]
}

/// Rows of [`fields`], numbered from `from`, every third one without a name, with times.
pub fn rows(from: i64, count: usize) -> HookRows {
    let numbers: Vec<i64> = (from..).take(count).collect();
    let names = numbers.iter().map(|n| (n % 3 != 0).then(|| format!("row {n}")));
    let names: StringArray = names.collect();
    HookRows {
        len: count,
        times: numbers.iter().map(|n| n * 1_000).collect(),
        columns: vec![Column::Int(Int64Array::from(numbers)), Column::Text(names)],
    }
}

/// A map hook of a guest over [`fields`].
pub fn mapper(sandbox: &Sandbox, bytes: &[u8]) -> Box<dyn MapHook> {
    load(sandbox, bytes).open_mapper("null", &fields(), options()).expect("the hook opens")
}

/// The guest's failure, of this code.
pub fn guest_failure<T: std::fmt::Debug>(result: Result<T, HookError>, code: &str) -> GuestFailure {
    match result {
        Err(HookError::Guest(failure)) if failure.code == code => failure,
        other => panic!("a failure of the code {code} was due, not {other:?}"),
    }
}

/// Values as they are printed, to compare columns by.
pub fn values(columns: &[Column]) -> Vec<Vec<String>> {
    let column = |column: &Column| (0..column.len()).map(|row| format!("{:?}", column.value(row))).collect();
    columns.iter().map(column).collect()
}
