//! Through what the libraries offer beside serde: lazy values, a tape, and Arrow's own reader.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::{DataType, Field, Schema};
use simd_json::prelude::ValueAsScalar;
use sonic_rs::JsonValueTrait;

use crate::columns::{Builders, Columns, INTS, TEXTS};
use crate::records::Batch;

pub fn sonic_lazy(batch: &Batch) -> Columns {
    let mut builders = Builders::default();
    for record in batch.records() {
        for member in sonic_rs::to_object_iter(record) {
            let (key, value) = member.expect("a member");
            if key == "event_time" {
                builders.time(value.as_str().expect("a time"));
            } else if let Some(place) = TEXTS.iter().position(|name| *name == key) {
                builders.texts[place].append_value(value.as_str().expect("a text"));
            } else if let Some(place) = INTS.iter().position(|name| *name == key) {
                builders.ints[place].append_value(value.as_i64().expect("an integer"));
            }
        }
    }
    builders.finish()
}

/// Needs the record in memory of its own, because it unescapes in place.
pub fn simd_tape() -> impl FnMut(&Batch) -> Columns {
    let mut buffers = simd_json::Buffers::default();
    let mut copy = Vec::new();
    move |batch| {
        let mut builders = Builders::default();
        for record in batch.records() {
            copy.clear();
            copy.extend_from_slice(record);
            let tape = simd_json::to_tape_with_buffers(&mut copy, &mut buffers).expect("a record");
            let value = tape.as_value();
            for (key, value) in value.as_object().expect("an object").iter() {
                if key == "event_time" {
                    builders.time(value.as_str().expect("a time"));
                } else if let Some(place) = TEXTS.iter().position(|name| *name == key) {
                    builders.texts[place].append_value(value.as_str().expect("a text"));
                } else if let Some(place) = INTS.iter().position(|name| *name == key) {
                    builders.ints[place].append_value(value.as_i64().expect("an integer"));
                }
            }
        }
        builders.finish()
    }
}

/// Reads the batch as one stream; a malformed record would cost the batch.
pub fn arrow_json() -> impl FnMut(&Batch) -> Columns {
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let fields = std::iter::once(text("event_time"))
        .chain(TEXTS.iter().map(|name| text(name)))
        .chain(INTS.iter().map(|name| Field::new(*name, DataType::Int64, true)));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    move |batch| {
        let mut decoder = arrow_json::ReaderBuilder::new(Arc::clone(&schema))
            .with_batch_size(4_096)
            .build_decoder()
            .expect("a decoder");
        decoder.decode(&batch.data).expect("records");
        let rows = decoder.flush().expect("records").expect("rows");
        let times = rows.column(0).as_string::<i32>();
        Columns {
            times: times
                .iter()
                .map(|text| tidegate_formats::parse_rfc3339(text.expect("a time")).expect("a time"))
                .collect(),
            texts: [1, 2].map(|place| rows.column(place).as_string().clone()),
            ints: [3, 4, 5].map(|place| rows.column(place).as_primitive::<Int64Type>().clone()),
        }
    }
}
