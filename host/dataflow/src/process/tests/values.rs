//! The store behind a call: what is written is what is read, value for value and in order, and calls end where they end.

use tidegate_types::hooks::{
    NoState, ProcessPlan, StateAccess, StateError, StateMisuse, StateShape, StateSpec, TimerClock, TimerSpec,
};
use tidegate_types::{Column, Field, Kind, Value, Watermark, key_hash};

use super::super::access::{KEY_LIMIT, Lent};
use super::super::store::{Reach, Store};
use super::bench::{Bench, Event, arrive, encoded, mark, numbered};
use super::hook::Scripted;
use super::script::{Op, Outcome, plan};

const ANY: usize = 1 << 30;

pub(super) fn column(values: &[Value]) -> Column {
    Column::of_values(values.iter().map(Value::as_ref))
}

fn values(column: &Column) -> Vec<Value> {
    (0..column.len()).map(|row| column.value(row).to_value()).collect()
}

fn text(text: &str) -> Value {
    text.into()
}

/// A store whose states have one field of each kind, all nullable.
fn store() -> Store {
    let kinds = [Kind::Bool, Kind::Int, Kind::Float, Kind::Text, Kind::Bytes];
    let fields: Vec<Field> = kinds.iter().map(|kind| Field::typed(kind.name(), *kind, true)).collect();
    let state = |name: &str, shape| StateSpec { name: name.into(), shape, fields: fields.clone(), ttl: None };
    let states = vec![
        state("value", StateShape::Value),
        state("list", StateShape::List),
        state("map", StateShape::Map(Kind::Float)),
    ];
    let timers = vec![TimerSpec { name: "t".into(), clock: TimerClock::Event }];
    Store::new(&ProcessPlan { states, timers, ..ProcessPlan::default() })
}

/// Two rows: all values, and all nulls but one.
fn rows() -> Vec<Column> {
    vec![
        column(&[Value::Bool(true), Value::Null]),
        column(&[Value::Int(i64::MIN), Value::Null]),
        column(&[Value::Float(-0.0), Value::Null]),
        column(&[text(""), text("a\0ü")]),
        column(&[Value::Bytes([0, 1, 255].into()), Value::Null]),
    ]
}

/// Makes a call on two keys.
pub(super) fn during<T>(store: &mut Store, call: impl FnOnce(&mut dyn StateAccess) -> T) -> T {
    let keys = ["a", "b"].map(|name| store.find_or_add(key_hash(&encoded(name)), &encoded(name)));
    store.begin_call(keys.to_vec(), Reach { watermark: Watermark::MIN, clock: 0 });
    Lent::default().during(store, |state| call(state.as_mut()))
}

#[test]
fn every_kind_of_value_is_read_as_it_was_written() {
    let mut store = store();
    let read = during(&mut store, |state| {
        state.put(0, &[0, 1], &rows())?;
        state.get(0, &[1, 0, 1], ANY)
    });
    let read = read.expect("small");
    assert_eq!(read.present, [true; 3]);
    for (field, written) in rows().iter().enumerate() {
        let [first, second] = &values(written)[..] else { panic!("two rows") };
        assert_eq!(values(&read.columns[field]), [second.clone(), first.clone(), second.clone()]);
    }
    let tidegate_types::ValueRef::Float(zero) = read.columns[2].value(1) else { panic!("a float") };
    assert!(zero.is_sign_negative(), "floats keep their bits");
}

#[test]
fn lists_keep_the_order_of_appending_and_maps_that_of_their_keys() {
    let mut store = store();
    let infinity = Value::Float(f64::INFINITY);
    let map_keys = [Value::Float(2.5), infinity.clone(), Value::Float(-1.0), Value::Float(f64::NAN), Value::Float(2.5)];
    let five: Vec<Column> = rows().iter().map(|column| column.take(&[0, 1, 0, 0, 1])).collect();
    let (lists, maps, gone) = during(&mut store, |state| {
        state.append(1, &[1, 0, 1], &rows().iter().map(|column| column.take(&[0, 1, 1])).collect::<Vec<_>>())?;
        state.map_put(2, &[0; 5], &column(&map_keys), &five)?;
        state.map_remove(2, &[0], &column(&[infinity]))?;
        let gone = state.map_get(2, &[0, 0], &column(&map_keys[1..3]), ANY)?.present;
        Ok::<_, StateError>((state.lists(1, &[1, 0], ANY)?, state.map_entries(2, &[1, 0, 1], ANY)?, gone))
    })
    .expect("small");
    assert_eq!(lists.offsets, [0, 2, 3]);
    assert_eq!(values(&lists.columns[3]), [text(""), text("a\0ü"), text("a\0ü")]);
    assert_eq!(maps.offsets, [0, 0, 3, 3]);
    assert_eq!(values(&maps.map_keys), [Value::Float(-1.0), Value::Float(2.5), Value::Float(f64::NAN)]);
    assert_eq!(values(&maps.columns[3]), [text(""), text("a\0ü"), text("")], "the later row under one map key");
    assert_eq!(gone, [false, true]);
}

#[test]
fn what_is_taken_back_is_as_before_and_weighs_as_before() {
    let mut store = store();
    let fill = |state: &mut dyn StateAccess| {
        state.put(0, &[0, 1], &rows())?;
        state.append(1, &[0, 1], &rows())?;
        state.map_put(2, &[0, 0], &column(&[Value::Float(1.0), Value::Float(2.0)]), &rows())?;
        state.set_timer(0, &[0], &[5])
    };
    during(&mut store, fill).expect("small");
    store.commit();
    let show = |store: &mut Store| {
        during(store, |state| {
            let (lists, maps) = (state.lists(1, &[0, 1], ANY)?, state.map_entries(2, &[0, 1], ANY)?);
            Ok::<_, StateError>(format!("{:?} {lists:?} {maps:?}", state.get(0, &[0, 1], ANY)?))
        })
        .expect("small")
    };
    let (shown, weight) = (show(&mut store), store.weight);
    during(&mut store, |state| {
        fill(state)?;
        (0..3).try_for_each(|of| state.clear(of, &[0]))?;
        state.map_put(2, &[1, 1], &column(&[Value::Float(3.0), Value::Float(3.0)]), &rows())?;
        state.map_remove(2, &[1], &column(&[Value::Float(3.0)]))?;
        state.set_timer(0, &[0, 1], &[7, 8])?;
        state.clear_timer(0, &[0])
    })
    .expect("small");
    store.roll_back();
    assert_eq!((show(&mut store), store.weight), (shown, weight));
    assert_eq!(store.pending.iter().flatten().collect::<Vec<_>>(), [&5]);
}

#[test]
fn between_calls_there_is_no_state() {
    let misuse = Err(StateError::Misuse(StateMisuse::NoCall));
    assert_eq!(Lent::default().clear(0, &[]), misuse);
    assert_eq!((Lent::default().keys(), NoState.keys()), (0, 0));
}

/// A hook that appends `v` MiB.
fn hoarder() -> Scripted {
    let mut hook = Scripted::new(plan([None; 3]));
    hook.row = Box::new(|state, key, _, v, _| {
        let long = "x".repeat(usize::try_from(v).expect("positive") << 20);
        state.append(1, &[key], &[column(&[Value::Int(1)]), column(&[text(&long)])])?;
        Ok(Some(Outcome::Emits(Vec::new())))
    });
    hook
}

#[test]
fn a_key_that_would_hold_too_much_condemns_the_record() {
    let mut bench = Bench::single(hoarder());
    let rows = [15, 1, 15].map(|v| arrive("a", Op::Sum, v, 0));
    bench.round(&numbered(rows.to_vec()));
    assert_eq!((bench.reasons(), bench.account.accepted), (vec!["malformed-result", "malformed-result"], 1));
    let bytes = crate::operator::Operator::state(&bench.operators[0]).bytes;
    assert!(bytes < KEY_LIMIT as u64, "{bytes}");
}

#[test]
fn a_call_that_writes_too_much_is_made_in_parts() {
    let hook = hoarder();
    let made = std::sync::Arc::clone(&hook.made);
    let mut bench = Bench::single(hook);
    let mut events: Vec<Event> = (0..9).map(|key| arrive(&format!("k{key}"), Op::Sum, 8, 0)).collect();
    events.push(mark(1));
    bench.round(&numbered(events));
    let made = made.lock().expect("free").iter().map(|made| made.rows).collect::<Vec<_>>();
    assert_eq!((bench.account.accepted, bench.account.rejected, &made[..2]), (9, 0, &[9, 5][..]));
}
