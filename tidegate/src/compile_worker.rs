//! `tidegate compile-worker`: what the platform starts for each component that it compiles. Not for people.

use std::io::{stdin, stdout};

use crate::failure::Failure;

/// Compiles the component on standard input; the answer goes to standard output.
///
/// # Errors
/// If the machine does not let it: limits, pipes. A component that is refused is an answer.
pub(crate) fn run() -> Result<(), Failure> {
    tidegate_admission::work(stdin().lock(), stdout().lock())
        .map_err(|error| Failure::external(format!("compile-worker: {error}")))
}
