//! The host's functions for state and timers, as a trait: what a column-wise hook calls, and what a test can stand in for.

use crate::bindings::processor::tidegate::job::{keyed_state, timers};
use crate::columns::{Column, Found, Lists, Maps};

/// State and timers of the keys of one call, column by column.
///
/// `state` and `timer` are places in the plan, `keys` are key numbers of the call; rows and columns given have one entry for each
/// entry of `keys`. A key may come several times: it is as if the function were called for each entry, one after the other. The
/// host ends a call that gives anything else, as it does after a malformed result.
pub trait KeyedState {
    /// The rows of a value.
    fn get(&self, state: u32, keys: &[u32]) -> Found;
    /// Sets the rows of a value.
    fn put(&self, state: u32, keys: &[u32], rows: &[Column]);
    /// Removes what the keys hold under a state of any shape.
    fn clear(&self, state: u32, keys: &[u32]);
    /// Adds rows at the end of lists.
    fn append(&self, state: u32, keys: &[u32], rows: &[Column]);
    /// All rows of lists.
    fn get_list(&self, state: u32, keys: &[u32]) -> Lists;
    /// The rows under map keys, one for each entry of `keys`.
    fn map_get(&self, state: u32, keys: &[u32], map_keys: &Column) -> Found;
    /// Sets the rows under map keys.
    fn map_put(&self, state: u32, keys: &[u32], map_keys: &Column, rows: &[Column]);
    /// Removes the rows under map keys.
    fn map_remove(&self, state: u32, keys: &[u32], map_keys: &Column);
    /// All rows of maps, ascending by map key.
    fn map_entries(&self, state: u32, keys: &[u32]) -> Maps;
    /// Sets timers; the time that was pending is replaced.
    fn set_timer(&self, timer: u32, keys: &[u32], times: &[i64]);
    /// Takes back what is pending.
    fn clear_timer(&self, timer: u32, keys: &[u32]);
}

/// The host that a component runs in.
#[derive(Clone, Copy, Debug)]
pub struct HostState;

impl KeyedState for HostState {
    fn get(&self, state: u32, keys: &[u32]) -> Found {
        keyed_state::get(state, keys)
    }

    fn put(&self, state: u32, keys: &[u32], rows: &[Column]) {
        keyed_state::put(state, keys, rows);
    }

    fn clear(&self, state: u32, keys: &[u32]) {
        keyed_state::clear(state, keys);
    }

    fn append(&self, state: u32, keys: &[u32], rows: &[Column]) {
        keyed_state::append(state, keys, rows);
    }

    fn get_list(&self, state: u32, keys: &[u32]) -> Lists {
        keyed_state::get_list(state, keys)
    }

    fn map_get(&self, state: u32, keys: &[u32], map_keys: &Column) -> Found {
        keyed_state::map_get(state, keys, map_keys)
    }

    fn map_put(&self, state: u32, keys: &[u32], map_keys: &Column, rows: &[Column]) {
        keyed_state::map_put(state, keys, map_keys, rows);
    }

    fn map_remove(&self, state: u32, keys: &[u32], map_keys: &Column) {
        keyed_state::map_remove(state, keys, map_keys);
    }

    fn map_entries(&self, state: u32, keys: &[u32]) -> Maps {
        keyed_state::map_entries(state, keys)
    }

    fn set_timer(&self, timer: u32, keys: &[u32], times: &[i64]) {
        timers::set(timer, keys, times);
    }

    fn clear_timer(&self, timer: u32, keys: &[u32]) {
        timers::clear(timer, keys);
    }
}
