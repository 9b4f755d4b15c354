//! What a process hook keeps: the handles that it makes in `open`.

use std::time::Duration;

use super::{ListState, MapKey, MapState, Stored, Timer, ValueState};
use crate::columns::{Clock, Fault, Field, Shape, StatePlan, TimerPlan};

/// Makes the handles of a hook's states and timers. Their names are how an upgrade finds them again.
#[derive(Debug)]
pub struct Setup<'a> {
    /// The key's fields.
    pub key: &'a [Field],
    /// The fields that the pipeline declares, or that the operators before this one make.
    pub input: &'a [Field],
    ttl: Option<Duration>,
    states: Vec<StatePlan>,
    timers: Vec<TimerPlan>,
    /// A state whose rows cannot be kept as they are.
    timed: Option<String>,
}

impl<'a> Setup<'a> {
    pub(crate) fn new(key: &'a [Field], input: &'a [Field]) -> Self {
        Self { key, input, ttl: None, states: Vec::new(), timers: Vec::new(), timed: None }
    }

    /// From here on, states are forgotten so long after a key's last row, by event time: when the watermark is `ttl` past the largest
    /// time of the key's rows and fired event timers. Not said, or zero: they stay until they are cleared.
    pub fn ttl(&mut self, ttl: Duration) -> &mut Self {
        self.ttl = Some(ttl).filter(|ttl| !ttl.is_zero());
        self
    }

    /// A state of one row, or none.
    pub fn value<R: Stored>(&mut self, name: &str) -> ValueState<R> {
        ValueState::new(self.state::<R>(name, Shape::Value))
    }

    /// A state of rows in the order in which they are added.
    pub fn list<R: Stored>(&mut self, name: &str) -> ListState<R> {
        ListState::new(self.state::<R>(name, Shape::List))
    }

    /// A state of rows under map keys.
    pub fn map<K: MapKey, R: Stored>(&mut self, name: &str) -> MapState<K, R> {
        MapState::new(self.state::<R>(name, Shape::Map(K::KIND)))
    }

    /// A timer that is due when the watermark reaches its time.
    pub fn event_timer(&mut self, name: &str) -> Timer {
        self.timer(name, Clock::Event)
    }

    /// A timer that is due when the job's clock reaches its time.
    pub fn processing_timer(&mut self, name: &str) -> Timer {
        self.timer(name, Clock::Processing)
    }

    /// The plan's states and timers. A state of rows that have an event time is a fault.
    pub(crate) fn into_parts(self) -> Result<(Vec<StatePlan>, Vec<TimerPlan>), Fault> {
        match self.timed {
            None => Ok((self.states, self.timers)),
            Some(name) => Err(Fault::new(format!(
                "state `{name}`: what is kept has no event time of its own; `#[row(time)]` is for rows, keep it as a field"
            ))),
        }
    }

    fn state<R: Stored>(&mut self, name: &str, shape: Shape) -> u32 {
        if R::TIME {
            self.timed.get_or_insert_with(|| name.to_owned());
        }
        let ttl = self.ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX).max(1));
        self.states.push(StatePlan { name: name.to_owned(), shape, fields: R::fields(), ttl });
        last_place(self.states.len())
    }

    fn timer(&mut self, name: &str, clock: Clock) -> Timer {
        self.timers.push(TimerPlan { name: name.to_owned(), clock });
        Timer::new(last_place(self.timers.len()))
    }
}

fn last_place(count: usize) -> u32 {
    u32::try_from(count - 1).expect("a hook has few states and timers")
}
