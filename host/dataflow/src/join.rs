//! Joins: rows of two inputs that have the same key meet (docs/semantics.md, 6).
//!
//! An operator works through a round event by event: the left input's rows of an event, the right input's, then the move of
//! the watermark. Each row and each move starts a *task* (look for partners, fire windows, drop rows), which a [`Rule`]
//! knows. A task can stop anywhere between two pairs and go on later, so that an output is bounded however many partners
//! a row has.
//!
//! Invariant: between two rounds no row is kept that the watermark lets go, and nothing is due.

use std::sync::Arc;

use tidegate_pipeline::{Join, JoinKind, JoinSide, Matching, WindowKind};
use tidegate_state::Changes;
use tidegate_types::hooks::MapHook;
use tidegate_types::stored::{Read, Stored};
use tidegate_types::{Batch, EventTime, NO_CLOCK, Progress, Watermark};

use crate::OperatorError;
use crate::operator::{Operator, OperatorOutput, Work};
use crate::report::StateSize;
use crate::side::{Side, SideKind};

mod buffer;
mod core;
mod emitter;
mod fields;
mod interval;
mod keys;
mod packed;
mod round;
mod stored;
mod window;

use self::core::Core;
use emitter::Emitter;
pub(crate) use fields::{join_output, join_reads, pair_fields, unknown_pair_field};
use interval::IntervalRule;
use round::{Round, Step};
use window::WindowRule;

/// What a join operator is to do.
#[derive(Debug, Clone)]
pub(crate) struct JoinConfig {
    /// What the pipeline says.
    pub(crate) join: Join,
    /// The operator's id.
    pub(crate) operator: Arc<str>,
    /// Whether another operator reads what it emits.
    pub(crate) feeds: bool,
    /// The most pairs that a hook gets in one call.
    pub(crate) batch_rows: usize,
    /// The number of key groups.
    pub(crate) max_parallelism: u32,
}

/// A join operator of one subtask, without state. `hook`: exactly where the pipeline names one.
pub(crate) fn join_operator(config: JoinConfig, hook: Option<Box<dyn MapHook>>) -> Box<dyn Operator> {
    let join = &config.join;
    match &join.kind {
        JoinKind::Interval { lower, upper } => {
            let rule = IntervalRule::new(*lower, *upper, join.allowed_lateness, join.matching);
            Box::new(JoinOperator::new(config, rule, hook))
        }
        JoinKind::Window(kind) => {
            let rule = WindowRule::new(grid(kind), join.allowed_lateness);
            Box::new(JoinOperator::new(config, rule, hook))
        }
    }
}

/// How far the join's output watermark stays behind its own, ms: as long as a row can still come out.
pub(crate) fn hold_back(join: &Join) -> i64 {
    match join.kind {
        JoinKind::Interval { lower, upper } => {
            upper.max(lower.saturating_neg()).max(0).saturating_add(join.allowed_lateness.0)
        }
        JoinKind::Window(_) => 0,
    }
}

fn grid(kind: &WindowKind) -> window::Grid {
    match kind {
        WindowKind::Tumbling { size, offset } => window::Grid { size: *size, slide: *size, offset: *offset },
        WindowKind::Sliding { size, slide, offset } => window::Grid { size: *size, slide: *slide, offset: *offset },
        WindowKind::Session { .. } | WindowKind::Global | WindowKind::Custom { .. } => {
            unreachable!("a pipeline's window joins have tumbling or sliding windows")
        }
    }
}

/// The other input.
fn other(side: JoinSide) -> JoinSide {
    match side {
        JoinSide::Left => JoinSide::Right,
        JoinSide::Right => JoinSide::Left,
    }
}

/// Something of each input.
#[derive(Debug, Default)]
struct Both<T> {
    left: T,
    right: T,
}

impl<T> Both<T> {
    fn of(&self, side: JoinSide) -> &T {
        match side {
            JoinSide::Left => &self.left,
            JoinSide::Right => &self.right,
        }
    }

    fn of_mut(&mut self, side: JoinSide) -> &mut T {
        match side {
            JoinSide::Left => &mut self.left,
            JoinSide::Right => &mut self.right,
        }
    }
}

/// What a row's time says of it at a watermark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judgement {
    TooLate,
    Accepted { partly_late: bool },
}

/// A row at its arrival.
#[derive(Debug, Clone, Copy)]
struct Arriving {
    side: JoinSide,
    /// Its place in its batch.
    row: usize,
    time: EventTime,
    /// Whether a field of its key is null: it matches nothing.
    null_key: bool,
}

/// Which rows meet, and for how long they are kept.
trait Rule: Send {
    /// What is left to do about a row or a move of the watermark.
    type Task: Send;

    /// Whether a row is too late.
    fn judge(&self, time: EventTime, watermark: Watermark) -> Judgement;

    /// What an accepted row brings.
    fn arrive(&self, row: Arriving, watermark: Watermark) -> Self::Task;

    /// What the watermark, moved by the event at `position`, brings.
    fn advance(&self, position: u32) -> Self::Task;

    /// Works on a task, and returns what is left of it once the emitter is ripe.
    fn go_on(&mut self, task: Self::Task, round: &Round, core: &mut Core) -> Option<Self::Task>;

    /// All kept rows of a restored state are there.
    fn restored(&mut self, core: &mut Core);

    /// Bytes that it keeps itself, of so many keys.
    fn state_bytes(&self, keys: usize) -> u64;
}

/// The join operator of one subtask.
struct JoinOperator<R: Rule> {
    config: JoinConfig,
    rule: R,
    core: Core,
    /// The round that is at work, and what is left of its last event.
    paused: Option<(Box<Round>, Option<R::Task>)>,
}

impl<R: Rule> JoinOperator<R> {
    fn new(config: JoinConfig, rule: R, hook: Option<Box<dyn MapHook>>) -> Self {
        let fields = fields::needs(&config.join, hook.as_ref().map(|hook| hook.plan()));
        let blames_kept_rows = match (&hook, &config.join.kind, config.join.matching) {
            (None, _, _) => Both { left: false, right: false },
            (Some(_), JoinKind::Window(_), _) => Both { left: true, right: true },
            (Some(_), JoinKind::Interval { .. }, matching) => {
                Both { left: is_outer(matching, JoinSide::Left), right: is_outer(matching, JoinSide::Right) }
            }
        };
        let emitter = Emitter::new(&config, hook, &fields);
        let core = Core::new(fields, blames_kept_rows, emitter, config.max_parallelism);
        Self { config, rule, core, paused: None }
    }

    fn work(
        &mut self,
        mut round: Box<Round>,
        mut task: Option<R::Task>,
        out: &mut OperatorOutput,
    ) -> Result<Work, OperatorError> {
        self.core.emitter.begin();
        loop {
            if self.core.emitter.is_ripe() {
                self.core.emitter.flush(out)?;
                if self.core.emitter.is_spent() {
                    self.paused = Some((round, task));
                    return Ok(Work::Paused);
                }
            }
            task = match task.take() {
                Some(task) => self.rule.go_on(task, &round, &mut self.core),
                None => match round.next_step() {
                    Step::Row(side, row) => self.row(&round, side, row, out),
                    Step::Entry(entry) => {
                        self.core.clock = self.core.clock.max(entry.clock);
                        let moves = entry.watermark > self.core.watermark;
                        self.core.watermark = self.core.watermark.max(entry.watermark);
                        moves.then(|| self.rule.advance(entry.position))
                    }
                    Step::End => {
                        self.core.emitter.flush(out)?;
                        return Ok(Work::Done);
                    }
                },
            };
        }
    }

    /// Judges a row. What an accepted one brings is to be done.
    fn row(&self, round: &Round, side: JoinSide, row: usize, out: &mut OperatorOutput) -> Option<R::Task> {
        let input = round.inputs.of(side);
        let time = input.time(row);
        match self.rule.judge(time, self.core.watermark) {
            Judgement::TooLate => {
                let record = input.batch.rows[row];
                out.account.too_late += 1;
                out.sides.push(Side::plain(SideKind::TooLate, &input.batch.origin, record, &self.config.operator));
                None
            }
            Judgement::Accepted { partly_late } => {
                out.account.accepted += 1;
                out.account.partly_late += u64::from(partly_late);
                let arriving = Arriving { side, row, time, null_key: input.has_null_key(row) };
                Some(self.rule.arrive(arriving, self.core.watermark))
            }
        }
    }
}

/// Whether rows of this side come out without a partner.
fn is_outer(matching: Matching, side: JoinSide) -> bool {
    match side {
        JoinSide::Left => matches!(matching, Matching::Left | Matching::Full),
        JoinSide::Right => matches!(matching, Matching::Right | Matching::Full),
    }
}

impl<R: Rule> Operator for JoinOperator<R> {
    fn id(&self) -> &Arc<str> {
        &self.config.operator
    }

    fn process(
        &mut self,
        inputs: Vec<Batch>,
        progress: &Arc<Progress>,
        now: Option<EventTime>,
        out: &mut OperatorOutput,
    ) -> Result<Work, OperatorError> {
        self.core.clock = self.core.clock.max(now.unwrap_or(NO_CLOCK));
        let round = Round::new(inputs, Arc::clone(progress), &self.config.join, &self.core.fields);
        self.work(Box::new(round), None, out)
    }

    fn resume(&mut self, out: &mut OperatorOutput) -> Result<Work, OperatorError> {
        match self.paused.take() {
            Some((round, task)) => self.work(round, task, out),
            None => Ok(Work::Done),
        }
    }

    /// A join is due by the watermark only.
    fn advance_clock(&mut self, now: EventTime, _out: &mut OperatorOutput) -> Result<(), OperatorError> {
        self.core.clock = self.core.clock.max(now);
        Ok(())
    }

    fn next_instant(&self) -> Option<EventTime> {
        None
    }

    fn state(&self) -> StateSize {
        StateSize {
            keys: self.core.keys.len(),
            join_rows: self.core.buffers.left.len() + self.core.buffers.right.len(),
            bytes: self.core.state_bytes() + self.rule.state_bytes(self.core.keys.len()),
            ..StateSize::default()
        }
    }

    fn keep_changes(&mut self) {
        self.core.keep_changes();
    }

    fn freeze(&mut self) {
        debug_assert!(self.paused.is_none(), "a barrier comes between two rounds");
        self.core.freeze();
    }

    fn write(&mut self, entries: usize, changes: &mut Changes) -> bool {
        self.core.write(entries, changes)
    }

    fn head(&self, out: &mut Vec<u8>) {
        self.core.write_head(out);
    }

    fn restore_head(&mut self, head: &mut Stored<'_>) -> Read<()> {
        self.core.restore_head(head)
    }

    fn restore(&mut self, key: &[u8], value: &[u8]) -> Read<()> {
        let Join { left_key, right_key, .. } = &self.config.join;
        let fields = Both { left: left_key.len(), right: right_key.len() };
        self.core.restore(key, value, &fields)
    }

    fn restored(&mut self) -> Read<()> {
        self.rule.restored(&mut self.core);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
