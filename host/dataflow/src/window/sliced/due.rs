//! The watermark passes ends of windows whose panes are shared; late records fire the windows that have ended.

use tidegate_pipeline::Accumulation;
use tidegate_types::{Column, ColumnBuilder, PaneBatch, PaneInfo, PaneOp, Timing, Value, Watermark};
use tidegate_windows::{WindowSpan, is_gone};

use super::merge::Running;
use super::{KeyId, KeySlices, KeyTable, Sliced, StandingPane};
use crate::aggregate::{Additions, Builtins};
use crate::window::fire::count_pane;
use crate::window::run::LateRow;
use crate::window::{Prep, WindowOperator, WindowOutput};

/// Panes that are finished together: bounds the slots that hold merged values.
const PANES_AT_ONCE: usize = 1024;

/// A firing of a window of one key.
struct Firing {
    key: KeyId,
    span: WindowSpan,
    timing: Timing,
    /// The slot of the merged value.
    value: u32,
}

impl Sliced {
    /// The keys whose timers the watermark has reached.
    fn due_keys(&mut self, watermark: Watermark) -> Vec<KeyId> {
        let mut due = Vec::new();
        while let Some(first) = self.timers.first_entry().filter(|first| watermark.reached(*first.key())) {
            due.extend(first.remove());
        }
        due.sort_unstable();
        due.dedup();
        due
    }

    /// The windows of a key that hold a record and end after `before`, `until` at the latest; in order of end.
    fn ending(&self, of_key: &KeySlices, before: Watermark, until: Watermark) -> Vec<WindowSpan> {
        let mut windows = Vec::new();
        let mut next = before.as_millis().saturating_add(1);
        for slice in &of_key.slices {
            let last = self.last_end(slice.span);
            let mut end = self.end_at_or_after(slice.span.end.max(next));
            while end <= last && until.reached(end) {
                windows.push(self.window_ending(end));
                end = end.saturating_add(self.slide.0);
            }
            next = next.max(end);
        }
        windows
    }

    /// Forgets what is gone, and the key with its last slice and window.
    fn forget(&mut self, key: KeyId, watermark: Watermark, keys: &mut KeyTable, builtins: &mut Builtins) {
        let Some(mut of_key) = self.keys.remove(&key) else { return };
        let gone = of_key.slices.partition_point(|slice| is_gone(self.last_end(slice.span), self.lateness, watermark));
        for slice in of_key.slices.drain(..gone) {
            self.slots.give_back(builtins, slice.slot);
        }
        let gone = of_key.fired.partition_point(|fired| is_gone(fired.span.end, self.lateness, watermark));
        of_key.fired.drain(..gone);
        if of_key.slices.is_empty() && of_key.fired.is_empty() {
            of_key.running.release(&mut self.slots, builtins);
            keys.release(key);
        } else {
            self.keys.insert(key, of_key);
            self.set_timer(key, watermark);
        }
    }
}

impl WindowOperator {
    /// The watermark has moved on from `before`: windows fire on time, and what is gone is forgotten.
    pub(in crate::window) fn fire_sliced(&mut self, before: Watermark, out: &mut WindowOutput) {
        let Some(mut sliced) = self.sliced.take() else { return };
        let (mut firings, mut handled) = (Vec::new(), Vec::new());
        for key in sliced.due_keys(self.watermark) {
            let Some(of_key) = sliced.keys.get(&key) else { continue };
            for span in sliced.ending(of_key, before, self.watermark) {
                let Some(of_key) = sliced.keys.get_mut(&key) else { continue };
                let value = of_key.running.value(&of_key.slices, span, &mut sliced.slots, &mut self.builtins);
                firings.push(Firing { key, span, timing: Timing::OnTime, value });
                if firings.len() >= PANES_AT_ONCE {
                    self.emit_sliced(&mut sliced, std::mem::take(&mut firings), out);
                }
            }
            handled.push(key);
        }
        self.emit_sliced(&mut sliced, firings, out);
        for key in handled {
            sliced.forget(key, self.watermark, &mut self.keys, &mut self.builtins);
        }
        self.sliced = Some(sliced);
    }

    /// A late record fires the windows of it that have ended. Under discarding their panes show that record alone.
    pub(in crate::window) fn fire_late(&mut self, late: &LateRow, prep: &Prep<'_>, out: &mut WindowOutput) {
        let Some(mut sliced) = self.sliced.take() else { return };
        let values = if self.accumulation() == Accumulation::Discarding {
            let values: Vec<u32> = late.windows.iter().map(|_| sliced.slots.take(&mut self.builtins)).collect();
            let rows = vec![late.row; values.len()];
            self.builtins.add(&prep.builtins, prep.batch, &Additions { rows: &rows, slots: &values });
            values
        } else {
            let Sliced { keys, slots, .. } = &mut sliced;
            let slices = keys.get(&late.key).map_or(&[][..], |of_key| &of_key.slices);
            let mut running = Running::default();
            let value = |window: &WindowSpan| running.value(slices, *window, slots, &mut self.builtins);
            let values = late.windows.iter().map(value).collect();
            running.release(slots, &mut self.builtins);
            values
        };
        let fired = late.windows.iter().zip(values);
        let firings =
            fired.map(|(span, value)| Firing { key: late.key, span: *span, timing: Timing::Late, value }).collect();
        self.emit_sliced(&mut sliced, firings, out);
        self.sliced = Some(sliced);
    }

    /// Emits the firings' panes in order, each after the retraction of what stands, and frees their values.
    fn emit_sliced(&mut self, sliced: &mut Sliced, firings: Vec<Firing>, out: &mut WindowOutput) {
        if firings.is_empty() {
            return;
        }
        let slots: Vec<u32> = firings.iter().map(|firing| firing.value).collect();
        let values = self.builtins.finish(&slots);
        let retracts = self.accumulation() == Accumulation::AccumulatingAndRetracting;
        let mut rows = PaneRows::new(self.config.key_by.len(), if retracts { values.len() } else { 0 });
        for (row, firing) in firings.iter().enumerate() {
            let gone = is_gone(firing.span.end, sliced.lateness, self.watermark);
            let fired = sliced.keys.get_mut(&firing.key).filter(|_| !gone).map(|of_key| of_key.fired(firing.span));
            let info = PaneInfo {
                window: Some((firing.span.start, firing.span.end)),
                timing: firing.timing,
                index: fired.as_ref().map_or(0, |fired| fired.next_index),
                is_last: gone,
                watermark: self.watermark,
                op: PaneOp::Insert,
            };
            count_pane(firing.timing, &mut out.account);
            let key: Vec<Value> = self.key_values(firing.key).collect();
            let standing = retracts.then(|| StandingPane {
                info,
                values: values.iter().map(|column| column.value(row).to_value()).collect(),
            });
            if let Some(fired) = fired {
                fired.next_index += 1;
                let before = std::mem::replace(&mut fired.standing, standing.iter().cloned().collect());
                for pane in before {
                    out.account.retractions += 1;
                    rows.push(&key, PaneInfo { op: PaneOp::Retract, ..pane.info }, &pane.values);
                }
            }
            rows.push(&key, info, standing.as_ref().map_or(&[], |pane| &pane.values));
        }
        out.panes.push(rows.finish(if retracts { None } else { Some(values) }));
        for slot in slots {
            sliced.slots.give_back(&mut self.builtins, slot);
        }
    }
}

/// Panes on their way into columns.
struct PaneRows {
    keys: Vec<ColumnBuilder>,
    values: Vec<ColumnBuilder>,
    infos: Vec<PaneInfo>,
}

impl PaneRows {
    fn new(keys: usize, values: usize) -> Self {
        let builders = |count| (0..count).map(|_| ColumnBuilder::new()).collect();
        Self { keys: builders(keys), values: builders(values), infos: Vec::new() }
    }

    fn push(&mut self, key: &[Value], info: PaneInfo, values: &[Value]) {
        self.keys.iter_mut().zip(key).for_each(|(builder, value)| builder.push(value.as_ref()));
        self.values.iter_mut().zip(values).for_each(|(builder, value)| builder.push(value.as_ref()));
        self.infos.push(info);
    }

    /// The batch; `values`: the columns of the values where they are complete already.
    fn finish(mut self, values: Option<Vec<Column>>) -> PaneBatch {
        let finish = |builders: &mut Vec<ColumnBuilder>| builders.iter_mut().map(ColumnBuilder::finish).collect();
        PaneBatch {
            keys: finish(&mut self.keys),
            values: values.unwrap_or_else(|| finish(&mut self.values)),
            infos: self.infos,
        }
    }
}
