//! One round of timers: a call of `on-timer` for the next timer of many keys.
//!
//! A failing call condemns no record: the timers on which it fails alone become dead letters and are gone, the state of
//! their keys is as it was, and the other keys go on.

use std::sync::Arc;

use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::{Call, ComponentId, DueTimers, GuestFailure, Mapped, ProcessHook, TimerClock};
use tidegate_types::time::{EARLIEST_TIME, LATEST_TIME, is_record_time};

use super::access::Lent;
use super::firing::{Firer, Firing, LOOP_LIMIT};
use super::flush::{key_columns, key_values};
use super::keys::KeyId;
use super::output::{Held, Made};
use super::store::{PendingTimer, Store};
use super::{ProcessConfig, ProcessOperator};
use crate::OperatorError;
use crate::operator::OperatorOutput;
use crate::pacer::Pacer;
use crate::side::{FailedPane, FailedTimer, Side, SideKind};
use crate::verdict::{Work, insist, search};

/// The code of the dead letter of a timer on which the hook failed.
const TIMER_FAILED: &str = "timer-failed";
/// The code of the dead letter of a timer that was due again and again.
const TIMER_LOOP: &str = "timer-loop";
/// The code of an answer that does not fit.
const MALFORMED_RESULT: &str = "malformed-result";

/// A round of timers, as the search for the guilty one needs it.
struct TimerWork<'a> {
    hook: &'a mut dyn ProcessHook,
    store: &'a mut Store,
    lent: &'a Lent,
    pacer: &'a mut Pacer,
    config: &'a ProcessConfig,
    due: &'a [Firer],
    firing: &'a mut Firing,
    failed: Vec<(Firer, GuestFailure)>,
}

impl Work for TimerWork<'_> {
    fn run(&mut self, call: Call, from: usize, to: usize) -> Result<Result<(), GuestFailure>, OperatorError> {
        let due = &self.due[from..to];
        let keys: Vec<KeyId> = due.iter().map(|due| due.key).collect();
        let columns = if self.hook.plan().keys {
            key_columns(&self.store.keys, &keys, self.config.key_by.len())
        } else {
            Vec::new()
        };
        let timers = DueTimers {
            timers: due.iter().map(|due| due.timer.timer).collect(),
            groups: (0..index32(due.len())).collect(),
            times: due.iter().map(|due| due.timer.time).collect(),
        };
        self.store.begin_call(keys, due[0].reach);
        let budget = self.hook.fuel_budget();
        let answer = insist(&self.config.operator, || {
            let answer = self.lent.during(self.store, |state| self.hook.on_timer(call, state, &columns, &timers));
            if answer.is_err() {
                self.store.roll_back();
            }
            answer
        })?;
        let answer = match answer {
            Ok(answer) => answer,
            Err(failure) => {
                self.pacer.shrink();
                return Ok(Err(failure));
            }
        };
        if let Some(time) = answer.value.times.iter().flatten().find(|time| !is_record_time(**time)) {
            self.store.roll_back();
            let detail = format!("on-timer gave a row the time {time} ms, outside the years 0001 to 9999");
            return Ok(Err(GuestFailure { code: MALFORMED_RESULT, detail, fuel_used: answer.fuel_used }));
        }
        self.pacer.note(due.len(), answer.fuel_used, budget);
        self.publish(due, answer.value);
        Ok(Ok(()))
    }

    fn condemn(&mut self, at: usize, failure: GuestFailure) {
        self.failed.push((self.due[at], failure));
    }
}

impl TimerWork<'_> {
    fn publish(&mut self, due: &[Firer], mapped: Mapped) {
        self.store.commit();
        for due in due.iter().filter(|due| due.timer.clock == TimerClock::Event) {
            self.store.raise(due.key, due.timer.time);
        }
        let source = |row: u32| &due[mapped.sources.as_ref().map_or(index(row), |sources| index(sources[index(row)]))];
        let sources: Vec<&Firer> = (0..index32(mapped.len)).map(source).collect();
        let own_time = |due: &&Firer| due.timer.time.clamp(EARLIEST_TIME, LATEST_TIME);
        let times = mapped.times.unwrap_or_else(|| sources.iter().map(own_time).collect());
        let made = Arc::new(Made { columns: mapped.columns, times });
        for (row, due) in (0..).zip(sources) {
            let (watermark, emitted_at) = (due.reach.watermark, due.emitted_at);
            self.firing.hold(due.at, Held { made: Arc::clone(&made), row, watermark, emitted_at });
        }
    }
}

impl ProcessOperator {
    /// Calls the hook for these timers, which were taken away, and publishes what comes of it.
    pub(super) fn fire(
        &mut self,
        due: &[Firer],
        firing: &mut Firing,
        out: &mut OperatorOutput,
    ) -> Result<(), OperatorError> {
        if due.is_empty() {
            return Ok(());
        }
        let mut work = TimerWork {
            hook: self.hook.as_mut(),
            store: &mut self.store,
            lent: &self.lent,
            pacer: &mut self.timer_pacer,
            config: &self.config,
            due,
            firing,
            failed: Vec::new(),
        };
        if work.run(Call::USUAL, 0, due.len())?.is_err() {
            search(&mut work, 0, due.len(), &mut 0)?;
        }
        for (due, failure) in work.failed {
            let side = self.timer_side(TIMER_FAILED, due.key, due.timer, failure.to_string(), Some(failure.fuel_used));
            out.account.failed_timers += 1;
            out.sides.push(side);
        }
        Ok(())
    }

    /// A timer was due again and again at one event: it is gone.
    pub(super) fn report_loop(&self, key: KeyId, timer: PendingTimer, out: &mut OperatorOutput) {
        let detail = format!(
            "the key's timers fired more than {LOOP_LIMIT} times at one move of the watermark or the clock without getting any further; set timers later than the one that fires, and clear them when they are done"
        );
        out.account.failed_timers += 1;
        out.sides.push(self.timer_side(TIMER_LOOP, key, timer, detail, None));
    }

    fn timer_side(
        &self,
        reason: &str,
        key: KeyId,
        timer: PendingTimer,
        detail: String,
        fuel_used: Option<u64>,
    ) -> Side {
        let component: &Arc<ComponentId> = self.hook.component();
        let names = &self.config.key_by;
        let key = names.iter().cloned().zip(key_values(&self.store.keys, key, names.len())).collect();
        let name = self.hook.plan().timers[index(timer.timer)].name.clone();
        Side {
            kind: SideKind::DeadLetter,
            record: None,
            reason: reason.to_owned(),
            operator: Arc::clone(&self.config.operator),
            detail,
            component: Some(Arc::clone(component)),
            fuel_used,
            pane: Some(FailedPane { key, window: None }),
            timer: Some(FailedTimer { name, time: timer.time }),
        }
    }
}
