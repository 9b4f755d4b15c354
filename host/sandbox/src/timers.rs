//! The import `timers`: a guest's arguments checked and handed to the timers that its call was lent.

use tidegate_types::EventTime;
use tidegate_types::hooks::{StateMisuse, StateResult};
use wasmtime::Result;
use wasmtime::component::Linker;

use crate::instance::HostState;
use crate::lent::{Context, Lent, Load, with_lent, wrong_rows};

/// Adds the import to a linker.
pub(crate) fn link(linker: &mut Linker<HostState>) -> Result<()> {
    let mut instance = linker.instance("tidegate:job/timers@0.1.0")?;
    instance.func_wrap("set", set)?;
    instance.func_wrap("clear", clear)
}

fn set(mut store: Context<'_>, (timer, keys, times): (u32, Vec<u32>, Vec<EventTime>)) -> Result<()> {
    let load = Load { entries: keys.len(), bytes: size_of_val(&keys[..]) + size_of_val(&times[..]) };
    with_lent(&mut store, "timers.set", load, |lent| {
        let name = checked(lent, timer, &keys)?;
        if times.len() != keys.len() {
            return Err(wrong_rows(name, format!("{} times for {} keys", times.len(), keys.len())));
        }
        lent.access.set_timer(timer, &keys, &times)?;
        Ok(((), Load::default()))
    })
}

fn clear(mut store: Context<'_>, (timer, keys): (u32, Vec<u32>)) -> Result<()> {
    let load = Load { entries: keys.len(), bytes: size_of_val(&keys[..]) };
    with_lent(&mut store, "timers.clear", load, |lent| {
        checked(lent, timer, &keys)?;
        lent.access.clear_timer(timer, &keys)?;
        Ok(((), Load::default()))
    })
}

/// The name of the timer of this number, if the keys are the call's.
fn checked<'a>(lent: &'a Lent, timer: u32, keys: &[u32]) -> StateResult<&'a str> {
    let timers = &lent.plan.timers;
    let spec = usize::try_from(timer).ok().and_then(|place| timers.get(place));
    let spec = spec.ok_or(StateMisuse::NoSuchTimer { timer, count: timers.len() })?;
    lent.check_keys(keys)?;
    Ok(&spec.name)
}
