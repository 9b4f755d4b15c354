//! Ad events as columns: the fields that the specification's example pipeline counts, and an identity to fill a row up with.

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, BooleanArray, Float64Array, Int64Array, StringArray};
use tidegate_guest_campaign::{Campaign, Event, Rated};
use tidegate_sdk::Mapper;
use tidegate_types::hooks::HookRows;
use tidegate_types::{Column, Field, Kind};

/// The fields of an event.
#[must_use]
pub fn fields() -> Vec<Field> {
    let text = ["campaign_id", "country", "event_id"].map(|name| Field::typed(name, Kind::Text, false));
    let int = ["impressions", "clicks", "spend_micros"].map(|name| Field::typed(name, Kind::Int, false));
    text.into_iter().chain(int).collect()
}

/// Events whose values measure `row_bytes` each, of which `event_id` is what the others leave.
///
/// # Panics
/// If a row has no room for them (34 bytes).
#[must_use]
pub fn events(rows: usize, row_bytes: usize) -> HookRows {
    let padding = row_bytes.checked_sub(8 + 2 + 24).expect("a row has room for its other fields");
    let text = |value: &dyn Fn(usize) -> String| Column::Text((0..rows).map(|row| Some(value(row))).collect());
    let int = |value: &dyn Fn(i64) -> i64| {
        let numbers = (0..).take(rows).map(value);
        Column::Int(Int64Array::from_iter_values(numbers))
    };
    HookRows {
        len: rows,
        times: Vec::new(),
        columns: vec![
            text(&|row| format!("c-{:06}", row % 1_000)),
            text(&|row| ["VN", "DE", "US", "BR"][row % 4].to_owned()),
            text(&|row| format!("{row:0padding$}")),
            int(&|row| 10 + row % 7),
            int(&|row| row % 5),
            int(&|row| row * 1_000),
        ],
    }
}

/// The map that the guest `campaign` makes, over the same columns, in the host's own process.
///
/// # Panics
/// If the columns are not those of [`events`].
#[must_use]
pub fn campaign_natively(rows: &HookRows) -> Vec<Column> {
    let text = |place: usize| -> &StringArray {
        let Column::Text(array) = &rows.columns[place] else { panic!("a text column was due") };
        array
    };
    let int = |place: usize| -> &[i64] {
        let Column::Int(array) = &rows.columns[place] else { panic!("an int column was due") };
        array.values()
    };
    let (campaigns, countries, events) = (text(0), text(1), text(2));
    let (shown, clicked, spent) = (int(3), int(4), int(5));
    let mut texts =
        [campaigns, countries, events].map(|array| StringBuilder::with_capacity(rows.len, array.value_data().len()));
    let mut ints = [(); 3].map(|()| Vec::with_capacity(rows.len));
    let mut rates = Vec::with_capacity(rows.len);
    let mut paid = Vec::with_capacity(rows.len);
    for row in 0..rows.len {
        let event = Event {
            campaign_id: campaigns.value(row),
            country: countries.value(row),
            event_id: events.value(row),
            impressions: shown[row],
            clicks: clicked[row],
            spend_micros: spent[row],
        };
        let rated: Rated<'_> = Campaign.map(event).expect("the events are possible");
        texts[0].append_value(rated.campaign_id);
        texts[1].append_value(rated.country);
        texts[2].append_value(rated.event_id);
        ints[0].push(rated.impressions);
        ints[1].push(rated.clicks);
        ints[2].push(rated.spend_micros);
        rates.push(rated.click_rate);
        paid.push(rated.paid);
    }
    let mut columns: Vec<Column> = texts.into_iter().map(|mut builder| Column::Text(builder.finish())).collect();
    columns.extend(ints.map(|values| Column::Int(Int64Array::from(values))));
    columns.push(Column::Float(Float64Array::from(rates)));
    columns.push(Column::Bool(BooleanArray::from(paid)));
    columns
}

/// What an identity map costs where nothing is in the way: a copy of each column's values.
#[must_use]
pub fn identity_natively(rows: &HookRows) -> Vec<Column> {
    let copy = |column: &Column| match column {
        Column::Text(array) => {
            let (offsets, values) = (array.value_offsets().to_vec(), array.value_data().to_vec());
            let array = StringArray::new(
                arrow_buffer::OffsetBuffer::new(offsets.into()),
                arrow_buffer::Buffer::from_vec(values),
                array.nulls().cloned(),
            );
            Column::Text(array)
        }
        Column::Int(array) => Column::Int(Int64Array::from(array.values().to_vec())),
        other => other.clone(),
    };
    rows.columns.iter().map(copy).collect()
}
