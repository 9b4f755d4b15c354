//! Operators that feed operators: what may feed what, which fields they name, and what upsert sinks of them need.

use super::{accept, graph, graph_all, refused};

/// Two windows, one behind the other. `first`, `second`: keys of each besides name, input and key.
fn chain(first: &str, second: &str) -> String {
    format!(
        "job: chain\nversion: 1\n\
         sources: [{{name: events, log: events, timestamp_field: at, watermark: {{strategy: ascending}}}}]\n\
         operators:\n\
         - {{name: minutes, input: events, key_by: [user, shop], {first}}}\n\
         - {{name: hours, input: minutes, key_by: [shop], {second}}}\n\
         sinks: [{{input: hours, type: log, log: out}}]\n"
    )
}

const MINUTES: &str = "window: {type: tumbling, size: 1m}, aggregate: {n: {fn: count}}";
const HOURS: &str = "window: {type: tumbling, size: 1h}, aggregate: {n: sum}";
const LATE: &str = "window: {type: tumbling, size: 1m, allowed_lateness: 1m}, aggregate: {n: {fn: count}}";

#[test]
fn lets_windows_feed_windows_that_count_nothing_twice() {
    accept(&chain(MINUTES, HOURS));
    let early = format!("{MINUTES}, trigger: {{early: every 3 elements}}");
    let twice = "`hours` would count records again";
    refused(&chain(LATE, HOURS), "operators[0].accumulation", 5, twice);
    refused(&chain(&early, HOURS), "operators[0].accumulation", 5, twice);
    refused(&chain(&format!("{LATE}, accumulation: accumulating"), HOURS), "operators[0].accumulation", 5, twice);
    accept(&chain(&format!("{LATE}, accumulation: discarding"), HOURS));
    accept(&chain(&format!("{early}, accumulation: discarding"), HOURS));
    accept(&chain(&format!("{LATE}, accumulation: accumulating_and_retracting"), HOURS));
    let session = "window: {type: session, gap: 1m}, aggregate: {n: {fn: count}}";
    accept(&chain(session, session));
}

#[test]
fn lets_retracting_windows_feed_only_what_can_undo() {
    let retracting = format!("{LATE}, accumulation: accumulating_and_retracting");
    let behind =
        |second: &str, phrase: &str| refused(&chain(&retracting, second), "operators[0].accumulation", 5, phrase);
    for function in ["min", "max", "first", "last", "approx_count_distinct"] {
        let window = format!("window: {{type: tumbling, size: 1h}}, aggregate: {{n: {function}}}");
        behind(&window, "has the aggregate `n`, which cannot undo a row");
        accept(&chain(MINUTES, &window));
    }
    for function in ["count", "sum", "avg", "count_distinct", "{fn: top_k, k: 3}"] {
        accept(&chain(
            &retracting,
            &format!("window: {{type: sliding, size: 1h, slide: 1m}}, aggregate: {{n: {function}}}"),
        ));
    }
    behind("window: {type: session, gap: 1h}, aggregate: {n: sum}", "session windows");
    behind("window: {type: custom, component: a@1.0.0}, aggregate: {n: sum}", "custom windows");
    behind(&format!("{HOURS}, dedup: {{field: n, horizon: 1h}}"), "drops duplicates");
    behind("window: {type: tumbling, size: 1h}, aggregate: {n: {component: a@1.0.0}}", "the aggregate `n`");
    behind("process: {component: a@1.0.0}", "`hours` is a process hook");
    accept(&chain(&retracting, "window: {type: global}, trigger: {early: every 3 elements}, aggregate: {n: sum}"));
}

#[test]
fn sees_stateful_operators_through_map_hooks_and_in_joins() {
    let through = |first: &str| {
        chain(first, HOURS)
            .replace("input: minutes", "input: cleaned")
            .replace("operators:\n", "operators:\n- {name: cleaned, input: minutes, map: {component: a@1.0.0}}\n")
    };
    accept(&through(MINUTES));
    accept(&through(&format!("{LATE}, accumulation: discarding")));
    refused(&through(LATE), "operators[1].accumulation", 6, "`hours` would count records again");
    let retracting = format!("{LATE}, accumulation: accumulating_and_retracting");
    refused(&through(&retracting), "operators[1].accumulation", 6, "`cleaned` is a map hook");
    let joined = |first: &str| {
        let join = "- {name: hours, join: {type: interval, lower: 0s, upper: 1m, select: {n: left.n}, \
                    left: {input: minutes, key_by: [user]}, right: {input: events, key_by: [user]}}}";
        let text = chain(first, "");
        let line = text.lines().find(|line| line.contains("name: hours")).expect("the second operator").to_owned();
        text.replace(&line, join)
    };
    accept(&joined(MINUTES));
    refused(&joined(LATE), "operators[0].accumulation", 5, "`hours` would count");
    refused(&joined(&retracting), "operators[0].accumulation", 5, "`hours` is a join");
}

#[test]
fn lets_windows_that_fire_often_feed_sinks() {
    let text =
        chain(MINUTES, HOURS).replace("{type: tumbling, size: 1h}", "{type: tumbling, size: 1h, allowed_lateness: 1h}");
    accept(&text);
    let map = chain(LATE, HOURS);
    let line = map.lines().find(|line| line.contains("name: hours")).expect("the second operator").to_owned();
    accept(&map.replace(&line, "- {name: hours, input: minutes, map: {component: a@1.0.0}}"));
}

#[test]
fn lets_global_windows_feed_sinks_only() {
    let global = "window: {type: global}, trigger: {early: every 3 elements}, aggregate: {n: {fn: count}}";
    refused(&chain(global, HOURS), "operators[0].window.type", 5, "`hours` cannot read them");
    accept(&chain(MINUTES, global));
}

#[test]
fn refuses_fields_that_the_input_does_not_put_out() {
    let fields = |second: &str, path: &str, phrase: &str| refused(&chain(MINUTES, second), path, 6, phrase);
    let window = "window: {type: tumbling, size: 1h}, aggregate";
    let typo = format!("{window}: {{m: {{fn: sum, field: nn}}}}");
    fields(&typo, "operators[1].aggregate.m", "`minutes` puts out no field `nn`; did you mean `n`?");
    let condition = format!("{window}: {{m: {{fn: count, where: {{field: usr, equals: a}}}}}}");
    fields(&condition, "operators[1].aggregate.m.where.field", "did you mean `user`?");
    let dedup = format!("{window}: {{n: sum}}, dedup: {{field: id, horizon: 1h}}");
    fields(&dedup, "operators[1].dedup.field", "no field `id`");
    let key = chain(MINUTES, HOURS).replace("key_by: [shop]", "key_by: [shopp]");
    refused(&key, "operators[1].key_by[0]", 6, "did you mean `shop`?");
    accept(&chain(MINUTES, &format!("{window}: {{m: {{fn: first, field: window_start}}}}")));
    // A hook may put out anything.
    accept(&chain("window: {type: tumbling, size: 1m}, aggregate: {n: {component: a@1.0.0}}", &typo));
    let selected = graph("field: clicked_at", "field: clicked");
    refused(&selected, "operators[1].aggregate.clicks", 25, "`attributed` puts out no field `clicked`");
    let many: String = (0..30).map(|at| format!("{{fn: count}}, a{at}: ")).collect();
    let many = MINUTES.replace("{fn: count}", &format!("{many}{{fn: count}}"));
    refused(&chain(&many, &typo.replace("nn", "zzzzz")), "operators[1].aggregate.m", 6, "name one of its 35 fields");
}

#[test]
fn checks_upsert_keys_of_rows_without_windows() {
    let sink = |key: &str| {
        format!(
            "{{input: per_minute, type: log, log: out}}\n  - {{input: attributed, type: upsert_store, table: t, key: [{key}]}}"
        )
    };
    let keyed = |key: &str| graph("{input: per_minute, type: log, log: out}", &sink(key));
    accept(&keyed("campaign_id"));
    refused(&keyed("campaign"), "sinks[1].key[0]", 35, "rows have no field `campaign`; did you mean `campaign_id`?");
    refused(&keyed("campaign_id, window_start"), "sinks[1].key[1]", 35, "have no window and no field `window_start`");
    refused(&keyed("campaign_id, time"), "sinks[1].key[1]", 35, "identifies no row");
    refused(
        &graph("key: [user]", "key: [user, window_end]"),
        "sinks[1].key[1]",
        35,
        "rows of `cleaned` have no window",
    );
    accept(&graph("key: [user]", "key: [anything]"));
}

#[test]
fn refuses_reserved_names_in_projections_that_go_to_sinks() {
    let select = |name: &str| {
        graph_all(&[
            ("clicked_at: right.at", &format!("{name}: right.at")),
            ("field: clicked_at", &format!("field: {name}")),
        ])
    };
    let to_sink = |name: &str| select(name) + "  - {input: attributed, type: log, log: pairs}\n";
    for name in
        ["time", "watermark", "op", "pane", "window_start", "window_end", "version", "completeness", "generated_at"]
    {
        accept(&select(name));
        refused(&to_sink(name), &format!("operators[0].join.select.{name}"), 19, "belongs to the platform");
    }
}

#[test]
fn checks_the_rows_of_hooks_once_they_are_known() {
    let parsed = accept(&graph("key: [user]", "key: [user, score]"));
    let check = |fields: &[&str]| {
        let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
        crate::check_row_outputs(&parsed.pipeline, 3, &fields).map_err(|error| parsed.locate(error).to_string())
    };
    assert_eq!(check(&["score", "user"]), Ok(()));
    let error = check(&["user"]).expect_err("a key that no row has");
    assert!(error.contains("sinks[1].key[1] (line 35)") && error.contains("no field `score`"), "{error}");
    let error = check(&["user", "score", "time"]).expect_err("a name of the platform");
    assert!(error.contains("operators[3].map (line 32)") && error.contains("`time`"), "{error}");
    assert_eq!(crate::check_row_outputs(&parsed.pipeline, 2, &["time".to_owned()]), Ok(()), "it feeds no sink");
}

#[test]
fn checks_what_custom_windows_feed_once_their_hook_is_known() {
    let custom = |more: &str| {
        let first = format!("window: {{type: custom, component: a@1.0.0{more}, aggregate: {{n: {{fn: count}}}}");
        accept(&chain(&first, HOURS))
    };
    let check = |more: &str, decides: bool, emits: bool| {
        let parsed = custom(more);
        crate::check_custom_chain(&parsed.pipeline, 0, decides, emits).map_err(|error| parsed.locate(error).to_string())
    };
    assert_eq!(check("}", false, true), Ok(()), "they fire once");
    let error = check("}", true, false).expect_err("they may say records again");
    assert!(
        error.contains("operators[0].window.component (line 5)") && error.contains("`hours` would count"),
        "{error}"
    );
    assert_eq!(check("}, accumulation: discarding", true, false), Ok(()));
    assert_eq!(check("}, accumulation: accumulating_and_retracting", true, false), Ok(()));
    let error = check(", allowed_lateness: 1m}, accumulation: discarding", false, true).expect_err("it emits again");
    assert!(error.contains("emits records of its own"), "{error}");
    let parsed = accept(&chain(MINUTES, HOURS));
    assert_eq!(crate::check_custom_chain(&parsed.pipeline, 1, true, true), Ok(()), "no custom windows");
}

#[test]
fn checks_the_rules_of_windows_and_sources_at_their_places() {
    let sinks = |key: &str| {
        chain(MINUTES, HOURS).replace(
            "{input: hours, type: log, log: out}",
            &format!("{{input: hours, type: upsert_store, table: t, key: [{key}]}}"),
        )
    };
    accept(&sinks("shop, window_start"));
    refused(&sinks("window_start"), "sinks[0].key", 7, "without `shop` rows of different keys overwrite each other");
    refused(&sinks("shop, n, windw_start"), "sinks[0].key[2]", 7, "did you mean `window_start`?");
    let raw = chain(MINUTES, HOURS).replace("timestamp_field: at", "format: raw");
    refused(&raw, "sources[0].format", 3, "add `map`");
    let timeless = chain(MINUTES, HOURS).replace(" timestamp_field: at,", "");
    refused(&timeless, "sources[0].timestamp_field", 3, "name the field that holds its time");
    let slide = chain(MINUTES, "window: {type: sliding, size: 1000d, slide: 1ms}, aggregate: {n: sum}");
    refused(&slide, "operators[1].window.slide", 6, "at most 1000000 may hold it");
    let avro = accept(&chain(MINUTES, HOURS).replace("log: events,", "log: events, format: avro,"));
    let error = avro.check_supported().expect_err("refused by name");
    assert_eq!((error.path.as_str(), error.line), ("sources[0].format", Some(3)));
}
