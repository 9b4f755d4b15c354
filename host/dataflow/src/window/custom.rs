//! A tenant's own windows: the `window` hook assigns rows to windows, and may decide when they fire and what is emitted.
//!
//! Assignment is stateless and asked once per batch; a row on which it fails is rejected before any other check. Where the
//! hook decides, it is asked after every row that a window gets (with the count 1) and when the watermark passes a
//! window's end (with the count 0), so that no answer depends on how batches were cut; one call asks for as many windows
//! as a run touches and the fuel budget bears. The host still purges every window at its end plus the allowed lateness.

use std::sync::Arc;

use tidegate_types::Batch;
use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::{Assignments, Call, ComponentId, GuestFailure, WindowHook, WindowPlan};
use tidegate_windows::WindowSpan;

use crate::OperatorError;
use crate::map::TYPE_MISMATCH;
use crate::pacer::Pacer;
use crate::reads::ReadColumns;
use crate::side::Condemned;
use crate::verdict::{Work, insist, search};

mod deciding;
mod emitting;

pub(super) use emitting::Made;

/// A window hook and how much each of its functions bears in one call.
pub(crate) struct CustomWindows {
    hook: Box<dyn WindowHook>,
    operator: Arc<str>,
    assigns: Pacer,
    decides: Pacer,
    emits: Pacer,
}

/// The windows of each row of a batch, in order of end, then start.
#[derive(Debug, Default)]
pub(super) struct Assigned {
    windows: Vec<Vec<WindowSpan>>,
}

impl Assigned {
    /// The windows of a row.
    pub(super) fn of(&self, row: usize) -> &[WindowSpan] {
        &self.windows[row]
    }
}

impl CustomWindows {
    /// A hook at work. `batch_rows` bounds a call's rows, windows or panes.
    pub(crate) fn new(hook: Box<dyn WindowHook>, operator: Arc<str>, batch_rows: usize) -> Self {
        let pacer = || Pacer::new(batch_rows);
        Self { hook, operator, assigns: pacer(), decides: pacer(), emits: pacer() }
    }

    pub(super) fn plan(&self) -> &WindowPlan {
        self.hook.plan()
    }

    pub(super) fn component(&self) -> &Arc<ComponentId> {
        self.hook.component()
    }

    pub(super) fn operator(&self) -> &Arc<str> {
        &self.operator
    }

    /// Asks for the windows of a batch's rows. Rows on which the hook fails are condemned.
    pub(super) fn assign(&mut self, batch: &Batch) -> Result<(Assigned, Vec<(usize, Condemned)>), OperatorError> {
        let reads = ReadColumns::of(batch, &self.hook.plan().reads);
        let mut condemned = Vec::new();
        let mut good = Vec::with_capacity(batch.len());
        for row in 0..index32(batch.len()) {
            match reads.mismatch(row) {
                None => good.push(row),
                Some(detail) => condemned.push((index(row), Condemned::by_host(TYPE_MISMATCH, detail.to_owned()))),
            }
        }
        let mut work = AssignWork {
            custom: self,
            batch,
            reads,
            rows: good,
            assigned: Assigned { windows: vec![Vec::new(); batch.len()] },
            condemned,
        };
        let rows = work.rows.len();
        in_calls(&mut work, 0, rows, |work| work.custom.assigns.rows())?;
        Ok((work.assigned, work.condemned))
    }
}

/// Works through records `from..to` in calls of as many as `pace` says, and looks for the guilty where one fails.
fn in_calls<W: Work>(work: &mut W, from: usize, to: usize, pace: impl Fn(&W) -> usize) -> Result<(), OperatorError> {
    let mut guilty = 0;
    let mut next = from;
    while next < to {
        let end = (next + pace(work)).min(to);
        if work.run(Call::USUAL, next, end)?.is_err() {
            search(work, next, end, &mut guilty)?;
        }
        next = end;
    }
    Ok(())
}

struct AssignWork<'a> {
    custom: &'a mut CustomWindows,
    batch: &'a Batch,
    reads: ReadColumns,
    rows: Vec<u32>,
    assigned: Assigned,
    condemned: Vec<(usize, Condemned)>,
}

impl Work for AssignWork<'_> {
    fn run(&mut self, call: Call, from: usize, to: usize) -> Result<Result<(), GuestFailure>, OperatorError> {
        let rows = &self.rows[from..to];
        let input = self.reads.take(self.batch, rows);
        let budget = self.custom.hook.fuel_budget();
        let custom = &mut *self.custom;
        let answer = match insist(&custom.operator, || custom.hook.assign(call, &input))? {
            Ok(answer) => answer,
            Err(failure) => {
                custom.assigns.shrink();
                return Ok(Err(failure));
            }
        };
        custom.assigns.note(rows.len(), answer.fuel_used, budget);
        for (at, row) in rows.iter().enumerate() {
            self.assigned.windows[index(*row)] = windows_of(&answer.value, at);
        }
        Ok(Ok(()))
    }

    fn condemn(&mut self, at: usize, failure: GuestFailure) {
        let condemned = Condemned::by_failure(self.custom.hook.component(), failure);
        self.condemned.push((index(self.rows[at]), condemned));
    }
}

/// The windows of the `at`-th row of an answer; a window named twice is one.
fn windows_of(assignments: &Assignments, at: usize) -> Vec<WindowSpan> {
    let places = index(assignments.offsets[at])..index(assignments.offsets[at + 1]);
    let mut spans: Vec<WindowSpan> =
        places.map(|place| WindowSpan { start: assignments.starts[place], end: assignments.ends[place] }).collect();
    spans.sort_unstable_by_key(|span| (span.end, span.start));
    spans.dedup();
    spans
}

#[cfg(test)]
pub(in crate::window) mod tests;
