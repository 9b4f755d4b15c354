//! Paper calculations of each function, and properties against a naive implementation.

use std::sync::Arc;

use tidegate_pipeline::Condition;
use tidegate_types::{EventTime, Kind, Origin, Progress, Value};

use super::*;

mod approximate;
mod naive;
mod often;
mod overflow;
mod paper;
mod properties;
mod stored;
mod undo;

/// A record: its event time and a value per field of the schema.
#[derive(Debug, Clone)]
struct Record {
    time: EventTime,
    values: Vec<Value>,
}

/// A batch of dynamic fields, specialised where the values allow. `sequence`: the first record's arrival number.
fn batch(fields: &[&str], sequence: u64, records: &[Record]) -> Batch {
    let rows = 0..u32::try_from(records.len()).unwrap();
    Batch {
        schema: Arc::new(Schema::new(fields.iter().map(|name| Field::dynamic(*name)).collect())),
        columns: (0..fields.len())
            .map(|field| Column::of_values(records.iter().map(|record| record.values[field].as_ref())))
            .collect(),
        times: records.iter().map(|record| record.time).collect(),
        rows: rows.clone().collect(),
        positions: rows.collect(),
        arrivals: tidegate_types::Arrivals::From(sequence),
        retractions: None,
        keys: None,
        origin: Arc::new(Origin::default()),
        progress: Arc::new(Progress::default()),
    }
}

fn function(name: &str, function: Function, field: Option<&str>) -> Aggregate {
    Aggregate::Builtin { name: name.into(), function, field: field.map(Into::into), condition: None }
}

fn function_where(name: &str, function: Function, field: Option<&str>, of: &str, equals: Value) -> Aggregate {
    let condition = Some(Condition { field: of.into(), equals });
    Aggregate::Builtin { name: name.into(), function, field: field.map(Into::into), condition }
}

/// All records of one batch in one slot: what each function shows.
fn shown(aggregates: &[Aggregate], fields: &[&str], records: &[Record]) -> Vec<Value> {
    let batch = batch(fields, 0, records);
    let mut builtins = Builtins::new(aggregates, &batch.schema);
    builtins.reserve(1);
    let prepared = builtins.prepare(&batch);
    let rows: Vec<u32> = (0..u32::try_from(records.len()).unwrap()).collect();
    assert_eq!(rows.iter().find_map(|row| prepared.mismatch(*row)), None);
    builtins.add(&prepared, &batch, &Additions { rows: &rows, slots: &vec![0; rows.len()] });
    row(&builtins.finish(&[0]), 0)
}

/// One function over values of one field, at ascending times.
fn over(wanted: Function, values: Vec<Value>) -> Value {
    let records: Vec<Record> =
        values.into_iter().zip(0..).map(|(value, time)| Record { time, values: vec![value] }).collect();
    shown(&[function("out", wanted, Some("v"))], &["v"], &records).remove(0)
}

fn row(columns: &[Column], place: usize) -> Vec<Value> {
    columns.iter().map(|column| column.value(place).to_value()).collect()
}

fn json(text: &str) -> Value {
    Value::Json(text.into())
}
