//! Who is guilty when a hook's call fails: the search that condemns single records and nothing else.
//!
//! The records of a failed call are halved and run in order, each half in a fresh instance, the second on what the first
//! left (for a stateful hook). Only a call with one record, in a fresh instance, with twice the fuel budget, condemns.
//! Where a hook's cost and answers for a record do not depend on its neighbours, the verdict is the same for every cut
//! of the input. Wall-clock stops and faults of the host never condemn: they are tried again, and then stop the task.

use tidegate_types::hooks::{Answer, Call, GuestFailure, HookError, HookResult};

use crate::OperatorError;

/// After so many condemned records a batch goes on record by record.
pub(crate) const CONDEMNED_BEFORE_SINGLE: usize = 8;

/// How often a call that the wall clock stopped is tried again before the job pauses.
const STOPS_BEFORE_PAUSE: u32 = 3;

/// Makes a call, again if the wall clock stopped it. The outer error stops the task.
pub(crate) fn insist<T>(
    operator: &str,
    mut call: impl FnMut() -> HookResult<T>,
) -> Result<Result<Answer<T>, GuestFailure>, OperatorError> {
    let mut stops = 0;
    loop {
        match call() {
            Ok(answer) => return Ok(Ok(answer)),
            Err(HookError::Guest(failure)) => return Ok(Err(failure)),
            Err(HookError::Interrupted { .. }) if stops + 1 < STOPS_BEFORE_PAUSE => stops += 1,
            Err(HookError::Interrupted { .. }) => {
                return Err(OperatorError::Paused { operator: operator.to_owned(), stops: stops + 1 });
            }
            Err(HookError::Platform { detail }) => {
                return Err(OperatorError::Platform { operator: operator.to_owned(), detail });
            }
        }
    }
}

/// A hook's work on a span of records, as the search needs it.
pub(crate) trait Work {
    /// Runs records `from..to` of the failed call on what the ones before left, with `call`'s instance and budget, and
    /// keeps the outcome if it succeeds. A failed run leaves nothing behind.
    fn run(&mut self, call: Call, from: usize, to: usize) -> Result<Result<(), GuestFailure>, OperatorError>;
    /// Record `at` is guilty.
    fn condemn(&mut self, at: usize, failure: GuestFailure);
}

/// Finds the guilty among records `from..to` after a call with all of them failed.
///
/// `condemned` counts the batch's condemned records, this search's included.
pub(crate) fn search(work: &mut impl Work, from: usize, to: usize, condemned: &mut usize) -> Result<(), OperatorError> {
    if to - from <= 1 {
        return judge(work, from, to, condemned);
    }
    let middle = from + (to - from).div_ceil(2);
    for (from, to) in [(from, middle), (middle, to)] {
        if *condemned >= CONDEMNED_BEFORE_SINGLE {
            for at in from..to {
                judge(work, at, at + 1, condemned)?;
            }
        } else if work.run(Call::HALF, from, to)?.is_err() {
            search(work, from, to, condemned)?;
        }
    }
    Ok(())
}

fn judge(work: &mut impl Work, from: usize, to: usize, condemned: &mut usize) -> Result<(), OperatorError> {
    for at in from..to {
        if let Err(failure) = work.run(Call::VERDICT, at, at + 1)? {
            work.condemn(at, failure);
            *condemned += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
