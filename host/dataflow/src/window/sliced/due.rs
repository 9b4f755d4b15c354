//! The watermark passes ends of windows whose panes are shared; late records fire the windows that have ended.

use tidegate_pipeline::{Accumulation, Late};
use tidegate_types::{Column, ColumnBuilder, Emitted, PaneBatch, PaneInfo, PaneOp, Timing, Value, Watermark};
use tidegate_windows::{WindowSpan, is_gone};

use super::ending::Ending;
use super::merge::Running;
use super::{KeyId, KeyTable, Sliced, StandingPane, Tracker, With};
use crate::aggregate::{Additions, Builtins};
use crate::operator::OperatorOutput;
use crate::window::fire::count_pane;
use crate::window::run::LateRow;
use crate::window::table::bytes_of;
use crate::window::{Prep, WindowOperator};

/// Panes that are finished together: bounds the slots that hold merged values.
const PANES_AT_ONCE: usize = 1024;

/// What an advance of the watermark has still to fire: a key at a time, a window at a time.
#[derive(Debug)]
pub(super) struct Firings {
    keys: std::vec::IntoIter<KeyId>,
    /// Where the watermark came from.
    before: Watermark,
    /// The key that is at work, and how far it is.
    current: Option<(KeyId, Ending)>,
    /// Keys all of whose firings were taken.
    handled: Vec<KeyId>,
}

impl Firings {
    /// The next [`PANES_AT_ONCE`] firings; fewer: these are the last.
    fn take(&mut self, sliced: &mut Sliced, builtins: &mut Builtins, watermark: Watermark) -> Vec<Firing> {
        let mut firings = Vec::new();
        while firings.len() < PANES_AT_ONCE {
            let next = self.current.or_else(|| Some((self.keys.next()?, Ending::new(self.before, watermark))));
            let Some((key, mut ending)) = next else { break };
            let of_key = sliced.keys.get_mut(&key);
            let fired = of_key.and_then(|of_key| {
                let span = ending.next(sliced.grid, &of_key.slices)?;
                Some((span, of_key.running.value(&of_key.slices, span, &mut sliced.slots, builtins)))
            });
            self.current = fired.map(|(span, value)| {
                firings.push(Firing { key, span, timing: Timing::OnTime, value });
                (key, ending)
            });
            if self.current.is_none() {
                self.handled.push(key);
            }
        }
        firings
    }
}

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

    /// Forgets what is gone, and the key with its last slice and window.
    fn forget(
        &mut self,
        key: KeyId,
        watermark: Watermark,
        keys: &mut KeyTable,
        builtins: &mut Builtins,
        tracker: &mut Tracker,
    ) {
        let Some(mut of_key) = self.keys.remove(&key) else { return };
        let gone =
            of_key.slices.partition_point(|slice| is_gone(self.grid.last_end(slice.span), self.lateness, watermark));
        self.kept.slices -= gone;
        for slice in of_key.slices.drain(..gone) {
            self.tracked.forgetting(slice.slot, With { keys, builtins }, tracker);
            self.slots.give_back(builtins, slice.slot);
        }
        let gone = of_key.fired.partition_point(|fired| is_gone(fired.span.end, self.lateness, watermark));
        self.kept.fired -= gone;
        for mut fired in of_key.fired.drain(..gone) {
            fired.forgetting(key, keys, tracker);
            self.kept.standing_bytes -= bytes_of(&fired.standing);
        }
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
    pub(in crate::window) fn fire_sliced(&mut self, before: Watermark, out: &mut OperatorOutput) {
        if let Some(sliced) = &mut self.sliced {
            let due = sliced.due_keys(self.watermark);
            sliced.firings = Some(Firings { keys: due.into_iter(), before, current: None, handled: Vec::new() });
        }
        self.go_on_firing(out);
    }

    /// Whether an advance of the watermark has windows left to fire.
    pub(in crate::window) fn is_firing(&self) -> bool {
        self.sliced.as_ref().is_some_and(|sliced| sliced.firings.is_some())
    }

    /// Fires what the last advance of the watermark has left, until the output is full.
    pub(in crate::window) fn go_on_firing(&mut self, out: &mut OperatorOutput) {
        let Some(mut sliced) = self.sliced.take() else { return };
        if let Some(mut left) = sliced.firings.take() {
            let mut more = true;
            while more && !out.is_full() {
                let firings = left.take(&mut sliced, &mut self.builtins, self.watermark);
                more = firings.len() == PANES_AT_ONCE;
                self.emit_sliced(&mut sliced, firings, out);
                for key in left.handled.drain(..) {
                    sliced.forget(key, self.watermark, &mut self.keys, &mut self.builtins, &mut self.tracker);
                }
            }
            sliced.firings = more.then_some(left);
        }
        self.sliced = Some(sliced);
    }

    /// A late record fires the windows of it that have ended. Under discarding their panes show that record alone.
    pub(in crate::window) fn fire_late(&mut self, late: &LateRow, prep: &Prep, out: &mut OperatorOutput) {
        let Some(mut sliced) = self.sliced.take() else { return };
        let mut windows = sliced.late_windows(late.target, self.watermark);
        let mut running = Running::default();
        loop {
            let spans: Vec<WindowSpan> = windows.by_ref().take(PANES_AT_ONCE).collect();
            if spans.is_empty() {
                break;
            }
            let values = if self.accumulation() == Accumulation::Discarding {
                let values: Vec<u32> = spans.iter().map(|_| sliced.slots.take(&mut self.builtins)).collect();
                let rows = vec![late.row; values.len()];
                self.builtins.add(&prep.builtins, &prep.batch, &Additions { rows: &rows, slots: &values });
                values
            } else {
                let Sliced { keys, slots, .. } = &mut sliced;
                let slices = keys.get(&late.key).map_or(&[][..], |of_key| &of_key.slices);
                spans.iter().map(|span| running.value(slices, *span, slots, &mut self.builtins)).collect()
            };
            let fired = spans.into_iter().zip(values);
            let firing = |(span, value)| Firing { key: late.key, span, timing: Timing::Late, value };
            self.emit_sliced(&mut sliced, fired.map(firing).collect(), out);
        }
        running.release(&mut sliced.slots, &mut self.builtins);
        self.sliced = Some(sliced);
    }

    /// Emits the firings' panes in order, each after the retraction of what stands, and frees their values.
    fn emit_sliced(&mut self, sliced: &mut Sliced, firings: Vec<Firing>, out: &mut OperatorOutput) {
        if firings.is_empty() {
            return;
        }
        let slots: Vec<u32> = firings.iter().map(|firing| firing.value).collect();
        let values = self.builtins.finish(&slots);
        let retracts = self.accumulation() == Accumulation::AccumulatingAndRetracting;
        let mut rows = PaneRows::new(self.config.key_by.len(), if retracts { values.len() } else { 0 });
        let mut keys: Vec<Box<[u8]>> = Vec::new();
        for (row, firing) in firings.iter().enumerate() {
            let gone = is_gone(firing.span.end, sliced.lateness, self.watermark);
            let again = !gone && sliced.late == Late::EveryElement;
            let of_key = sliced.keys.get_mut(&firing.key).filter(|_| again);
            let fired = of_key.map(|of_key| {
                let before = of_key.fired.len();
                let place = of_key.fired(firing.span);
                sliced.kept.fired += of_key.fired.len() - before;
                let fired = &mut of_key.fired[place];
                sliced.tracked.changing_fired(fired, firing.key, &self.keys, &mut self.tracker);
                fired
            });
            let info = PaneInfo {
                window: Some((firing.span.start, firing.span.end)),
                timing: firing.timing,
                index: fired.as_ref().map_or(0, |fired| fired.next_index),
                is_last: gone,
                watermark: self.watermark,
                op: PaneOp::Insert,
                fired_at: self.clock,
            };
            count_pane(firing.timing, &mut out.account);
            let key: Vec<Value> = self.key_values(firing.key).collect();
            let standing = retracts.then(|| StandingPane {
                info,
                values: values.iter().map(|column| column.value(row).to_value()).collect(),
            });
            if let Some(fired) = fired {
                fired.next_index += 1;
                let standing: Vec<StandingPane> = standing.iter().cloned().collect();
                sliced.kept.standing_bytes += bytes_of(&standing);
                let before = std::mem::replace(&mut fired.standing, standing);
                sliced.kept.standing_bytes -= bytes_of(&before);
                for pane in before {
                    out.account.retractions += 1;
                    rows.push(&key, PaneInfo { op: PaneOp::Retract, ..pane.info }, &pane.values);
                }
            }
            rows.push(&key, info, standing.as_ref().map_or(&[], |pane| &pane.values));
            if self.config.feeds {
                keys.resize_with(rows.infos.len(), || self.keys.encoded(firing.key).into());
            }
        }
        let mut panes = rows.finish(if retracts { None } else { Some(values) });
        panes.order = self.config.feeds.then(|| Emitted { positions: vec![self.position; keys.len()], keys });
        out.push(panes);
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
            order: None,
        }
    }
}
