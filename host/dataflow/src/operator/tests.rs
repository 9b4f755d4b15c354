//! When an operator's output is full.

use tidegate_types::{Column, PaneBatch, RowBatch, ValueRef};

use super::*;

fn rows(count: usize, column: Column) -> RowBatch {
    RowBatch { columns: vec![column], times: vec![0; count], ..RowBatch::default() }
}

#[test]
fn an_output_is_full_with_enough_records() {
    let mut out = OperatorOutput::default();
    out.push_rows(rows(RECORDS_BEFORE_PAUSE - 1, Column::Null(RECORDS_BEFORE_PAUSE - 1)));
    assert!(!out.is_full());
    out.push_rows(rows(1, Column::Null(1)));
    assert!(out.is_full());
}

#[test]
fn an_output_is_full_with_few_records_that_are_long() {
    let half = "x".repeat(BYTES_BEFORE_PAUSE / 2);
    for value in [ValueRef::Text(&half), ValueRef::Bytes(half.as_bytes()), ValueRef::Json(&half)] {
        let mut out = OperatorOutput::default();
        out.push_rows(rows(1, Column::of_values([value])));
        assert!(!out.is_full());
        out.push(PaneBatch { values: vec![Column::of_values([value])], ..PaneBatch::default() });
        assert!(out.is_full());
    }
}
