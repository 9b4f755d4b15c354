//! A job of one source and one stateful operator, stepped by hand: what benches and tests of an operator drive.

use tidegate_connectors::SourceBatch;
use tidegate_types::{Batch, EventTime};

use super::Job;
use crate::OperatorError;
use crate::account::Account;
use crate::operator::Operator;
use crate::route::{Part, Route, Routed, send};
use crate::side::Side;
use crate::sources::Sources;

/// Such a job.
pub struct Steps {
    sources: Sources,
    routes: Vec<Route>,
    /// The operator's subtasks.
    pub operators: Vec<Box<dyn Operator>>,
}

/// What the source made of a batch.
#[derive(Debug)]
pub struct Step {
    /// For each subtask, its rows, with the source's progress.
    pub batches: Vec<Batch>,
    /// Rejected records.
    pub sides: Vec<Side>,
    /// What became of the records so far.
    pub account: Account,
}

impl Job {
    /// The job, to be stepped by hand.
    ///
    /// # Panics
    /// If it has more than one source or stateful operator.
    #[must_use]
    pub fn into_steps(mut self) -> Steps {
        assert_eq!((self.ways.len(), self.nodes.len()), (1, 1), "one source and one operator");
        let routes = self.ways.remove(0).routes;
        let operators = self.nodes.remove(0).subtasks.into_iter().map(|subtask| subtask.operator).collect();
        Steps { sources: self.sources, routes, operators }
    }
}

impl Steps {
    /// Works through what was read. `now`: the wall clock's reading; none under a virtual clock.
    ///
    /// # Errors
    /// If a map hook cannot be called.
    pub fn read(&mut self, input: SourceBatch, now: Option<EventTime>) -> Result<Step, OperatorError> {
        let mut round = self.sources.process(input, now)?;
        let batch = round.batches.remove(0);
        let mut routed = Routed::new(1);
        (routed.sides, routed.account) = (round.sides, round.account);
        let clock = tidegate_types::NO_CLOCK;
        send(&mut self.routes, Part::of_source(batch, tidegate_types::Watermark::MIN, clock), &mut routed)?;
        let batches = routed.dealt.remove(0).into_iter().map(|part| part.batch).collect();
        Ok(Step { batches, sides: routed.sides, account: routed.account })
    }
}
