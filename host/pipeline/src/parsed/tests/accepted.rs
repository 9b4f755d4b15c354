//! Sound files, and what each key means.

use tidegate_types::{Field, Kind, Millis, Value};

use super::{SPECIFICATION, accept, edited, edited_all, windowed};
use crate::{
    Accumulation, Aggregate, Checkpoint, CheckpointMode, ComponentRef, Condition, Dedup, Early, Form, Format, Function,
    Hook, Late, Operator, OperatorSpec, Pipeline, Sink, SinkSpec, Source, Stamp, Strategy, Trigger, Upstream,
    WatermarkSpec, Window, WindowKind, Windowed, operator_ids,
};

fn own(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn of_its_own_name(name: &str, function: Function) -> Aggregate {
    Aggregate::Builtin { name: name.into(), function, field: Some(name.into()), condition: None }
}

#[test]
fn accepts_the_specification_as_it_stands() {
    let parsed = accept(SPECIFICATION);
    let source = Source {
        name: "source".into(),
        log: "ad-events".into(),
        format: Format::Json,
        timestamp_field: Some("event_time".into()),
        schema: vec![],
        watermark: WatermarkSpec {
            strategy: Strategy::BoundedOutOfOrderness { max_delay: Millis(30_000) },
            idle_partition_timeout: Some(Millis(60_000)),
            max_drift: None,
        },
        map: None,
    };
    let windowed = Windowed {
        key_by: own(&["campaign_id", "country"]),
        dedup: Some(Dedup { field: "event_id".into(), horizon: Millis(600_000) }),
        window: Window {
            kind: WindowKind::Tumbling { size: Millis(60_000), offset: Millis(0) },
            allowed_lateness: Millis(600_000),
        },
        trigger: Trigger { early: Early::EveryProcessingTime(Millis(10_000)), late: Late::EveryElement },
        accumulation: Accumulation::Accumulating,
        aggregates: vec![
            of_its_own_name("impressions", Function::Count),
            of_its_own_name("clicks", Function::Count),
            of_its_own_name("spend_micros", Function::Sum),
        ],
        late_side_output: Some("ad-events-too-late".into()),
    };
    let key = own(&["campaign_id", "country", "window_start"]);
    let expected = Pipeline {
        job: "campaign-metrics".into(),
        version: 14,
        precedence: 0,
        form: Form::Short,
        sources: vec![source],
        operators: vec![Operator {
            name: "window".into(),
            place: 0,
            inputs: vec![Upstream::Source(0)],
            kind: OperatorSpec::Window(windowed),
        }],
        sinks: vec![SinkSpec {
            name: "sink".into(),
            input: 0,
            sink: Sink::UpsertStore { table: "campaign_minute".into(), key },
            stamp: Stamp::default(),
        }],
        dead_letter_output: None,
        checkpoint: Some(Checkpoint {
            interval: Millis(30_000),
            mode: CheckpointMode::Aligned,
            unaligned_after: Some(Millis(60_000)),
            tolerable_failures: None,
        }),
        parallelism: None,
        max_parallelism: 1024,
    };
    assert_eq!(parsed.pipeline, expected);
    assert_eq!(parsed.check_supported(), Ok(()));
    let paths: Vec<&str> = parsed.warnings.iter().map(|warning| warning.path.as_str()).collect();
    assert_eq!(paths, ["dedup.horizon", "checkpoint.unaligned_after"]);
}

#[test]
fn fills_in_every_default() {
    let pipeline = accept(super::BASE).pipeline;
    let window = windowed(super::BASE);
    assert_eq!(window.trigger, Trigger { early: Early::None, late: Late::EveryElement });
    assert_eq!(window.accumulation, Accumulation::Accumulating);
    assert_eq!(window.window.allowed_lateness, Millis(0));
    assert_eq!((pipeline.parallelism, pipeline.max_parallelism), (None, 1024));
    assert_eq!((&pipeline.sources[0].map, window.dedup, pipeline.checkpoint), (&None, None, None));
    assert_eq!((window.late_side_output, pipeline.dead_letter_output), (None, None));
    assert_eq!(pipeline.sources[0].format, Format::Json);
}

#[test]
fn reads_every_window() {
    let log =
        ("type: upsert_store\n  table: clicks_minute\n  key: [shop, country, window_start]", "type: log\n  log: out");
    let window = |window: &str| {
        let text = format!("window: {window}\ntrigger: {{early: every 3 elements}}\n");
        windowed(&edited_all(&[("window:\n  type: tumbling\n  size: 1m\n", &text), log])).window
    };
    let millis = Millis;
    let cases = [
        (
            "{type: tumbling, size: 2h, offset: 15m}",
            WindowKind::Tumbling { size: millis(7_200_000), offset: millis(900_000) },
        ),
        (
            "{type: sliding, size: 1d, slide: 1s}",
            WindowKind::Sliding { size: millis(86_400_000), slide: millis(1_000), offset: millis(0) },
        ),
        ("{type: session, gap: 30s}", WindowKind::Session { gap: millis(30_000), max_duration: None }),
        (
            "{type: session, gap: 30s, max_duration: 2h}",
            WindowKind::Session { gap: millis(30_000), max_duration: Some(millis(7_200_000)) },
        ),
        ("{type: global}", WindowKind::Global),
    ];
    for (text, kind) in cases {
        assert_eq!(window(text), Window { kind, allowed_lateness: millis(0) }, "{text}");
    }
    let hook = Hook {
        uid: "window".into(),
        component: ComponentRef { name: "trading-hours".into(), version: Some("1.0.0".into()) },
        config: serde_json::json!({}),
    };
    let custom = "{type: custom, component: trading-hours@1.0.0, allowed_lateness: 1m}";
    assert_eq!(window(custom), Window { kind: WindowKind::Custom { hook }, allowed_lateness: millis(60_000) });
}

#[test]
fn gives_global_windows_no_late_panes() {
    let global = edited("  type: tumbling\n  size: 1m\n", "  type: global\ntrigger: {early: every 3 elements}\n");
    assert_eq!(windowed(&global).trigger, Trigger { early: Early::EveryElements(3), late: Late::None });
}

#[test]
fn reads_every_trigger() {
    let trigger = |text: &str| windowed(&edited("version: 1", &format!("version: 1\ntrigger: {text}"))).trigger;
    let ten = Millis(10_000);
    assert_eq!(trigger("{}"), Trigger { early: Early::None, late: Late::EveryElement });
    assert_eq!(trigger("{early: none, late: none}"), Trigger { early: Early::None, late: Late::None });
    let every = Trigger { early: Early::EveryProcessingTime(ten), late: Late::EveryProcessingTime(ten) };
    assert_eq!(trigger("{early: every 10s processing_time, late: every  10s  processing_time}"), every);
    assert_eq!(trigger("{early: every 3 elements}").early, Early::EveryElements(3));
}

#[test]
fn reads_every_watermark_strategy() {
    let watermark = |text: &str| {
        let old = "  watermark:\n    strategy: bounded_out_of_orderness\n    max_delay: 30s\n";
        accept(&edited(old, &format!("  watermark: {text}\n"))).pipeline.sources[0].watermark.clone()
    };
    let plain = |strategy| WatermarkSpec { strategy, idle_partition_timeout: None, max_drift: None };
    let zero = Strategy::BoundedOutOfOrderness { max_delay: Millis(0) };
    assert_eq!(watermark("{strategy: bounded_out_of_orderness, max_delay: 0s}"), plain(zero));
    assert_eq!(watermark("{strategy: ascending}"), plain(Strategy::Ascending));
    assert_eq!(watermark("{strategy: none}"), plain(Strategy::None));
    let punctuated = Strategy::Punctuated { field: "mark".into() };
    assert_eq!(watermark("{strategy: punctuated, field: mark}"), plain(punctuated));
    let both = watermark("{strategy: ascending, idle_partition_timeout: 1s, max_drift: 5m}");
    assert_eq!((both.idle_partition_timeout, both.max_drift), (Some(Millis(1_000)), Some(Millis(300_000))));
}

#[test]
fn reads_declared_fields_in_order() {
    let schema = "  schema: {b: bool, a: int?, f: float, t: text?, raw: bytes, 'odd name': int}\n";
    let pipeline = accept(&edited("  log: events\n", &format!("  log: events\n{schema}"))).pipeline;
    let expected = [
        Field::typed("b", Kind::Bool, false),
        Field::typed("a", Kind::Int, true),
        Field::typed("f", Kind::Float, false),
        Field::typed("t", Kind::Text, true),
        Field::typed("raw", Kind::Bytes, false),
        Field::typed("odd name", Kind::Int, false),
    ];
    assert_eq!(pipeline.sources[0].schema, expected);
}

#[test]
fn reads_every_aggregate() {
    let aggregates = |text: &str| windowed(&edited("  rows: {fn: count}\n  price: sum\n", text)).aggregates;
    let builtin = |name: &str, function, field: Option<&str>| Aggregate::Builtin {
        name: name.into(),
        function,
        field: field.map(str::to_owned),
        condition: None,
    };
    let bare = [
        ("count", Function::Count),
        ("sum", Function::Sum),
        ("min", Function::Min),
        ("max", Function::Max),
        ("avg", Function::Avg),
        ("first", Function::First),
        ("last", Function::Last),
        ("count_distinct", Function::CountDistinct),
        ("approx_count_distinct", Function::ApproxCountDistinct),
    ];
    for (word, function) in bare {
        assert_eq!(aggregates(&format!("  x: {word}\n")), [builtin("x", function, Some("x"))]);
        let own = if function == Function::Count { None } else { Some("x") };
        assert_eq!(aggregates(&format!("  x: {{fn: {word}}}\n")), [builtin("x", function, own)]);
        assert_eq!(aggregates(&format!("  x: {{fn: {word}, field: y}}\n")), [builtin("x", function, Some("y"))]);
    }
    assert_eq!(aggregates("  x: {fn: top_k, k: 3}\n"), [builtin("x", Function::TopK { k: 3 }, Some("x"))]);
    let hook = Aggregate::Hook {
        name: "sketch".into(),
        hook: Hook {
            uid: "aggregate.sketch".into(),
            component: ComponentRef { name: "ad-sketch".into(), version: None },
            config: serde_json::json!({"depth": 4, "seed": 18_446_744_073_709_551_615_u64, "x": [1.5, null, "a"]}),
        },
    };
    let text = "  sketch: {component: ad-sketch, config: {depth: 4, seed: 18446744073709551615, x: [1.5, null, a]}}\n";
    assert_eq!(aggregates(text), [hook]);
}

#[test]
fn keeps_the_type_of_what_a_condition_equals() {
    let equals = |text: &str| {
        let aggregate = format!("{{fn: count, where: {{field: kind, equals: {text}}}}}");
        match &windowed(&edited("{fn: count}", &aggregate)).aggregates[0] {
            Aggregate::Builtin { condition: Some(Condition { field, equals }), .. } => {
                assert_eq!(field, "kind");
                equals.clone()
            }
            other => panic!("{other:?}"),
        }
    };
    let text = |text: &str| Value::Text(text.into());
    let cases = [
        ("click", text("click")),
        ("\"1\"", text("1")),
        ("'true'", text("true")),
        ("no", text("no")),
        ("1", Value::Int(1)),
        ("-7", Value::Int(-7)),
        ("1.0", Value::Float(1.0)),
        ("1e3", Value::Float(1000.0)),
        ("9223372036854775807", Value::Int(i64::MAX)),
        ("9223372036854775808", Value::Float(9_223_372_036_854_775_808.0)),
        ("true", Value::Bool(true)),
        ("2026-10-22", text("2026-10-22")),
        ("1.2.3", text("1.2.3")),
        ("inf", text("inf")),
        (
            "{b: 1, a: [1.0, x, null], c: {z: true, y: 2}}",
            Value::Json(r#"{"a":[1.0,"x",null],"b":1,"c":{"y":2,"z":true}}"#.into()),
        ),
        ("[-0.0, 18446744073709551615, 1e20]", Value::Json("[0.0,1.8446744073709552e+19,1e+20]".into())),
        ("[]", Value::Json("[]".into())),
    ];
    for (written, expected) in cases {
        assert_eq!(equals(written), expected, "{written}");
    }
}

#[test]
fn reads_every_sink() {
    let sink = |text: &str| {
        let old = "sink:\n  type: upsert_store\n  table: clicks_minute\n  key: [shop, country, window_start]\n";
        accept(&edited(old, &format!("sink: {text}\n"))).pipeline.sinks[0].sink.clone()
    };
    assert_eq!(sink("{type: log, log: out}"), Sink::Log { log: "out".into() });
    assert_eq!(
        sink("{type: transactional_log, log: out}"),
        Sink::TransactionalLog { log: "out".into(), transaction_timeout: Millis(900_000) }
    );
    assert_eq!(sink("{type: outbox}"), Sink::Outbox { table: None });
    assert_eq!(sink("{type: parquet, table: t}"), Sink::Parquet { table: Some("t".into()) });
}

#[test]
fn takes_an_empty_key_as_one_key() {
    let text =
        edited_all(&[("key_by: [shop, country]", "key_by: []"), ("[shop, country, window_start]", "[window_start]")]);
    let parsed = accept(&text);
    assert_eq!(parsed.pipeline.operators[0].key_by(), Vec::<String>::new());
    assert_eq!(parsed.warnings, []);
}

#[test]
fn gives_operators_ids_that_do_not_depend_on_others() {
    let ids = |text: &str| -> Vec<String> {
        operator_ids(&accept(text).pipeline).into_iter().map(|operator| operator.id).collect()
    };
    assert_eq!(ids(super::BASE), ["window", "aggregate.rows", "aggregate.price"]);
    let more = edited_all(&[
        ("key_by:", "map: {component: decode@1.0.0}\ndedup: {field: id, horizon: 1h}\nkey_by:"),
        (
            "  rows: {fn: count}\n",
            "  sketch: {component: sketch@1.0.0}\n  named: {component: sketch@1.0.0, uid: mine}\n",
        ),
    ]);
    assert_eq!(ids(&more), ["map", "dedup", "window", "aggregate.sketch", "mine", "aggregate.price"]);
    let custom = edited("  type: tumbling\n  size: 1m\n", "  type: custom\n  component: hours@1.0.0\n  uid: hours\n");
    assert_eq!(ids(&custom), ["hours", "aggregate.rows", "aggregate.price"]);
}

#[test]
fn checks_the_output_fields_of_hooks_once_they_are_known() {
    let text =
        edited_all(&[("  price: sum", "  sketch: {component: a@1.0.0}"), ("window_start]", "window_start, bucket]")]);
    let parsed = accept(&text);
    let check = |fields: &[&str]| {
        let known = [("sketch".to_owned(), own(fields))].into();
        crate::check_outputs(&parsed.pipeline, 0, &known).map_err(|error| parsed.locate(error).to_string())
    };
    assert_eq!(check(&["p50", "bucket"]), Ok(()));
    let error = check(&["rows", "bucket"]).expect_err("two fields of one name");
    assert!(
        error.contains("aggregate.sketch (line 15)") && error.contains("`rows` belongs to another aggregate"),
        "{error}"
    );
    let error = check(&["pane", "bucket"]).expect_err("a name of the platform");
    assert!(error.contains("belongs to the platform"), "{error}");
    let error = check(&["p50"]).expect_err("a key that no pane has");
    assert!(error.contains("sink.key[3] (line 19)") && error.contains("no field `bucket`"), "{error}");
}
