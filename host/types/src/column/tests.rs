//! Columns specialise and generalise without changing a value.

use super::*;

#[test]
fn a_column_of_one_kind_is_specialised_and_a_mixed_one_is_dynamic() {
    let ints = Column::of_values([ValueRef::Null, ValueRef::Int(1), ValueRef::Null]);
    assert_eq!(ints.kind(), Some(Kind::Int));
    let mixed = [ValueRef::Null, ValueRef::Int(1), ValueRef::Float(1.0), ValueRef::Text("1"), ValueRef::Json("[]")];
    let column = Column::of_values(mixed);
    assert_eq!(column.kind(), None);
    for (row, value) in mixed.iter().enumerate() {
        assert_eq!(column.value(row).to_value(), value.to_value());
    }
    let taken = column.take(&[4, 1]);
    assert_eq!(taken.value(0).to_value(), Value::Json("[]".into()));
    assert_eq!(taken.value(1).to_value(), Value::Int(1));
    assert_eq!(Column::of_values([ValueRef::Null; 3]).len(), 3);
}
