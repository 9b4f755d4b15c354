//! Property: columns of any values, nulls and lengths, sliced anywhere, come back from an identity map as they went in.
//! (proptest prints a failing case and keeps its seed beside this file.)

use proptest::prelude::*;
use tidegate_isolation::host::{load, options, sandbox, values};
use tidegate_isolation::mapper::identity;
use tidegate_types::hooks::{Call, HookRows};
use tidegate_types::{Column, ColumnBuilder, Field, Kind, Value};

fn value(kind: Kind) -> BoxedStrategy<Value> {
    match kind {
        Kind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Kind::Int => any::<i64>().prop_map(Value::Int).boxed(),
        Kind::Float => any::<f64>().prop_map(Value::Float).boxed(),
        Kind::Text => any::<String>().prop_map(|text| Value::Text(text.into())).boxed(),
        Kind::Bytes => any::<Vec<u8>>().prop_map(|bytes| Value::Bytes(bytes.into())).boxed(),
    }
}

fn column(kind: Kind, rows: usize) -> impl Strategy<Value = Column> {
    let value = prop_oneof![3 => value(kind), 1 => Just(Value::Null)];
    proptest::collection::vec(value, rows).prop_map(move |values| {
        let mut builder = ColumnBuilder::of_kind(kind);
        values.iter().for_each(|value| builder.push(value.as_ref()));
        builder.finish()
    })
}

const KINDS: [Kind; 5] = [Kind::Bool, Kind::Int, Kind::Float, Kind::Text, Kind::Bytes];

fn batch() -> impl Strategy<Value = Vec<Column>> {
    (1..60_usize).prop_flat_map(|rows| KINDS.map(|kind| column(kind, rows)).prop_map(Vec::from))
}

/// Rows `from..` of a column, as a view of the same memory.
fn slice(column: &Column, from: usize) -> Column {
    let len = column.len() - from;
    match column {
        Column::Bool(array) => Column::Bool(array.slice(from, len)),
        Column::Int(array) => Column::Int(array.slice(from, len)),
        Column::Float(array) => Column::Float(array.slice(from, len)),
        Column::Text(array) => Column::Text(array.slice(from, len)),
        Column::Bytes(array) => Column::Bytes(array.slice(from, len)),
        Column::Null(_) | Column::Dynamic(_) => panic!("a typed column was due"),
    }
}

#[test]
fn columns_come_back_as_they_went_in() {
    let fields: Vec<Field> = KINDS.iter().map(|kind| Field::typed(kind.name(), *kind, true)).collect();
    let component = load(&sandbox(), &identity());
    let hook = component.open_mapper("null", &fields, options()).expect("the hook opens");
    let hook = std::cell::RefCell::new(hook);
    proptest!(|(columns in batch(), cut in 0..60_usize)| {
        let from = cut % columns[0].len();
        let columns: Vec<Column> = columns.iter().map(|column| slice(column, from)).collect();
        let input = HookRows { len: columns[0].len(), times: vec![0; columns[0].len()], columns };
        let answer = hook.borrow_mut().process(Call::USUAL, &input).expect("the call succeeds");
        prop_assert_eq!(values(&answer.value.columns), values(&input.columns));
    });
}
