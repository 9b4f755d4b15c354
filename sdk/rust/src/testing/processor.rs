//! The harness for process hooks: it keeps state and timers, as the host does.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use super::check;
use crate::columns::{Batch, Clock, Column, Due, Fault, Field, Kind, ProcessorPlan, Rejection, Rows};
use crate::config;
use crate::processor::{ColumnProcessor, Processor, RowProcessor};
use crate::row::{Emit, ReadRow, Row, WriteRow, from_columns, to_columns};

mod store;
use store::{Memory, Store};

type OutRow<P> = <<P as Processor>::Out as Emit>::Row;

/// How often timers may fire at one moment, before a test takes them for endless.
const MOST_FIRINGS: usize = 10_000;

/// A process hook under test.
pub struct ProcessorHarness<P> {
    config: String,
    key: Vec<Field>,
    input: Vec<Field>,
    plan: ProcessorPlan,
    hook: PhantomData<P>,
}

/// What happens, in order.
#[derive(Clone, Debug)]
pub enum Step<I> {
    /// A row of a key arrives.
    Row(String, I),
    /// The watermark moves, ms since the Unix epoch. It never falls.
    Watermark(i64),
    /// The job's clock moves, ms since the Unix epoch. It never falls.
    Clock(i64),
}

impl<I> Step<I> {
    /// A row of a key arrives.
    pub fn row(key: &str, row: I) -> Self {
        Self::Row(key.to_owned(), row)
    }
}

/// What a process hook made of the steps.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessResult<R> {
    /// The rows, in order.
    pub rows: Vec<R>,
    /// Their event times; 0 where neither the rows that come in nor those that go out have one.
    pub times: Vec<i64>,
    /// The rows that it refused, numbered by the steps.
    pub rejected: Vec<Rejection>,
}

impl<P: Processor> ProcessorHarness<P> {
    /// Opens the hook with its config as JSON (`null` for none), as if the pipeline declared exactly the fields that it reads,
    /// and keyed its rows by a text `key`.
    pub fn open(config: &str) -> Result<Self, Fault> {
        let (key, input) = (vec![Field::new("key", Kind::Text)], P::In::<'static>::fields());
        let (_, plan) = instance::<P>(config, &key, &input)?;
        Ok(Self { config: config.to_owned(), key, input, plan, hook: PhantomData })
    }

    /// What the hook reads, keeps and makes.
    pub fn plan(&self) -> &ProcessorPlan {
        &self.plan
    }

    /// Takes the steps from nothing: as many rows in one call as the host would give, then once more row by row, each call in a
    /// fresh instance.
    ///
    /// A row in a call of its own and a timer that it sets to a time that has passed: the timer fires after the row.
    ///
    /// # Errors
    /// A fault of the hook, or a result that breaks the contract.
    ///
    /// # Panics
    /// Where the hook panics, where the cut changes what comes out or what is kept, or where timers set themselves without end.
    pub fn run<'a>(&self, steps: &[Step<P::In<'a>>]) -> Result<ProcessResult<OutRow<P>>, Fault>
    where
        P::In<'a>: WriteRow + Clone,
        OutRow<P>: for<'r> ReadRow<'r>,
    {
        let whole = self.run_in(steps, usize::MAX)?;
        let single = self.run_in(steps, 1)?;
        let told = |run: &Run<'_, P>| (run.shown.clone(), run.times.clone(), run.rejected.clone());
        assert_eq!(
            told(&whole),
            told(&single),
            "not repeatable: rows in one call and row by row give different output"
        );
        assert_eq!(
            whole.memory, single.memory,
            "not repeatable: rows in one call and row by row leave different state"
        );
        let mut rows = Vec::new();
        for made in &whole.made {
            let count = made.columns.first().map_or(0, Column::rows);
            rows.extend(from_columns::<OutRow<P>>(&made.columns, made.times.as_deref().unwrap_or_default(), count)?);
        }
        Ok(ProcessResult { rows, times: whole.times, rejected: whole.rejected })
    }

    fn run_in<'a, 'h>(&'h self, steps: &[Step<P::In<'a>>], most: usize) -> Result<Run<'h, P>, Fault>
    where
        P::In<'a>: WriteRow + Clone,
    {
        let mut run = Run::new(self);
        let mut at = 0;
        while at < steps.len() {
            let rows = steps[at..].iter().take(most).take_while(|step| matches!(step, Step::Row(..))).count();
            match &steps[at] {
                Step::Row(..) => run.rows(&steps[at..at + rows], at)?,
                Step::Watermark(time) => run.watermark = run.watermark.max(*time),
                Step::Clock(time) => run.clock = run.clock.max(*time),
            }
            run.fire()?;
            at += rows.max(1);
        }
        Ok(run)
    }
}

fn instance<P: Processor>(
    config: &str,
    key: &[Field],
    input: &[Field],
) -> Result<(RowProcessor<P>, ProcessorPlan), Fault> {
    <RowProcessor<P> as ColumnProcessor>::open(config::parse(config)?, key, input)
}

/// One run over the steps.
struct Run<'h, P> {
    harness: &'h ProcessorHarness<P>,
    memory: RefCell<Memory>,
    /// The largest event time of each key.
    latest: BTreeMap<String, i64>,
    watermark: i64,
    clock: i64,
    made: Vec<Rows>,
    /// The rows of `made`, in a form that compares.
    shown: Vec<Vec<String>>,
    times: Vec<i64>,
    rejected: Vec<Rejection>,
}

impl<'h, P: Processor> Run<'h, P> {
    fn new(harness: &'h ProcessorHarness<P>) -> Self {
        Self {
            harness,
            memory: RefCell::default(),
            latest: BTreeMap::new(),
            watermark: i64::MIN,
            clock: i64::MIN,
            made: Vec::new(),
            shown: Vec::new(),
            times: Vec::new(),
            rejected: Vec::new(),
        }
    }

    /// Gives rows in one call; where one of them sets a timer that is due before the next, they are given one by one.
    fn rows<'a>(&mut self, steps: &[Step<P::In<'a>>], first: usize) -> Result<(), Fault>
    where
        P::In<'a>: WriteRow + Clone,
    {
        let before = self.memory.borrow().clone();
        let (keys, groups) = numbers(steps);
        let sent = to_columns(steps.iter().filter_map(row).cloned());
        let times = sent.times.clone().unwrap_or_else(|| vec![0; steps.len()]);
        let asked = self.harness.plan.reads.as_ref().is_none_or(|reads| reads.times);
        let batch = Batch { times: if asked { times.clone() } else { Vec::new() }, columns: sent.columns };
        let watermarks = if self.harness.plan.watermarks { vec![self.watermark; steps.len()] } else { Vec::new() };
        let (hook, _) = instance::<P>(&self.harness.config, &self.harness.key, &self.harness.input)?;
        let store = self.store(&keys);
        let made = hook.process(&store, self.key_columns(&keys), &groups, &watermarks, batch)?;
        let due_at_once = store.least_set.borrow().is_some_and(|time| time <= self.watermark.max(self.clock));
        if due_at_once && steps.len() > 1 {
            self.memory = RefCell::new(before);
            for (place, step) in steps.iter().enumerate() {
                self.rows(std::slice::from_ref(step), first + place)?;
                self.fire()?;
            }
            return Ok(());
        }
        check::rejections(&made.rejected, steps.len())?;
        let sources = check::made(&self.harness.plan.output, &made.output, steps.len(), &made.rejected)?;
        for (place, time) in times.iter().enumerate().filter(|_| P::In::<'a>::TIME) {
            let latest = self.latest.entry(keys[index(groups[place])].clone()).or_insert(*time);
            *latest = (*latest).max(*time);
        }
        self.rejected.extend(made.rejected.into_iter().map(|rejection| {
            let row = u32::try_from(first).expect("a test has few steps") + rejection.row;
            Rejection { row, ..rejection }
        }));
        self.take(made.output, &sources, &times);
        Ok(())
    }

    /// Fires what is due and forgets what has expired, in order of time.
    fn fire(&mut self) -> Result<(), Fault> {
        for _ in 0..MOST_FIRINGS {
            let expiry = self.next_expiry();
            let timer = self.next_timer();
            match (expiry, timer) {
                (Some((expires, key, state)), timer) if timer.as_ref().is_none_or(|(time, ..)| expires <= *time) => {
                    self.memory.borrow_mut().forget(state, &key);
                }
                (_, Some(timer)) => self.fire_one(timer)?,
                _ => return Ok(()),
            }
        }
        panic!("timers set themselves without end")
    }

    fn next_timer(&self) -> Option<(i64, String, u32)> {
        let due = |(time, _, timer): &&(i64, String, u32)| match self.harness.plan.timers[index(*timer)].clock {
            Clock::Event => *time <= self.watermark,
            Clock::Processing => *time <= self.clock,
        };
        self.memory.borrow().timers.iter().find(due).cloned()
    }

    /// The first expiry of a state that is still there.
    fn next_expiry(&self) -> Option<(i64, String, u32)> {
        let memory = self.memory.borrow();
        let states = || self.harness.plan.states.iter().enumerate();
        let expiry = |(key, latest): (&String, &i64)| {
            let of = |(state, plan): (usize, &crate::columns::StatePlan)| {
                let expires = latest.saturating_add(i64::try_from(plan.ttl?).unwrap_or(i64::MAX));
                let state = u32::try_from(state).ok()?;
                let mut without = memory.clone();
                without.forget(state, key);
                (expires <= self.watermark && without != *memory).then(|| (expires, key.clone(), state))
            };
            states().filter_map(of).min()
        };
        self.latest.iter().filter_map(expiry).min()
    }

    fn fire_one(&mut self, timer: (i64, String, u32)) -> Result<(), Fault> {
        self.memory.borrow_mut().timers.remove(&timer);
        let (time, key, timer) = timer;
        let keys = [key];
        let (hook, _) = instance::<P>(&self.harness.config, &self.harness.key, &self.harness.input)?;
        let due = Due { timers: vec![timer], groups: vec![0], times: vec![time] };
        let rows = hook.on_timer(&self.store(&keys), self.key_columns(&keys), due)?;
        let sources = check::made(&self.harness.plan.output, &rows, 1, &[])?;
        if self.harness.plan.timers[index(timer)].clock == Clock::Event {
            let latest = self.latest.entry(keys[0].clone()).or_insert(time);
            *latest = (*latest).max(time);
        }
        self.take(rows, &sources, &[time]);
        Ok(())
    }

    fn store<'s>(&'s self, keys: &'s [String]) -> Store<'s> {
        Store { states: &self.harness.plan.states, keys, memory: &self.memory, least_set: RefCell::default() }
    }

    fn key_columns(&self, keys: &[String]) -> Vec<Column> {
        if self.harness.plan.keys { vec![Column::from_texts(keys)] } else { Vec::new() }
    }

    fn take(&mut self, rows: Rows, sources: &[u32], times: &[i64]) {
        self.shown.extend(check::comparable(&rows.columns, sources.len()));
        match &rows.times {
            Some(times) => self.times.extend(times),
            None => self.times.extend(sources.iter().map(|source| times[index(*source)])),
        }
        self.made.push(rows);
    }
}

fn row<I>(step: &Step<I>) -> Option<&I> {
    if let Step::Row(_, row) = step { Some(row) } else { None }
}

/// The keys of rows, each once, and the number of each row's.
fn numbers<I>(steps: &[Step<I>]) -> (Vec<String>, Vec<u32>) {
    let (mut keys, mut groups) = (Vec::new(), Vec::new());
    for step in steps {
        let Step::Row(key, _) = step else { continue };
        let place = keys.iter().position(|known| known == key).unwrap_or_else(|| {
            keys.push(key.clone());
            keys.len() - 1
        });
        groups.push(u32::try_from(place).expect("a test has few keys"));
    }
    (keys, groups)
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
