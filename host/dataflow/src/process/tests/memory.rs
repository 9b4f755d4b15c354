//! What is metered is what lies in memory, a key is bounded by the same count, and without keys no memory is held.

use tidegate_types::hooks::{ProcessPlan, StateError, StateMisuse, StateShape, StateSpec};
use tidegate_types::{EventTime, Kind, Value};

use super::super::access::KEY_LIMIT;
use super::super::cell::{Cell, List};
use super::super::keys::Head;
use super::super::store::Store;
use super::bench::{Bench, Event, arrive, mark};
use super::hook::Scripted;
use super::script::{Op, plan};
use super::values::{column, during};
use crate::operator::Operator;
use crate::report::StateSize;

/// A store of one state whose rows have no fields.
fn fieldless(shape: StateShape) -> Store {
    let states = vec![StateSpec { name: "s".into(), shape, fields: Vec::new(), ttl: None }];
    Store::new(&ProcessPlan { states, ..ProcessPlan::default() })
}

fn too_large() -> Result<(), StateError> {
    Err(StateMisuse::KeyTooLarge { state: "s".into(), limit: KEY_LIMIT }.into())
}

#[test]
fn small_entries_of_a_map_count_what_they_take_in_memory() {
    let mut store = fieldless(StateShape::Map(Kind::Int));
    let mut put = |from: i64, to: i64| {
        let map_keys: Vec<Value> = (from..to).map(Value::Int).collect();
        let keys = vec![0; map_keys.len()];
        during(&mut store, |state| state.map_put(0, &keys, &column(&map_keys), &[]))
    };
    assert_eq!(put(0, 100_000), Ok(()));
    assert_eq!(put(100_000, 200_000), too_large());
    store.roll_back();
    let each = store.weight.bytes / 100_000;
    assert!(each >= 2 * size_of::<Box<[u8]>>() + 8, "{each} bytes for each entry");
}

#[test]
fn rows_without_bytes_count_and_are_bounded() {
    let mut store = fieldless(StateShape::List);
    during(&mut store, |state| state.append(0, &[0; 1_000], &[])).expect("few");
    store.commit();
    assert!(store.weight.rows == 1_000 && store.weight.bytes >= 1_000, "{:?}", store.weight);
    let rows = u32::try_from(KEY_LIMIT).expect("a few millions");
    store.cells[0] = Cell::List(Box::new(List { data: Vec::new(), rows }));
    assert_eq!(during(&mut store, |state| state.append(0, &[0], &[])), too_large());
}

#[test]
fn keys_slots_and_timers_count_what_they_take_in_memory() {
    let mut bench = Bench::single(Scripted::new(plan([None; 3])));
    let sums: Vec<Event> = (0..1_000).map(|at| arrive(&format!("k{at}"), Op::Sum, 1, 0)).collect();
    bench.round(&sums);
    let sums = bench.operators[0].state().bytes;
    let least = 1_000 * (size_of::<Head>() + 3 * (size_of::<Cell>() + size_of::<Option<EventTime>>()));
    assert!(sums >= least as u64, "{sums} of {least}");
    let timers: Vec<Event> = (0..1_000).map(|at| arrive(&format!("k{at}"), Op::Remind, 9, 0)).collect();
    bench.round(&timers);
    let timers = bench.operators[0].state().bytes - sums;
    assert!(timers >= 16 * 1_000, "{timers} bytes of 1,000 timers");
}

#[test]
fn when_no_key_is_left_the_memory_is_given_back() {
    let mut bench = Bench::single(Scripted::new(plan([Some(10); 3])));
    let rows: Vec<Event> = (0..5_000).map(|at| arrive(&format!("k{at}"), Op::Sum, 1, 0)).collect();
    bench.round(&rows);
    bench.round(&[mark(10)]);
    let store = &bench.operators[0].store;
    assert_eq!((store.keys.capacity(), store.cells.capacity(), store.pending.capacity()), (0, 0, 0));
    assert_eq!(bench.operators[0].state(), StateSize::default());
    bench.lines.clear();
    bench.round(&[arrive("a", Op::Sum, 3, 20), arrive("a", Op::Sum, 4, 20)]);
    assert_eq!(bench.lines[1].text, "row Some(7) [] []");
    assert_eq!(bench.operators[0].state().keys, 1);
}
