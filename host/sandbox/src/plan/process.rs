//! Checks of a processor's plan: its states and timers.

use std::collections::BTreeSet;

use tidegate_types::Millis;
use tidegate_types::hooks::{ProcessPlan, StateShape, StateSpec, TimerClock, TimerSpec};
use tidegate_types::time::{EARLIEST_TIME, LATEST_TIME};

use super::{Wrong, makes, reads};
use crate::bindings::exports::tidegate::job::processor::{Clock, Plan, Shape, State, Timer};
use crate::config::{FIELD_NAME_BYTES, PLAN_STATES};
use crate::fields::from_wire;
use crate::text;

/// Longer than from the first record's time to the last one's.
const LONGEST_TTL: i64 = LATEST_TIME - EARLIEST_TIME;

/// The plan, if it is right.
pub(crate) fn check(plan: Plan, input: &[tidegate_types::Field]) -> Result<ProcessPlan, Wrong> {
    let reads = reads(plan.reads, input)?;
    let output = makes("output", &plan.output)?;
    if output.is_empty() {
        return Err(Wrong::new("output", "it has no field; name what the hook puts out"));
    }
    let places = named("states", plan.states.iter().map(|state| state.name.as_str()))?;
    let states = plan.states.iter().zip(&places).map(|(state, place)| self::state(state, place));
    let states = states.collect::<Result<Vec<_>, _>>()?;
    named("timers", plan.timers.iter().map(|timer| timer.name.as_str()))?;
    let timers = plan.timers.into_iter().map(timer).collect();
    Ok(ProcessPlan { reads, keys: plan.keys, watermarks: plan.watermarks, states, timers, output })
}

/// The place of each for messages, if there are not too many and their names are unique, not empty, and of bearable length.
fn named<'a>(list: &str, names: impl ExactSizeIterator<Item = &'a str>) -> Result<Vec<String>, Wrong> {
    if names.len() > PLAN_STATES {
        return Err(Wrong::new(list, format!("it has {} entries, at most {PLAN_STATES} are allowed", names.len())));
    }
    let mut seen = BTreeSet::new();
    let checked = |(index, name): (usize, &'a str)| {
        let place = format!("{list}[{index}] ({})", text::line(name, FIELD_NAME_BYTES));
        if name.is_empty() || name.len() > FIELD_NAME_BYTES {
            return Err(Wrong::new(place, format!("a name has 1 to {FIELD_NAME_BYTES} bytes")));
        }
        if seen.insert(name) { Ok(place) } else { Err(Wrong::new(place, "the name comes twice; names are unique")) }
    };
    names.enumerate().map(checked).collect()
}

fn state(state: &State, place: &str) -> Result<StateSpec, Wrong> {
    let fields = makes(&format!("{place}.fields"), &state.fields)?;
    let shape = match state.shape {
        Shape::Value => StateShape::Value,
        Shape::List => StateShape::List,
        Shape::Map(kind) => StateShape::Map(from_wire(kind)),
    };
    if fields.is_empty() && shape == StateShape::Value {
        return Err(Wrong::new(place, "it has no field; a value needs at least one"));
    }
    let ttl = match state.ttl.map(i64::try_from) {
        None => None,
        Some(Ok(ttl @ 1..=LONGEST_TTL)) => Some(Millis(ttl)),
        Some(_) => {
            let reason = format!("its ttl is not between 1 and {LONGEST_TTL} ms; leave it out to keep the state");
            return Err(Wrong::new(place, reason));
        }
    };
    Ok(StateSpec { name: state.name.clone(), shape, fields, ttl })
}

fn timer(timer: Timer) -> TimerSpec {
    let clock = match timer.clock {
        Clock::Event => TimerClock::Event,
        Clock::Processing => TimerClock::Processing,
    };
    TimerSpec { name: timer.name, clock }
}
