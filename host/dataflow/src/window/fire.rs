//! Firings become panes, and under retracting each is preceded by taking back what stands (docs/semantics.md, 4).

use tidegate_pipeline::{Accumulation, Aggregate, WindowKind};
use tidegate_types::batch::index32;
use tidegate_types::key::decode_value;
use tidegate_types::{Column, ColumnBuilder, PaneBatch, PaneInfo, PaneOp, Timing, Value};
use tidegate_windows::WindowSpan;

use super::run::Fire;
use super::table::StandingPane;
use super::{WindowOperator, WindowOutput, place};
use crate::OperatorError;
use crate::account::Account;
use crate::side::{FailedPane, Side, SideKind};

/// The code of the dead letter of a pane that a hook failed to make.
const PANE_FAILED: &str = "pane-failed";

impl WindowOperator {
    /// Emits one pane per firing, in order.
    pub(super) fn emit(&mut self, fires: &[Fire], out: &mut WindowOutput) -> Result<(), OperatorError> {
        if fires.is_empty() {
            return Ok(());
        }
        let (fires, values) = self.values(fires, out)?;
        if fires.is_empty() {
            return Ok(());
        }
        let infos: Vec<PaneInfo> = fires.iter().map(|fire| self.pane_info(*fire)).collect();
        for info in &infos {
            count_pane(info.timing, &mut out.account);
        }
        let panes = if self.accumulation() == Accumulation::AccumulatingAndRetracting {
            self.with_retractions(&fires, &infos, &values, &mut out.account)
        } else {
            PaneBatch { keys: self.key_columns(fires.iter().map(|fire| fire.slot)), values, infos }
        };
        out.panes.push(panes);
        for fire in &fires {
            let window = self.windows.slot_mut(fire.slot);
            window.fresh = 0;
            window.next_index += 1;
            if self.config.accumulation == Accumulation::Discarding {
                self.builtins.reset(fire.slot);
                for hook in &mut self.hooks {
                    hook.reset(fire.slot);
                }
            }
        }
        Ok(())
    }

    /// The output columns of the firings, in the order of the pipeline's aggregates, and the firings that have them.
    fn values(&mut self, fires: &[Fire], out: &mut WindowOutput) -> Result<(Vec<Fire>, Vec<Column>), OperatorError> {
        let mut fires = fires.to_vec();
        let mut hooked = Vec::new();
        let mut hook = 0;
        while hook < self.hooks.len() {
            let slots: Vec<u32> = fires.iter().map(|fire| fire.slot).collect();
            let finished = self.finish_hook(hook, &slots)?;
            if finished.failed.is_empty() {
                hooked.push(finished.columns);
                hook += 1;
                continue;
            }
            for (at, failure) in finished.failed.iter().rev() {
                let fire = fires.remove(*at);
                let component = std::sync::Arc::clone(self.hooks[hook].component());
                out.sides.push(self.failed_pane(fire.slot, hook, component, failure));
                out.account.failed_panes += 1;
            }
            if fires.is_empty() {
                return Ok((fires, Vec::new()));
            }
            // The columns of the hooks before are for all firings: make them again for those that are left.
            hooked.clear();
            hook = 0;
        }
        let slots: Vec<u32> = fires.iter().map(|fire| fire.slot).collect();
        let mut builtins = self.builtins.finish(&slots).into_iter();
        let mut hooked = hooked.into_iter();
        let mut values = Vec::new();
        for aggregate in &self.config.aggregates {
            match aggregate {
                Aggregate::Builtin { .. } => values.extend(builtins.next()),
                Aggregate::Hook { .. } => values.extend(hooked.next().into_iter().flatten()),
            }
        }
        Ok((fires, values))
    }

    fn pane_info(&self, fire: Fire) -> PaneInfo {
        let window = self.windows.slot(fire.slot);
        let global = window.span == WindowSpan::GLOBAL;
        PaneInfo {
            window: (!global).then_some((window.span.start, window.span.end)),
            timing: fire.timing,
            index: window.next_index,
            is_last: if global {
                fire.timing == Timing::OnTime
            } else {
                self.windows.is_gone(fire.slot, fire.watermark)
            },
            watermark: fire.watermark,
            op: PaneOp::Insert,
        }
    }

    /// Puts before each pane the retractions of what stands, and lets the pane stand.
    fn with_retractions(
        &mut self,
        fires: &[Fire],
        infos: &[PaneInfo],
        values: &[Column],
        account: &mut Account,
    ) -> PaneBatch {
        let mut builders: Vec<ColumnBuilder> = values.iter().map(|_| ColumnBuilder::new()).collect();
        let mut slots = Vec::new();
        let mut rows = Vec::new();
        for (row, (fire, info)) in fires.iter().zip(infos).enumerate() {
            let pane = StandingPane {
                info: *info,
                values: values.iter().map(|column| column.value(row).to_value()).collect(),
            };
            let before = std::mem::replace(&mut self.windows.slot_mut(fire.slot).standing, vec![pane.clone()]);
            account.retractions += before.len() as u64;
            let retracted = before.into_iter().map(|mut pane| {
                pane.info.op = PaneOp::Retract;
                pane
            });
            for pane in retracted.chain([pane]) {
                for (builder, value) in builders.iter_mut().zip(&pane.values) {
                    builder.push(value.as_ref());
                }
                slots.push(fire.slot);
                rows.push(pane.info);
            }
        }
        PaneBatch {
            keys: self.key_columns(slots),
            values: builders.iter_mut().map(ColumnBuilder::finish).collect(),
            infos: rows,
        }
    }

    /// The key fields of slots, as columns in the order of `key_by`.
    pub(super) fn key_columns(&self, slots: impl IntoIterator<Item = u32>) -> Vec<Column> {
        let mut builders: Vec<ColumnBuilder> = self.config.key_by.iter().map(|_| ColumnBuilder::new()).collect();
        for slot in slots {
            for (builder, value) in builders.iter_mut().zip(self.key_values(slot)) {
                builder.push(value.as_ref());
            }
        }
        builders.iter_mut().map(ColumnBuilder::finish).collect()
    }

    /// The values of a slot's key fields.
    fn key_values(&self, slot: u32) -> impl Iterator<Item = Value> {
        let mut encoded = self.keys.encoded(self.windows.slot(slot).key);
        self.config.key_by.iter().map(move |_| decode_value(&mut encoded).expect("this task encoded the key itself"))
    }

    fn failed_pane(
        &self,
        slot: u32,
        hook: usize,
        component: std::sync::Arc<tidegate_types::hooks::ComponentId>,
        failure: &tidegate_types::hooks::GuestFailure,
    ) -> Side {
        let span = self.windows.slot(slot).span;
        debug_assert!(place(slot) < self.windows.capacity() && index32(hook) < u32::MAX);
        let key = self.config.key_by.iter().cloned().zip(self.key_values(slot)).collect();
        let window = (span != WindowSpan::GLOBAL).then_some((span.start, span.end));
        Side {
            kind: SideKind::DeadLetter,
            record: None,
            reason: PANE_FAILED.to_owned(),
            operator: std::sync::Arc::clone(self.hooks[hook].operator()),
            detail: failure.to_string(),
            component: Some(component),
            fuel_used: Some(failure.fuel_used),
            pane: Some(FailedPane { key, window }),
        }
    }

    pub(super) fn is_session(&self) -> bool {
        matches!(self.config.kind, WindowKind::Session { .. })
    }
}

fn count_pane(timing: Timing, account: &mut Account) {
    match timing {
        Timing::Early => account.panes_early += 1,
        Timing::OnTime => account.panes_on_time += 1,
        Timing::Late => account.panes_late += 1,
    }
}
