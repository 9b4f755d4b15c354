//! Firings become panes, and under retracting each is preceded by taking back what stands (docs/semantics.md, 4).
//!
//! A pane is one row of the aggregates' values, or what the window hook emits for it. A pane that a hook fails to make is
//! left out and shown as a dead letter; the window's state stays as it was.

use std::sync::Arc;

use tidegate_pipeline::{Accumulation, Aggregate, WindowKind};
use tidegate_types::hooks::{ComponentId, GuestFailure};
use tidegate_types::key::decode_value;
use tidegate_types::{Column, ColumnBuilder, Emitted, PaneBatch, PaneInfo, PaneOp, Timing, Value};

use super::custom::Made;
use super::keys::KeyId;
use super::run::Fire;
use super::table::StandingPane;
use super::{CustomWindows, WindowOperator};
use crate::OperatorError;
use crate::account::Account;
use crate::operator::OperatorOutput;
use crate::side::{FailedPane, Side, SideKind};

/// The code of the dead letter of a pane that a hook failed to make.
const PANE_FAILED: &str = "pane-failed";

/// What firings emit: rows in columns, each of one of the firings.
#[derive(Default)]
struct Emission {
    fires: Vec<Fire>,
    /// The firing of each row, ascending.
    sources: Vec<usize>,
    columns: Vec<Column>,
}

impl WindowOperator {
    /// Emits one pane per firing, in order. Returns the slots of panes that a hook failed to make, in the same order.
    ///
    /// No window fires twice in one call.
    pub(super) fn emit(&mut self, all: &[Fire], out: &mut OperatorOutput) -> Result<Vec<u32>, OperatorError> {
        if all.is_empty() {
            return Ok(Vec::new());
        }
        for fire in all {
            self.changing(fire.slot);
        }
        let (fires, columns) = self.values(all, out)?;
        let emission = self.emitted(fires, columns, out)?;
        let infos: Vec<PaneInfo> = emission.fires.iter().map(|fire| self.pane_info(*fire)).collect();
        for info in &infos {
            count_pane(info.timing, &mut out.account);
        }
        let panes = if self.accumulation() == Accumulation::AccumulatingAndRetracting {
            self.with_retractions(&emission, &infos, &mut out.account)
        } else {
            let fires = || emission.sources.iter().map(|source| emission.fires[*source]);
            PaneBatch {
                keys: self.key_columns(fires().map(|fire| fire.slot)),
                infos: emission.sources.iter().map(|source| infos[*source]).collect(),
                order: self.order_of(fires()),
                values: emission.columns,
            }
        };
        if !panes.infos.is_empty() {
            out.push(panes);
        }
        for fire in &emission.fires {
            self.shown(fire.slot);
        }
        let mut made = emission.fires.iter().map(|fire| fire.slot).peekable();
        Ok(all.iter().map(|fire| fire.slot).filter(|slot| made.next_if_eq(slot).is_none()).collect())
    }

    /// A pane has shown the window's records.
    fn shown(&mut self, slot: u32) {
        let window = self.windows.slot_mut(slot);
        window.fresh = 0;
        window.next_index += 1;
        self.unshown.shown(std::mem::take(&mut window.hidden), &mut self.tracker);
        if self.config.accumulation == Accumulation::Discarding {
            self.builtins.reset(slot);
            for hook in &mut self.hooks {
                hook.reset(slot);
            }
        }
    }

    /// The values of the firings, in the order of the pipeline's aggregates, and the firings that have them.
    fn values(&mut self, fires: &[Fire], out: &mut OperatorOutput) -> Result<(Vec<Fire>, Vec<Column>), OperatorError> {
        let mut fires = fires.to_vec();
        let mut hooked = Vec::new();
        while hooked.len() < self.hooks.len() && !fires.is_empty() {
            let hook = hooked.len();
            let slots: Vec<u32> = fires.iter().map(|fire| fire.slot).collect();
            let finished = self.finish_hook(hook, &slots)?;
            if finished.failed.is_empty() {
                hooked.push(finished.columns);
                continue;
            }
            let (operator, component) = (self.hooks[hook].operator().clone(), self.hooks[hook].component().clone());
            for (at, failure) in finished.failed.iter().rev() {
                let fire = fires.remove(*at);
                self.fail_pane(fire.slot, &operator, &component, failure, out);
            }
            // The columns of the hooks before are for all firings: make them again for those that are left.
            hooked.clear();
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

    /// What the firings emit: their values, or what the window hook makes of them.
    fn emitted(
        &mut self,
        fires: Vec<Fire>,
        columns: Vec<Column>,
        out: &mut OperatorOutput,
    ) -> Result<Emission, OperatorError> {
        let emits = self.custom.as_ref().is_some_and(CustomWindows::emits);
        if !emits || fires.is_empty() {
            return Ok(Emission { sources: (0..fires.len()).collect(), fires, columns });
        }
        let panes = PaneBatch {
            keys: self.key_columns(fires.iter().map(|fire| fire.slot)),
            values: columns,
            infos: fires.iter().map(|fire| self.pane_info(*fire)).collect(),
            order: None,
        };
        let Some(custom) = &mut self.custom else { return Ok(Emission::default()) };
        let Made { columns, mut sources, failed } = custom.emit(&panes)?;
        if failed.is_empty() {
            return Ok(Emission { fires, sources, columns });
        }
        for (at, failure) in &failed {
            self.fail_decision(fires[*at].slot, failure, out);
        }
        let before = |at: usize| failed.partition_point(|(other, _)| *other < at);
        let is_made = |at: usize| failed.get(before(at)).is_none_or(|(other, _)| *other != at);
        sources.iter_mut().for_each(|source| *source -= before(*source));
        let made = fires.into_iter().enumerate().filter(|(at, _)| is_made(*at)).map(|(_, fire)| fire);
        Ok(Emission { fires: made.collect(), sources, columns })
    }

    fn pane_info(&self, fire: Fire) -> PaneInfo {
        let window = self.windows.slot(fire.slot);
        let global = self.is_global();
        PaneInfo {
            window: (!global).then_some((window.span.start, window.span.end)),
            timing: fire.timing,
            index: window.next_index,
            is_last: if global {
                fire.timing == Timing::OnTime
            } else {
                self.windows.is_gone(fire.slot, fire.event.watermark)
            },
            watermark: fire.event.watermark,
            op: PaneOp::Insert,
            fired_at: fire.event.clock,
        }
    }

    /// Puts before each firing's rows the retractions of what stands, and lets the rows stand.
    fn with_retractions(&mut self, emission: &Emission, infos: &[PaneInfo], account: &mut Account) -> PaneBatch {
        let mut builders: Vec<ColumnBuilder> = emission.columns.iter().map(|_| ColumnBuilder::new()).collect();
        let mut fires = Vec::new();
        let mut rows = Vec::new();
        let mut row = 0;
        for (at, fire) in emission.fires.iter().enumerate() {
            let mut standing = Vec::new();
            while emission.sources.get(row) == Some(&at) {
                let values = emission.columns.iter().map(|column| column.value(row).to_value()).collect();
                standing.push(StandingPane { info: infos[at], values });
                row += 1;
            }
            let before = self.windows.stand(fire.slot, standing.clone());
            account.retractions += before.len() as u64;
            let retracted = before.into_iter().map(|mut pane| {
                pane.info.op = PaneOp::Retract;
                pane
            });
            for pane in retracted.chain(standing) {
                for (builder, value) in builders.iter_mut().zip(&pane.values) {
                    builder.push(value.as_ref());
                }
                fires.push(*fire);
                rows.push(pane.info);
            }
        }
        PaneBatch {
            keys: self.key_columns(fires.iter().map(|fire| fire.slot)),
            values: builders.iter_mut().map(ColumnBuilder::finish).collect(),
            infos: rows,
            order: self.order_of(fires.iter().copied()),
        }
    }

    /// Where the rows that these firings emit stand for the operators that read them.
    fn order_of(&self, fires: impl Iterator<Item = Fire>) -> Option<Emitted> {
        self.config.feeds.then(|| {
            let key = |fire: Fire| Box::from(self.keys.encoded(self.windows.slot(fire.slot).key));
            let (positions, keys) = fires.map(|fire| (fire.event.position, key(fire))).unzip();
            Emitted { positions, keys }
        })
    }

    /// The key fields of slots, as columns in the order of `key_by`.
    pub(super) fn key_columns(&self, slots: impl IntoIterator<Item = u32>) -> Vec<Column> {
        let mut builders: Vec<ColumnBuilder> = self.config.key_by.iter().map(|_| ColumnBuilder::new()).collect();
        for slot in slots {
            for (builder, value) in builders.iter_mut().zip(self.key_values(self.windows.slot(slot).key)) {
                builder.push(value.as_ref());
            }
        }
        builders.iter_mut().map(ColumnBuilder::finish).collect()
    }

    /// The values of a key's fields.
    pub(super) fn key_values(&self, key: KeyId) -> impl Iterator<Item = Value> {
        let mut encoded = self.keys.encoded(key);
        self.config.key_by.iter().map(move |_| decode_value(&mut encoded).expect("this task encoded the key itself"))
    }

    /// The window hook failed on a window: nothing is decided or emitted, and the state stays.
    pub(super) fn fail_decision(&mut self, slot: u32, failure: &GuestFailure, out: &mut OperatorOutput) {
        let Some(custom) = &self.custom else { return };
        let (operator, component) = (custom.operator().clone(), custom.component().clone());
        self.fail_pane(slot, &operator, &component, failure, out);
    }

    /// The dead letter of a pane that could not be made.
    fn fail_pane(
        &self,
        slot: u32,
        operator: &Arc<str>,
        component: &Arc<ComponentId>,
        failure: &GuestFailure,
        out: &mut OperatorOutput,
    ) {
        let span = self.windows.slot(slot).span;
        let key = self.config.key_by.iter().cloned().zip(self.key_values(self.windows.slot(slot).key)).collect();
        let window = (!self.is_global()).then_some((span.start, span.end));
        out.account.failed_panes += 1;
        out.sides.push(Side {
            kind: SideKind::DeadLetter,
            record: None,
            reason: PANE_FAILED.to_owned(),
            operator: Arc::clone(operator),
            detail: failure.to_string(),
            component: Some(Arc::clone(component)),
            fuel_used: Some(failure.fuel_used),
            pane: Some(FailedPane { key, window }),
            timer: None,
        });
    }

    pub(super) fn is_global(&self) -> bool {
        matches!(self.config.kind, WindowKind::Global)
    }

    pub(super) fn is_session(&self) -> bool {
        matches!(self.config.kind, WindowKind::Session { .. })
    }
}

pub(super) fn count_pane(timing: Timing, account: &mut Account) {
    match timing {
        Timing::Early => account.panes_early += 1,
        Timing::OnTime => account.panes_on_time += 1,
        Timing::Late => account.panes_late += 1,
    }
}
