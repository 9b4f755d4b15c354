//! What becomes of one row: the checks of docs/semantics.md, 3, in their order, and the windows that it goes to.
//!
//! Nothing is changed before every check has passed, so that a row that needs the run published first can be asked again.

use tidegate_pipeline::{Accumulation, Early, Late, WindowKind};
use tidegate_types::batch::{index, index32};
use tidegate_types::{EventTime, Millis, Timing, ValueRef};
use tidegate_windows::{SessionMerge, WindowSpan, covering_windows, is_gone, merge_session};

use super::keys::KeyId;
use super::run::{Fire, LateRow, Merge, Undo};
use super::sliced::{Overlap, SlicedTarget};
use super::{Prep, WindowOperator, key_of};
use crate::map::TYPE_MISMATCH;
use crate::side::{Condemned, Side, SideKind};

/// The code of a record that would take an integer sum out of 64 bits.
const ARITHMETIC_OVERFLOW: &str = "arithmetic-overflow";

/// Where a row goes.
enum Target {
    /// Windows of a grid, in order of end; those that are gone are left out.
    Grid(Vec<WindowSpan>),
    /// A session, after merging.
    Session { merge: SessionMerge, parts: Vec<u32> },
    /// A slice of sliding windows that share panes.
    Slice(SlicedTarget),
}

impl Target {
    /// The end of the last window.
    fn last_end(&self) -> EventTime {
        match self {
            Self::Grid(spans) => spans.last().map_or(EventTime::MIN, |span| span.end),
            Self::Session { merge, .. } => merge.span.end,
            Self::Slice(target) => target.last_end(),
        }
    }
}

impl WindowOperator {
    /// Decides about a row. False: the run has to be published first, then the row is to be asked again.
    pub(super) fn row(&mut self, prep: &Prep, row: usize) -> bool {
        let batch = &prep.batch;
        if let Some(condemned) = prep.condemned.get(&row) {
            let condemned = condemned.clone();
            self.reject(prep, row, condemned);
            return true;
        }
        let (hash, encoded) = key_of(batch, row);
        let key = self.keys.find(hash, encoded);
        if prep.assigned.as_ref().is_some_and(|assigned| assigned.of(row).is_empty()) {
            // The window hook put it into no window: dropped by a hook on purpose.
            self.run.account.filtered += 1;
            return true;
        }
        let Some((target, partly_late)) = self.target(prep, key, row) else {
            self.run.account.too_late += 1;
            self.side(prep, row, SideKind::TooLate);
            return true;
        };
        let identity = prep.identity.as_ref().map_or(ValueRef::Null, |column| column.value(row));
        if let (Some(identities), Some(key)) = (&mut self.identities, key)
            && !identity.is_null()
            && identities.is_duplicate(key, identity, self.watermark)
        {
            self.run.account.duplicate += 1;
            self.side(prep, row, SideKind::Duplicate);
            return true;
        }
        if let Some(condemned) = mismatch(prep, row) {
            self.reject(prep, row, condemned);
            return true;
        }
        let slots = self.existing(key, &target);
        if self.must_publish_first(prep, &target, &slots) {
            return false;
        }
        if let Some(condemned) = self.refusal(prep, row, key, &target, &slots) {
            self.reject(prep, row, condemned);
            return true;
        }
        let key = self.keys.find_or_add(hash, encoded);
        self.accept(row, key, &target, &slots);
        if let Some(identities) = &mut self.identities
            && !identity.is_null()
        {
            let time = batch.times[row];
            let accepted = identities.accept(&mut self.keys, &mut self.tracker, key, identity, time);
            self.run.note(Undo::Accepted(accepted));
        }
        self.run.account.accepted += 1;
        self.run.account.partly_late += u64::from(partly_late);
        true
    }

    /// The windows of a row, and whether some are gone; none: all are, and the row is too late.
    fn target(&self, prep: &Prep, key: Option<KeyId>, row: usize) -> Option<(Target, bool)> {
        let time = prep.batch.times[row];
        let (lateness, watermark) = (self.lateness(), self.watermark);
        if let Some(sliced) = &self.sliced {
            let target = sliced.target(time, watermark);
            return target.map(|(target, partly_late)| (Target::Slice(target), partly_late));
        }
        let (size, slide, offset) = match &self.config.kind {
            WindowKind::Tumbling { size, offset } => (*size, *size, *offset),
            WindowKind::Sliding { size, slide, offset } => (*size, *slide, *offset),
            WindowKind::Session { gap, max_duration } => {
                let own = WindowSpan { start: time, end: time.saturating_add(gap.0) };
                let near = key.map_or_else(Vec::new, |key| self.sessions_near(key, own, *max_duration));
                let spans: Vec<WindowSpan> = near.iter().map(|slot| self.windows.slot(*slot).span).collect();
                let merge = merge_session(own, &spans, *max_duration);
                let parts = merge.parts.iter().map(|place| near[*place]).collect();
                let gone = is_gone(merge.span.end, lateness, watermark);
                return (!gone).then_some((Target::Session { merge, parts }, false));
            }
            WindowKind::Global => return Some((Target::Grid(vec![WindowSpan::GLOBAL]), false)),
            WindowKind::Custom { .. } => {
                let all = prep.assigned.as_ref().map_or(&[][..], |assigned| assigned.of(row));
                let kept: Vec<_> = all.iter().filter(|span| !is_gone(span.end, lateness, watermark)).copied().collect();
                let partly_late = kept.len() < all.len();
                return (!kept.is_empty()).then_some((Target::Grid(kept), partly_late));
            }
        };
        let mut all = 0;
        let spans: Vec<WindowSpan> = covering_windows(time, size, slide, offset)
            .inspect(|_| all += 1)
            .filter(|span| !is_gone(span.end, lateness, watermark))
            .collect();
        let partly_late = spans.len() < all;
        (!spans.is_empty()).then_some((Target::Grid(spans), partly_late))
    }

    /// The kept sessions of a key that `own` may overlap, in order of start, then end.
    ///
    /// Without a longest duration kept sessions do not overlap, so that their ends ascend too; with one, a session that
    /// reaches `own` starts at most that long before it.
    fn sessions_near(&self, key: KeyId, own: WindowSpan, max_duration: Option<Millis>) -> Vec<u32> {
        let sessions = self.keys.sessions(key);
        let from = match max_duration {
            None => sessions.partition_point(|slot| self.windows.slot(*slot).span.end <= own.start),
            Some(most) => {
                let earliest = own.start.saturating_sub(most.0);
                sessions.partition_point(|slot| self.windows.slot(*slot).span.start < earliest)
            }
        };
        let span = |slot: &u32| self.windows.slot(*slot).span;
        sessions.range(from..).copied().take_while(|slot| span(slot).start < own.end).collect()
    }

    /// The slots that the row's windows have already, in the target's order; none for a window yet to be opened.
    fn existing(&self, key: Option<KeyId>, target: &Target) -> Vec<Option<u32>> {
        match target {
            Target::Grid(spans) => spans.iter().map(|span| key.and_then(|key| self.windows.find(key, *span))).collect(),
            Target::Session { parts, .. } => parts.iter().copied().map(Some).collect(),
            Target::Slice(_) => Vec::new(),
        }
    }

    /// Whether the accumulators must be up to date before the row can go on: a window of it has a firing pending, a merge
    /// needs the parts' accumulators, or sums have to be checked row by row.
    fn must_publish_first(&self, prep: &Prep, target: &Target, slots: &[Option<u32>]) -> bool {
        if !self.run.has_rows() {
            return false;
        }
        let pending = |slot: &u32| self.windows.slot(*slot).fires_in == self.run.number;
        let merges = matches!(target, Target::Session { parts, .. } if parts.len() > 1);
        prep.may_overflow || merges || slots.iter().flatten().any(pending)
    }

    /// Why the row cannot be accumulated: a sum would leave 64 bits, or it takes back a row of which that held.
    fn refusal(
        &mut self,
        prep: &Prep,
        row: usize,
        key: Option<KeyId>,
        target: &Target,
        slots: &[Option<u32>],
    ) -> Option<Condemned> {
        let undoes = prep.batch.is_retraction(row);
        if undoes && self.refused.take(&mut self.tracker, &prep.batch, row) {
            let detail = "the record that this one takes back was rejected".to_owned();
            return Some(Condemned::by_host(ARITHMETIC_OVERFLOW, detail));
        }
        if !prep.may_overflow {
            return None;
        }
        let aggregate = self.overflow(prep, row, key, target, slots)?;
        if self.config.undoes && !undoes {
            let gone = target.last_end().saturating_add(self.config.lateness.0);
            self.refused.note(&mut self.tracker, &prep.batch, row, gone);
        }
        let detail = format!("the sum `{aggregate}` would leave the range of 64-bit integers");
        Some(Condemned::by_host(ARITHMETIC_OVERFLOW, detail))
    }

    fn overflow(
        &self,
        prep: &Prep,
        row: usize,
        key: Option<KeyId>,
        target: &Target,
        slots: &[Option<u32>],
    ) -> Option<String> {
        let row = index32(row);
        match target {
            Target::Grid(_) => slots.iter().find_map(|slot| {
                let parts = slot.as_slice();
                self.builtins.overflow(&prep.builtins, row, parts)
            }),
            Target::Session { parts, .. } => self.builtins.overflow(&prep.builtins, row, parts),
            Target::Slice(target) => self.sliced.as_ref().and_then(|sliced| {
                let discarding = self.accumulation() == Accumulation::Discarding;
                let Overlap { slots, windows } = sliced.overlap(key, *target, self.watermark, discarding);
                self.builtins.overflow_in(&prep.builtins, row, &slots, &windows)
            }),
        }
    }

    /// Puts an accepted row into its windows and notes what fires.
    fn accept(&mut self, row: usize, key: KeyId, target: &Target, slots: &[Option<u32>]) {
        let before = self.run.rows.len();
        match target {
            Target::Grid(spans) => {
                for (span, slot) in spans.iter().zip(slots) {
                    let slot = match slot {
                        Some(slot) => self.touch(*slot),
                        None => self.open(key, *span),
                    };
                    self.count(row, slot);
                }
                let late_only = || self.run.slots[before..].iter().all(|slot| self.windows.slot(*slot).past_end);
                if self.late() == Late::None && !self.hook_decides() && late_only() {
                    self.run.account.unshown += 1;
                }
            }
            Target::Session { merge, parts } => {
                let slot = match parts.as_slice() {
                    [] => self.open(key, merge.span),
                    [only] if self.windows.slot(*only).span == merge.span => self.touch(*only),
                    _ => self.merge(key, merge.span, parts),
                };
                self.count(row, slot);
            }
            Target::Slice(target) => self.accept_slice(row, key, *target),
        }
    }

    /// Puts an accepted row into its slice and notes the windows that have ended and that it fires.
    fn accept_slice(&mut self, row: usize, key: KeyId, target: SlicedTarget) {
        let Some(sliced) = &mut self.sliced else { return };
        let slot = sliced.admit(&mut self.keys, &mut self.builtins, &mut self.tracker, key, target, self.watermark);
        self.run.rows.push(index32(row));
        self.run.slots.push(slot);
        if sliced.is_unshown(target, self.watermark) {
            self.run.account.unshown += 1;
        }
        if self.config.late == Late::EveryElement {
            let fires = sliced.late_windows(target, self.watermark).next().is_some();
            self.run.late = fires.then(|| LateRow { key, row: index32(row), target });
        }
    }

    fn open(&mut self, key: KeyId, span: WindowSpan) -> u32 {
        let slot = self.windows.open(&mut self.keys, key, span, self.watermark);
        self.windows.slot_mut(slot).touched_in = self.run.number;
        self.builtins.reserve(self.windows.capacity());
        for hook in &mut self.hooks {
            hook.reserve(self.windows.capacity());
        }
        self.opened(slot);
        self.run.note(Undo::Opened(slot));
        slot
    }

    /// Keeps a slot's state of before the run, once.
    fn touch(&mut self, slot: u32) -> u32 {
        let number = self.run.number;
        if self.windows.slot(slot).touched_in != number {
            self.changing(slot);
            if self.run.keeps_journal() {
                let before = self.windows.slot_mut(slot).saved();
                self.run.note(Undo::Changed(slot, before));
            }
            self.windows.slot_mut(slot).touched_in = number;
        }
        slot
    }

    /// Makes the parts one new window: its panes count from 0, what the parts showed stands until it fires first.
    fn merge(&mut self, key: KeyId, span: WindowSpan, parts: &[u32]) -> u32 {
        if self.run.keeps_journal() {
            let sessions = self.keys.sessions(key).clone();
            self.run.note(Undo::Sessions(key, sessions));
        }
        let target = parts[0];
        let mut fresh = 0;
        let mut standing = Vec::new();
        for part in parts {
            self.touch(*part);
            self.windows.unlist_session(&mut self.keys, *part);
            let part = self.windows.slot_mut(*part);
            fresh += std::mem::take(&mut part.fresh);
            standing.append(&mut part.standing);
        }
        standing.sort_by_key(|pane| pane.info.window);
        let past_end = self.watermark.reached(span.end);
        if self.windows.slot(target).span != span {
            self.renaming(target);
        }
        let merged = self.windows.slot_mut(target);
        (merged.span, merged.fresh, merged.standing) = (span, fresh, standing);
        (merged.next_index, merged.past_end) = (0, past_end);
        self.windows.list_session(&mut self.keys, target);
        self.windows.set_timer(target);
        if parts.len() > 1 {
            self.run.merge = Some(Merge { target, others: parts[1..].to_vec() });
        }
        target
    }

    /// Counts a row into a window and notes the firing that it causes.
    fn count(&mut self, row: usize, slot: u32) {
        self.run.rows.push(index32(row));
        self.run.slots.push(slot);
        let event = self.event();
        let window = self.windows.slot_mut(slot);
        window.fresh += 1;
        let (fresh, past_end) = (window.fresh, window.past_end);
        if self.hook_decides() {
            self.windows.slot_mut(slot).fires_in = self.run.number;
            self.run.clocks.push(event.clock);
            return;
        }
        let timing = match (past_end, self.config.early, self.config.late) {
            (true, _, Late::EveryElement) => Some(Timing::Late),
            (false, Early::EveryElements(count), _) if fresh >= count => Some(Timing::Early),
            (true, _, Late::EveryProcessingTime(_)) | (false, Early::EveryProcessingTime(_), _) => {
                if !std::mem::replace(&mut self.windows.slot_mut(slot).awaits, true) {
                    self.awaiting.push(self.windows.reference(slot));
                }
                None
            }
            _ => None,
        };
        if let Some(timing) = timing {
            self.windows.slot_mut(slot).fires_in = self.run.number;
            self.run.fires.push(Fire { slot, timing, event });
        }
    }

    fn reject(&mut self, prep: &Prep, row: usize, condemned: Condemned) {
        self.run.account.rejected += 1;
        let record = prep.batch.rows[row];
        let side = condemned.into_side(&prep.batch.origin, record, &self.config.operator);
        self.run.sides.push(side);
    }

    fn side(&mut self, prep: &Prep, row: usize, kind: SideKind) {
        let record = prep.batch.rows[row];
        self.run.sides.push(Side::plain(kind, &prep.batch.origin, record, &self.config.operator));
    }
}

/// Why the row cannot be shown to an aggregate, whatever its windows.
fn mismatch(prep: &Prep, row: usize) -> Option<Condemned> {
    let row = index32(row);
    if let Some(detail) = prep.builtins.mismatch(row) {
        return Some(Condemned::by_host(TYPE_MISMATCH, detail));
    }
    let detail = prep.hooks.iter().find_map(|hook| hook.mismatch(row))?;
    debug_assert!(index(row) < prep.batch.len());
    Some(Condemned::by_host(TYPE_MISMATCH, detail.to_owned()))
}
