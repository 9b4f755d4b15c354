//! What is scattered is gathered again, and a reset slot holds the plan's initial accumulator.

use tidegate_types::hooks::Reads;

use super::*;

fn plan() -> AggregatePlan {
    let kinds = [Kind::Bool, Kind::Int, Kind::Float, Kind::Text, Kind::Bytes];
    AggregatePlan {
        reads: Reads::default(),
        keys: false,
        windows: false,
        accumulator: kinds.iter().map(|kind| Field::typed(kind.name(), *kind, true)).collect(),
        initial: row([ValueRef::Bool(true), ValueRef::Int(7), ValueRef::Null, ValueRef::Text("ab"), ValueRef::Null]),
        output: Vec::new(),
    }
}

fn row(values: [ValueRef<'_>; 5]) -> Vec<Column> {
    values.into_iter().map(|value| Column::of_values([value])).collect()
}

fn values(columns: &[Column], place: usize) -> Vec<Value> {
    columns.iter().map(|column| column.value(place).to_value()).collect()
}

#[test]
fn new_and_reset_slots_hold_the_initial_accumulator() {
    let plan = plan();
    let initial = values(&plan.initial, 0);
    let mut store = HookAccumulators::new(&plan);
    store.reserve(2);
    store.reserve(1);
    let fresh = store.state_bytes();
    assert_eq!(values(&store.gather(&[1]), 0), initial);

    let other = row([
        ValueRef::Null,
        ValueRef::Null,
        ValueRef::Float(0.5),
        ValueRef::Text("longer"),
        ValueRef::Bytes(&[1, 2, 3]),
    ]);
    store.scatter(&[1], &other);
    assert_eq!(values(&store.gather(&[1]), 0), values(&other, 0));
    assert_eq!(values(&store.gather(&[0]), 0), initial);
    assert_eq!(store.state_bytes(), fresh + 4 + 3);

    store.reset(1);
    assert_eq!(values(&store.gather(&[1]), 0), initial);
    assert_eq!(store.state_bytes(), fresh);
}

#[test]
fn columns_keep_their_declared_kinds_and_the_order_of_slots() {
    let mut store = HookAccumulators::new(&plan());
    store.reserve(3);
    store.scatter(
        &[2, 0],
        &[
            Column::of_values([ValueRef::Bool(false), ValueRef::Bool(true)]),
            Column::of_values([ValueRef::Int(2), ValueRef::Int(0)]),
            Column::Null(2),
            Column::of_values([ValueRef::Text("two"), ValueRef::Text("")]),
            Column::Null(2),
        ],
    );
    let gathered = store.gather(&[0, 1, 2, 0]);
    let kinds: Vec<Option<Kind>> = gathered.iter().map(Column::kind).collect();
    assert_eq!(kinds, [Kind::Bool, Kind::Int, Kind::Float, Kind::Text, Kind::Bytes].map(Some));
    let ints: Vec<Value> = (0..4).map(|place| gathered[1].value(place).to_value()).collect();
    assert_eq!(ints, [0, 7, 2, 0].map(Value::Int));
    let texts: Vec<Value> = (0..4).map(|place| gathered[3].value(place).to_value()).collect();
    assert_eq!(texts, ["", "ab", "two", ""].map(Value::from));
    assert!(store.gather(&[]).iter().all(Column::is_empty));
}
