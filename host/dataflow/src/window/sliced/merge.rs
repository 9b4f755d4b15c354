//! The values of a key's windows as they end one after the other, merged from its slices.
//!
//! Two stacks: merged tails of the slices that windows are leaving, and one merge of those that they have entered since.
//! Each slice is merged a few times, however many windows hold it. A record that falls into a slice that was merged
//! already makes the stacks void; the next window rebuilds them.

use tidegate_types::EventTime;
use tidegate_windows::WindowSpan;

use super::{Slice, Slots};
use crate::aggregate::Builtins;

/// The merges that the next window starts from.
#[derive(Debug)]
pub(super) struct Running {
    /// `(start, slot)`: the merge of all slices from `start` to where the stacks were last rebuilt; latest start first.
    tails: Vec<(EventTime, u32)>,
    /// The merge of the slices since.
    entered: Option<u32>,
    /// Slices that end by then are merged.
    until: EventTime,
}

impl Default for Running {
    fn default() -> Self {
        Self { tails: Vec::new(), entered: None, until: EventTime::MIN }
    }
}

impl Running {
    /// Whether a record in this slice makes the stacks void.
    pub(super) fn holds(&self, slice: WindowSpan) -> bool {
        slice.end <= self.until
    }

    /// The value of a window, in a slot of its own. Windows MUST come in order of end; `slices` are the key's.
    pub(super) fn value(
        &mut self,
        slices: &[Slice],
        window: WindowSpan,
        slots: &mut Slots,
        builtins: &mut Builtins,
    ) -> u32 {
        while let Some((_, tail)) = self.tails.pop_if(|(start, _)| *start < window.start) {
            slots.give_back(builtins, tail);
        }
        if self.tails.is_empty() {
            self.rebuild(slices, window, slots, builtins);
        } else {
            let from = slices.partition_point(|slice| slice.span.end <= self.until);
            for slice in slices[from..].iter().take_while(|slice| slice.span.end <= window.end) {
                let entered = *self.entered.get_or_insert_with(|| slots.take(builtins));
                builtins.merge(entered, slice.slot);
            }
        }
        self.until = window.end;
        let value = slots.take(builtins);
        let tail = self.tails.last().map(|(_, slot)| *slot);
        tail.into_iter().chain(self.entered).for_each(|slot| builtins.merge(value, slot));
        value
    }

    fn rebuild(&mut self, slices: &[Slice], window: WindowSpan, slots: &mut Slots, builtins: &mut Builtins) {
        self.release(slots, builtins);
        let from = slices.partition_point(|slice| slice.span.start < window.start);
        let to = slices.partition_point(|slice| slice.span.end <= window.end);
        for slice in slices[from..to].iter().rev() {
            let tail = slots.take(builtins);
            builtins.merge(tail, slice.slot);
            if let Some((_, later)) = self.tails.last() {
                builtins.merge(tail, *later);
            }
            self.tails.push((slice.span.start, tail));
        }
    }

    /// Gives all slots back; nothing is merged any more.
    pub(super) fn release(&mut self, slots: &mut Slots, builtins: &mut Builtins) {
        let tails = self.tails.drain(..).map(|(_, slot)| slot);
        tails.chain(self.entered.take()).for_each(|slot| slots.give_back(builtins, slot));
        self.until = EventTime::MIN;
    }
}
