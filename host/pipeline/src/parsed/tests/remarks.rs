//! Files that are accepted with a remark.

use super::{accept, edited, edited_all, graph, graph_all};

fn remarks(text: &str) -> Vec<String> {
    accept(text).warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn says_nothing_about_a_plain_file() {
    assert_eq!(remarks(super::BASE), Vec::<String>::new());
}

#[test]
fn remarks_that_an_identity_can_be_forgotten_before_its_window() {
    let dedup = |window: &str, horizon: &str| {
        let window = format!("{window}  allowed_lateness: 10m\ndedup: {{field: id, horizon: {horizon}}}\n");
        edited_all(&[
            ("  type: tumbling\n  size: 1m\n", &window),
            (
                "type: upsert_store\n  table: clicks_minute\n  key: [shop, country, window_start]",
                "type: log\n  log: out",
            ),
        ])
    };
    for window in
        ["  type: tumbling\n  size: 1m\n", "  type: sliding\n  size: 1m\n  slide: 1s\n", "  type: session\n  gap: 1m\n"]
    {
        let found = remarks(&dedup(window, "659s"));
        assert!(found.len() == 1 && found[0].starts_with("dedup.horizon (line "), "{found:?}");
        assert!(found[0].contains("11m excludes that"), "{found:?}");
        assert_eq!(remarks(&dedup(window, "11m")), Vec::<String>::new());
    }
    let global = "  type: global\ntrigger: {early: every 3 elements}\ndedup: {field: id, horizon: 1s}\n";
    assert_eq!(remarks(&edited("  type: tumbling\n  size: 1m\n", global)), Vec::<String>::new());
}

#[test]
fn remarks_on_rows_that_overwrite_each_other() {
    let key = |key: &str| remarks(&edited("[shop, country, window_start]", key));
    assert!(key("[shop, country]")[0].contains("without `window_start`"));
    assert!(key("[shop, country, window_start, rows]")[0].contains("`rows` is an aggregate"));
    assert_eq!(key("[country, shop, window_end]"), Vec::<String>::new());
}

#[test]
fn remarks_on_a_condition_that_never_holds() {
    let equals = |kind: &str, equals: &str| {
        let schema = format!("  log: events\n  schema: {{kind: {kind}}}\n");
        let aggregate = format!("{{fn: count, where: {{field: kind, equals: {equals}}}}}");
        remarks(&edited_all(&[("  log: events\n", &schema), ("{fn: count}", &aggregate)]))
    };
    let found = equals("int", "click");
    assert!(found[0].starts_with("aggregate.rows.where.equals (line 15): this is text"), "{found:?}");
    for (kind, value) in
        [("float", "1"), ("int", "1.0"), ("int", "'1'"), ("text", "1"), ("text", "[a]"), ("bytes", "a")]
    {
        let found = equals(kind, value);
        assert_eq!(found.iter().filter(|remark| remark.contains("where.equals")).count(), 1, "{kind} {value}");
    }
    for (kind, value) in [("float", "1.0"), ("int?", "1"), ("text", "click"), ("bool", "true")] {
        assert_eq!(equals(kind, value), Vec::<String>::new(), "{kind} {value}");
    }
}

#[test]
fn remarks_on_aggregates_over_kinds_they_never_take() {
    let declared = |kind: &str, function: &str| {
        let schema = format!("  log: events\n  schema: {{price: {kind}}}\n");
        edited_all(&[("  log: events\n", &schema), ("price: sum", &format!("price: {function}"))])
    };
    let wrong = [("text", "sum"), ("bool?", "avg"), ("bytes", "min"), ("bool", "{fn: top_k, k: 3}")]
        .map(|(k, f)| declared(k, f));
    for text in &wrong {
        let remarks = remarks(text);
        assert_eq!(remarks.iter().filter(|remark| remark.contains("aggregate.price")).count(), 1, "{remarks:?}");
    }
    for sound in [("int", "sum"), ("float?", "avg"), ("text", "max"), ("text?", "count_distinct"), ("bool", "first")] {
        assert!(remarks(&declared(sound.0, sound.1)).is_empty(), "{sound:?}");
    }
    assert!(remarks(&wrong[0].replace("key_by:", "map: {component: decode@1.0.0}\nkey_by:")).is_empty());
}

#[test]
fn remarks_that_sliding_windows_do_not_share_panes() {
    let sliding = "  type: sliding\n  size: 10m\n  slide: 1s\n";
    let window = |rest: &str| edited("  type: tumbling\n  size: 1m\n", &format!("{sliding}{rest}"));
    assert_eq!(remarks(&window("")), Vec::<String>::new());
    assert_eq!(remarks(&window("trigger: {late: none}\n")), Vec::<String>::new());
    for apart in ["trigger: {early: every 3 elements}\n", "trigger: {late: every 10s processing_time}\n"] {
        let found = remarks(&window(apart));
        assert!(found.len() == 1 && found[0].contains("window.slide") && found[0].contains("600 windows"), "{found:?}");
    }
}

#[test]
fn remarks_that_json_has_no_bytes() {
    let schema = |format: &str, kind: &str| {
        let source = format!("  log: events\n  format: {format}\n  schema: {{picture: {kind}}}\n");
        remarks(&edited("  log: events\n", &source))
    };
    for kind in ["bytes", "bytes?"] {
        let found = schema("json", kind);
        assert!(found.len() == 1 && found[0].starts_with("source.schema.picture (line 6): JSON has no"), "{found:?}");
    }
    assert_eq!(schema("json", "text"), Vec::<String>::new());
}

#[test]
fn remarks_that_drift_control_waits_for_the_silent() {
    let watermark = |more: &str| remarks(&edited("    max_delay: 30s\n", &format!("    max_delay: 30s\n{more}")));
    let found = watermark("    max_drift: 5m\n");
    assert!(found.len() == 1 && found[0].starts_with("source.watermark.max_drift (line 9): a partition"), "{found:?}");
    assert_eq!(watermark("    max_drift: 5m\n    idle_partition_timeout: 1m\n"), Vec::<String>::new());
    assert_eq!(watermark("    idle_partition_timeout: 1m\n"), Vec::<String>::new());
}

#[test]
fn remarks_that_nothing_equals_null() {
    let found = remarks(&edited("{fn: count}", "{fn: count, where: {field: a, equals: null}}"));
    assert!(found.len() == 1 && found[0].contains("never matches null"), "{found:?}");
}

#[test]
fn remarks_on_joins_that_keep_rows_for_long() {
    let upper = |upper: &str, more: &str| remarks(&graph("upper: 10m", &format!("upper: {upper}{more}")));
    assert_eq!(upper("1d", ""), Vec::<String>::new());
    let found = upper("25h", "");
    assert!(found.len() == 1 && found[0].starts_with("operators[0].join.upper (line 18): every row"), "{found:?}");
    assert!(found[0].contains("kept for 25h"), "{found:?}");
    let found = upper("1d", "\n      allowed_lateness: 1h");
    assert!(found.len() == 1 && found[0].contains("kept for 25h"), "{found:?}");
    let found = remarks(&graph("lower: 0s", "lower: -25h"));
    assert!(found.len() == 1 && found[0].starts_with("operators[0].join.lower (line 17)"), "{found:?}");
}

#[test]
fn remarks_on_join_keys_of_different_kinds() {
    let kinds = |left: &str, right: &str| {
        let map = "    map: {component: decode@1.0.0}\n";
        let schema = |field: &str, kind: &str| format!("schema: {{{field}: {kind}}}");
        let (left, right) = (schema("impression_id", left), schema("impression", right));
        remarks(&graph_all(&[(map, &format!("    {left}\n")), ("log: clicks,", &format!("log: clicks, {right},"))]))
    };
    assert_eq!(kinds("int", "int?"), Vec::<String>::new());
    let found = kinds("text", "int");
    let phrase = "operators[0].join.right.key_by[0] (line 15): `impression` is declared as int and the left `impression_id` as text";
    assert!(found.len() == 1 && found[0].starts_with(phrase), "{found:?}");
}

#[test]
fn remarks_follow_declared_kinds_through_joins_and_keys() {
    let text = graph_all(&[
        ("log: clicks,", "log: clicks, schema: {at: text},"),
        ("{fn: count, field: clicked_at}", "{fn: sum, field: clicked_at}"),
    ]);
    let found = remarks(&text);
    assert!(found.len() == 1 && found[0].starts_with("operators[1].aggregate.clicks (line 25)"), "{found:?}");
    assert!(found[0].contains("correct `sources[1].schema`"), "{found:?}");
}
