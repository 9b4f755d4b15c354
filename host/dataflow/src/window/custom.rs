//! A tenant's own windows: the `window` hook assigns rows to windows, and may decide when they fire and what is emitted.
//!
//! Assignment is stateless and asked once per batch; a row on which it fails is rejected before any other check. Where the
//! hook decides, it is asked after every row that a window gets (with the count 1) and when the watermark passes a
//! window's end (with the count 0), so that no answer depends on how batches were cut; one call asks for as many windows
//! as a run touches. The host still purges every window at its end plus the allowed lateness.

use std::sync::Arc;

use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::{
    Assignments, Call, ComponentId, Decision, DecisionRequest, Emitted, GuestFailure, WindowHook, WindowPlan,
};
use tidegate_types::{Batch, PaneBatch, Watermark};
use tidegate_windows::WindowSpan;

use super::WindowOperator;
use crate::OperatorError;
use crate::map::TYPE_MISMATCH;
use crate::pacer::Pacer;
use crate::reads::ReadColumns;
use crate::side::Condemned;
use crate::verdict::{Work, insist, search};

/// A window hook and how much it bears in one call.
pub(crate) struct CustomWindows {
    hook: Box<dyn WindowHook>,
    operator: Arc<str>,
    pacer: Pacer,
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
    /// A hook at work. `batch_rows` bounds a call's rows.
    pub(crate) fn new(hook: Box<dyn WindowHook>, operator: Arc<str>, batch_rows: usize) -> Self {
        Self { hook, operator, pacer: Pacer::new(batch_rows) }
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
        let mut count = 0;
        let mut from = 0;
        while from < work.rows.len() {
            let to = (from + work.custom.pacer.rows()).min(work.rows.len());
            if work.run(Call::USUAL, from, to)?.is_err() {
                search(&mut work, from, to, &mut count)?;
            }
            from = to;
        }
        Ok((work.assigned, work.condemned))
    }

    fn decide_call(
        &mut self,
        call: Call,
        request: &DecisionRequest,
    ) -> Result<Result<Vec<Decision>, GuestFailure>, OperatorError> {
        let answer = insist(&self.operator, || self.hook.decide(call, request))?;
        Ok(answer.map(|answer| answer.value))
    }

    /// Asks what panes become.
    pub(super) fn emit(
        &mut self,
        call: Call,
        panes: &PaneBatch,
    ) -> Result<Result<Emitted, GuestFailure>, OperatorError> {
        let answer = insist(&self.operator, || self.hook.emit(call, panes))?;
        Ok(answer.map(|answer| answer.value))
    }
}

/// What the hook decided about each window, or how it failed on it.
pub(super) type Decided = Vec<Result<Decision, GuestFailure>>;

impl WindowOperator {
    /// Whether the hook, not the pipeline's trigger, says when windows fire.
    pub(super) fn hook_decides(&self) -> bool {
        self.custom.as_ref().is_some_and(|custom| custom.plan().decides)
    }

    /// Asks the hook about windows to each of which `count` rows were added; if the call fails, one window at a time.
    pub(super) fn decide(&mut self, slots: &[u32], count: u32, watermark: Watermark) -> Result<Decided, OperatorError> {
        let request = self.decision_request(slots, count, watermark);
        let Some(custom) = &mut self.custom else { return Ok(Vec::new()) };
        if let Ok(decisions) = custom.decide_call(Call::USUAL, &request)? {
            return Ok(decisions.into_iter().map(Ok).collect());
        }
        let mut decided = Vec::with_capacity(slots.len());
        for slot in slots {
            let request = self.decision_request(&[*slot], count, watermark);
            let Some(custom) = &mut self.custom else { continue };
            let answer = custom.decide_call(Call::VERDICT, &request)?;
            decided.push(answer.map(|decisions| decisions.first().copied().unwrap_or(Decision::Wait)));
        }
        Ok(decided)
    }

    fn decision_request(&self, slots: &[u32], count: u32, watermark: Watermark) -> DecisionRequest {
        let spans = || slots.iter().map(|slot| self.windows.slot(*slot).span);
        DecisionRequest {
            keys: self.key_columns(slots.iter().copied()),
            starts: spans().map(|span| span.start).collect(),
            ends: spans().map(|span| span.end).collect(),
            counts: vec![count; slots.len()],
            watermark,
        }
    }
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
                custom.pacer.shrink();
                return Ok(Err(failure));
            }
        };
        custom.pacer.note(rows.len(), answer.fuel_used, budget);
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
