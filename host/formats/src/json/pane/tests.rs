//! Panes as lines: every field, retractions, stamps, and that any line is one JSON object.

use proptest::collection::vec;
use proptest::prelude::*;
use tidegate_types::{Column, Field, NO_CLOCK, Stamp, Timing, Value, Watermark};

use super::*;
use crate::json::arbitrary;
use crate::json::decode::{DecodeSpec, JsonDecoder};

const MINUTE: i64 = 60_000;
const START: i64 = 1_792_662_060_000;

fn info() -> PaneInfo {
    PaneInfo {
        window: Some((START, START + MINUTE)),
        timing: Timing::Late,
        index: 3,
        is_last: false,
        watermark: Watermark::at(START + 91_000),
        op: PaneOp::Insert,
        fired_at: START + 92_001,
    }
}

fn one(value: Value) -> Column {
    Column::of_values([value.as_ref()])
}

fn campaign() -> (PaneFields, PaneBatch) {
    let fields = PaneFields {
        keys: vec!["campaign_id".into(), "country".into()],
        values: vec!["impressions".into(), "clicks".into(), "spend_micros".into()],
    };
    let panes = PaneBatch {
        keys: vec![one("c-7781".into()), one("VN".into())],
        values: vec![one(18_240.into()), one(311.into()), one(9_120_000.into())],
        infos: vec![info()],
        order: None,
    };
    (fields, panes)
}

fn encoded(fields: &PaneFields, panes: &PaneBatch) -> String {
    let mut out = Vec::new();
    PaneEncoder::new(fields).encode(panes, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn writes_the_pane_of_the_page_on_meaning() {
    let (fields, panes) = campaign();
    let expected = concat!(
        r#"{"campaign_id":"c-7781","country":"VN","window_start":"2026-10-22T09:41:00Z","window_end":"2026-10-22T09:42:00Z","#,
        r#""impressions":18240,"clicks":311,"spend_micros":9120000,"#,
        r#""pane":{"timing":"LATE","index":3,"is_last":false},"watermark":"2026-10-22T09:42:31Z"}"#,
        "\n"
    );
    assert_eq!(encoded(&fields, &panes), expected);
}

#[test]
fn a_retraction_is_its_record_and_says_so() {
    let (fields, mut panes) = campaign();
    let stated = encoded(&fields, &panes);
    panes.infos[0].op = PaneOp::Retract;
    let expected = stated.replace("}\n", ",\"op\":\"retract\"}\n");
    assert_eq!(encoded(&fields, &panes), expected);
}

#[test]
fn stamps_stand_behind_the_watermark_and_before_the_operation() {
    let (fields, mut panes) = campaign();
    panes.infos[0].op = PaneOp::Retract;
    let with = |stamp: Stamp, panes: &PaneBatch| {
        let stamping = Stamping { stamp, precedence: -5, restore_epoch: 12 };
        let mut out = Vec::new();
        PaneEncoder::new(&fields).stamped(stamping).encode(panes, &mut out);
        String::from_utf8(out).unwrap()
    };
    let all = Stamp { version: true, completeness: true, generated_at: true };
    let line = with(all, &panes);
    let end = concat!(
        r#""watermark":"2026-10-22T09:42:31Z","version":{"precedence":-5,"restore_epoch":12,"pane_index":3},"#,
        r#""completeness":"corrected","generated_at":"2026-10-22T09:42:32.001Z","op":"retract"}"#,
        "\n"
    );
    assert!(line.ends_with(end), "{line}");
    assert_eq!(with(Stamp::default(), &panes), encoded(&fields, &panes), "no stamp, no member");
    let of = |timing, fired_at| {
        let mut panes = panes.clone();
        panes.infos[0] = PaneInfo { timing, fired_at, op: PaneOp::Insert, ..panes.infos[0] };
        let line = with(Stamp { version: false, ..all }, &panes);
        line.split_once("09:42:31Z\",").expect("a watermark").1.to_owned()
    };
    assert_eq!(of(Timing::Early, 0), "\"completeness\":\"provisional\",\"generated_at\":\"1970-01-01T00:00:00Z\"}\n");
    assert_eq!(of(Timing::OnTime, NO_CLOCK), "\"completeness\":\"on_time\",\"generated_at\":null}\n");
}

#[test]
fn a_pane_as_a_record_is_its_line_without_the_end() {
    let (fields, mut panes) = campaign();
    let encoder = PaneEncoder::new(&fields);
    for op in [PaneOp::Insert, PaneOp::Retract] {
        panes.infos[0].op = op;
        assert_eq!(encoder.record(&panes, 0), encoded(&fields, &panes).trim_end().as_bytes());
    }
}

#[test]
fn global_windows_and_infinite_watermarks_are_null() {
    let mut info = info();
    info.window = None;
    info.timing = Timing::OnTime;
    info.is_last = true;
    info.watermark = Watermark::MAX;
    let panes = PaneBatch { infos: vec![info], ..PaneBatch::default() };
    let expected = concat!(
        r#"{"window_start":null,"window_end":null,"pane":{"timing":"ON_TIME","index":3,"is_last":true},"watermark":null}"#,
        "\n"
    );
    assert_eq!(encoded(&PaneFields::default(), &panes), expected);
}

proptest! {
    #[test]
    fn decoding_what_was_encoded_gives_the_values(
        rows in vec((arbitrary::json(), arbitrary::json()), 0..6), name in "\\PC{0,6}", index: u64,
    ) {
        let (left, right): (Vec<Value>, Vec<Value>) = rows.iter().map(|(a, b)| (a.value(), b.value())).unzip();
        let fields = PaneFields { keys: vec![format!("k{name}")], values: vec![format!("v{name}")] };
        let panes = PaneBatch {
            keys: vec![Column::of_values(left.iter().map(Value::as_ref))],
            values: vec![Column::of_values(right.iter().map(Value::as_ref))],
            infos: vec![PaneInfo { index, ..info() }; rows.len()],
            order: None,
        };
        let text = encoded(&fields, &panes);
        let mut spans = Vec::new();
        let mut start = 0;
        for line in text.lines() {
            let end = start + u32::try_from(line.len()).unwrap();
            spans.push((start, end));
            start = end + 1;
        }
        let wanted = vec![Field::dynamic(fields.keys[0].clone()), Field::dynamic(fields.values[0].clone())];
        let spec = DecodeSpec { fields: wanted, time: Some("window_end".into()), ..DecodeSpec::default() };
        let decoded = JsonDecoder::new(spec).decode(text.as_bytes(), &spans);
        prop_assert_eq!(decoded.row_times, vec![START + MINUTE; rows.len()]);
        for (column, meant) in decoded.columns.iter().zip([left, right]) {
            let values: Vec<Value> = (0..column.len()).map(|row| column.value(row).to_value()).collect();
            prop_assert_eq!(values, meant);
        }
    }
}
