use proptest::collection::vec;
use proptest::prelude::*;
use tidegate_types::{Column, Field, Timing, Value};

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
