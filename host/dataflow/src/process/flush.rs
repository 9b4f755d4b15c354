//! A run's call, and what comes of it: it is published, or taken back and made again on fewer rows.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_formats::codes;
use tidegate_types::batch::{index, index32};
use tidegate_types::hooks::{Call, GuestFailure, Mapped};
use tidegate_types::key::decode_value;
use tidegate_types::time::is_record_time;
use tidegate_types::{Column, ColumnBuilder, Value};

use super::firing::Firing;
use super::keys::{KeyId, KeyTable};
use super::output::RunOutput;
use super::{ProcessOperator, Round};
use crate::OperatorError;
use crate::operator::OperatorOutput;
use crate::side::Condemned;
use crate::verdict::insist;

/// What came of a run's call.
enum Attempt {
    /// It can be published.
    Done(Mapped),
    /// The guest failed.
    Failed(GuestFailure),
    /// Rows of the call are refused; ascending.
    Refused(BTreeMap<u32, Condemned>),
    /// A timer that a row set may have been due before the next row.
    Together,
}

impl ProcessOperator {
    /// Calls the hook for the run's rows and publishes what comes of it; or goes back to the run's start, with a row condemned
    /// or a shorter run to come.
    pub(super) fn flush(&mut self, round: &mut Round, out: &mut OperatorOutput) -> Result<(), OperatorError> {
        if self.run.has_rows() {
            let call = self.cuts.call();
            match self.attempt(round, call)? {
                Attempt::Done(mapped) => self.publish(round, mapped, out),
                Attempt::Failed(failure) => {
                    self.blame(round, call, failure);
                    self.go_back(round);
                }
                Attempt::Refused(refusals) => {
                    self.refuse(round, call, refusals);
                    self.go_back(round);
                }
                Attempt::Together => {
                    let apart = self.run.apart();
                    self.cuts.keep_apart(apart);
                    self.cuts.end_at(index(self.run.rows[apart - 1].row) + 1, call);
                    self.go_back(round);
                }
            }
        } else {
            self.publish_sides(out);
        }
        self.begin_run(round.cursor);
        Ok(())
    }

    fn attempt(&mut self, round: &Round, call: Call) -> Result<Attempt, OperatorError> {
        let rows: Vec<u32> = self.run.rows.iter().map(|row| row.row).collect();
        let groups: Vec<u32> = self.run.rows.iter().map(|row| row.group).collect();
        let plan = self.hook.plan();
        let watermarks = if plan.watermarks {
            self.run.rows.iter().map(|row| row.at.watermark.as_millis()).collect()
        } else {
            Vec::new()
        };
        let keys = if plan.keys {
            key_columns(&self.store.keys, &self.run.keys, self.config.key_by.len())
        } else {
            Vec::new()
        };
        let input = round.reads.take(&round.batch, &rows);
        self.store.begin_call(self.run.keys.clone(), self.reach());
        let Self { hook, store, lent, config, pacer, .. } = self;
        let budget = hook.fuel_budget();
        let answer = insist(&config.operator, || {
            let answer = lent.during(store, |state| hook.process(call, state, &keys, &groups, &watermarks, &input));
            if answer.is_err() {
                store.roll_back();
            }
            answer
        })?;
        let answer = match answer {
            Ok(answer) => answer,
            Err(failure) => {
                pacer.shrink();
                return Ok(Attempt::Failed(failure));
            }
        };
        pacer.note(rows.len(), answer.fuel_used, budget);
        let refused = self.refusals(&answer.value);
        // What was refused beside a timer that did not fire in time says nothing.
        let attempt = match (self.had_to_part(), refused.is_empty()) {
            (true, _) => Attempt::Together,
            (false, false) => Attempt::Refused(refused),
            (false, true) => return Ok(Attempt::Done(answer.value)),
        };
        self.store.roll_back();
        Ok(attempt)
    }

    /// Whether a timer that the call set fell due between two of its rows, or could have.
    fn had_to_part(&self) -> bool {
        let early = || self.store.early.iter().zip(&self.run.counts).filter(|(early, _)| **early);
        if early().next().is_none() {
            return false;
        }
        let here = self.reach();
        self.run.rows.iter().any(|row| row.at != here) || early().any(|(_, count)| *count > 1)
    }

    /// The rows of the call that the guest refused, or to which it gave no valid time.
    fn refusals(&self, mapped: &Mapped) -> BTreeMap<u32, Condemned> {
        let component = self.hook.component();
        let mut refused: BTreeMap<u32, Condemned> = mapped
            .rejected
            .iter()
            .map(|rejection| {
                let (code, message) = (rejection.code.clone(), rejection.message.clone());
                (rejection.row, Condemned::by_guest(component, code, message))
            })
            .collect();
        let times = mapped.times.iter().flatten().enumerate();
        for (row, time) in times.filter(|(_, time)| !is_record_time(**time)) {
            let source = mapped.sources.as_ref().map_or(index32(row), |sources| sources[row]);
            let detail = format!("the process hook gave a row the time {time} ms, outside the years 0001 to 9999");
            refused.entry(source).or_insert_with(|| Condemned::by_host(codes::BAD_TIME, detail));
        }
        refused
    }

    /// A call failed: halve its rows, or condemn the only one.
    fn blame(&mut self, round: &mut Round, call: Call, failure: GuestFailure) {
        let rows = &self.run.rows;
        let behind = index(rows[rows.len() - 1].row) + 1;
        if rows.len() > 1 {
            self.cuts.end_at(behind, Call::HALF);
            self.cuts.end_at(index(rows[rows.len().div_ceil(2)].row), Call::HALF);
        } else if call == Call::VERDICT {
            let condemned = Condemned::by_failure(self.hook.component(), failure);
            round.condemned.insert(behind - 1, condemned);
            round.failures += 1;
        } else {
            self.cuts.end_at(behind, Call::VERDICT);
        }
    }

    /// Condemns the refused rows: of each key the first. Later ones were judged beside it, so they are called again.
    fn refuse(&mut self, round: &mut Round, call: Call, refusals: BTreeMap<u32, Condemned>) {
        let mut seen = BTreeSet::new();
        for (at, condemned) in refusals {
            let row = self.run.rows[index(at)];
            if !seen.insert(row.group) {
                self.cuts.end_at(index(row.row), call);
                return;
            }
            round.condemned.insert(index(row.row), condemned);
        }
    }

    /// Goes back to the run's start; keys that were new are forgotten.
    fn go_back(&mut self, round: &mut Round) {
        round.cursor = self.run.start;
        self.watermark = self.run.start_at.watermark;
        self.clock = self.run.start_at.clock;
        for key in std::mem::take(&mut self.run.keys) {
            self.store.settle(key, self.watermark);
        }
    }

    fn publish(&mut self, round: &Round, mapped: Mapped, out: &mut OperatorOutput) {
        let early = std::mem::take(&mut self.store.early);
        self.store.commit();
        for row in &self.run.rows {
            self.store.raise(self.run.keys[index(row.group)], round.batch.times[index(row.row)]);
        }
        out.account.accepted += self.run.rows.len() as u64;
        let output = RunOutput::of(&self.run.rows, &round.batch, mapped, self.config.feeds);
        let here = self.reach();
        let (live, done): (Vec<u32>, Vec<u32>) = (0..index32(self.run.keys.len()))
            .partition(|group| early[index(*group)] && self.store.is_timer_due(self.run.keys[index(*group)], here));
        for group in done {
            self.store.settle(self.run.keys[index(group)], self.watermark);
        }
        if live.is_empty() {
            if early.iter().all(|early| !early) {
                self.cuts.widen();
            }
            output.emit(out);
        } else {
            self.firing = Some(Firing::behind_run(&self.run, &live, output, here, &round.batch));
        }
        self.publish_sides(out);
    }

    fn publish_sides(&mut self, out: &mut OperatorOutput) {
        out.account += self.run.account();
        out.sides.append(&mut self.run.sides);
    }
}

/// The fields of keys, as columns in the order of `key_by`.
pub(super) fn key_columns(table: &KeyTable, keys: &[KeyId], fields: usize) -> Vec<Column> {
    let mut builders: Vec<ColumnBuilder> = (0..fields).map(|_| ColumnBuilder::new()).collect();
    for key in keys {
        for (builder, value) in builders.iter_mut().zip(key_values(table, *key, fields)) {
            builder.push(value.as_ref());
        }
    }
    builders.iter_mut().map(ColumnBuilder::finish).collect()
}

/// The values of a key's fields.
pub(super) fn key_values(table: &KeyTable, key: KeyId, fields: usize) -> impl Iterator<Item = Value> {
    let mut encoded = table.encoded(key);
    (0..fields).map(move |_| decode_value(&mut encoded).expect("this job encoded the key itself"))
}
