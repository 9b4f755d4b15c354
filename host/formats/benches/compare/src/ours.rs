//! Tidegate's own decoder, with its fields declared or dynamic.

use tidegate_formats::{DecodeSpec, Decoder};
use tidegate_types::{Column, Field, Kind};

use crate::columns::{Columns, INTS, TEXTS};
use crate::records::Batch;

pub fn decoder(declared: bool) -> impl FnMut(&Batch) -> Columns {
    let field = |name: &&str, kind| if declared { Field::typed(*name, kind, false) } else { Field::dynamic(*name) };
    let texts = TEXTS.iter().map(|name| field(name, Kind::Text));
    let fields = texts.chain(INTS.iter().map(|name| field(name, Kind::Int))).collect();
    let mut decoder = Decoder::json(DecodeSpec { fields, time: Some("event_time".into()), ..DecodeSpec::default() });
    move |batch| {
        let decoded = decoder.decode(&batch.data, &batch.spans);
        let text = |place: usize| match &decoded.columns[place] {
            Column::Text(array) => array.clone(),
            column => panic!("no text column: {:?}", column.kind()),
        };
        let int = |place: usize| match &decoded.columns[place] {
            Column::Int(array) => array.clone(),
            column => panic!("no integer column: {:?}", column.kind()),
        };
        Columns { texts: [text(0), text(1)], ints: [int(2), int(3), int(4)], times: decoded.row_times }
    }
}
