//! Every contradiction of docs/pipeline-file.md, with its path and line, and its sound neighbours.

use super::{accept, edited, edited_all, refused};

const UPSERT: &str = "  type: upsert_store\n  table: clicks_minute\n  key: [shop, country, window_start]\n";
const LOG: &str = "  type: log\n  log: out\n";
const TUMBLING: &str = "  type: tumbling\n  size: 1m\n";
const BOTH_BOUNDS: &str = "  type: upsert_store\n  table: t\n  key: [shop, country, window_start, window_end]\n";

#[test]
fn rejects_a_slide_longer_than_the_size() {
    let slide = |slide: &str| edited(TUMBLING, &format!("  type: sliding\n  size: 1m\n  slide: {slide}\n"));
    refused(&slide("61s"), "window.slide", 13, "the slide 61s is longer than the size 1m");
    accept(&slide("60s"));
}

#[test]
fn rejects_more_windows_of_a_record_than_share_panes() {
    let sliding = |size: &str| edited(TUMBLING, &format!("  type: sliding\n  size: {size}\n  slide: 1ms\n"));
    accept(&sliding("1000000ms"));
    refused(&sliding("1000001ms"), "window.slide", 13, "up to 1000001 windows, each of which fires");
    refused(&sliding("1000d"), "window.slide", 13, "use a slide of at least 86400ms");
}

#[test]
fn rejects_more_windows_of_a_record_than_are_kept_one_by_one() {
    let sliding = |size: &str, rest: &str| {
        let window = format!("  type: sliding\n  size: {size}\n  slide: 1ms\n{rest}");
        let text = edited_all(&[(TUMBLING, &window), (UPSERT, LOG)]);
        text.replace("  rows: {fn: count}", "  rows: {fn: count}\n  sketch: {component: sketch@1.0.0}")
    };
    let apart = [
        ("trigger: {early: every 3 elements}\n", "an early trigger"),
        ("trigger: {late: every 10s processing_time}\n", "late panes by processing time"),
        ("", "an aggregate hook"),
    ];
    for (rest, why) in apart {
        accept(&sliding("100s", rest));
        refused(&sliding("100001ms", rest), "window.slide", 13, why);
    }
    refused(&sliding("100001ms", ""), "window.slide", 13, "use a slide of at least 2ms, or let them share panes");
}

#[test]
fn rejects_a_session_bound_shorter_than_its_gap() {
    let session = |max: &str| {
        let window = format!("  type: session\n  gap: 30s\n  max_duration: {max}\n");
        edited_all(&[(TUMBLING, &window), (UPSERT, BOTH_BOUNDS)])
    };
    refused(&session("29s"), "window.max_duration", 13, "longer than the 29s allowed");
    accept(&session("30s"));
}

#[test]
fn rejects_a_global_window_without_an_early_trigger() {
    let global = |trigger: &str| edited(TUMBLING, &format!("  type: global\n{trigger}"));
    refused(&global(""), "trigger.early", 11, "a global window has no end at which to fire");
    refused(&global("trigger: {on_time: at_watermark}\n"), "trigger.early", 11, "a global window");
    refused(&global("trigger:\n  early: none\n"), "trigger.early", 13, "a global window");
    accept(&global("trigger: {early: every 100 elements}\n"));
    accept(&global("trigger: {early: every 10s processing_time, on_time: at_watermark}\n"));
}

#[test]
fn rejects_lateness_and_late_panes_of_a_global_window() {
    let lateness = edited(TUMBLING, "  type: global\n  allowed_lateness: 0s\ntrigger: {early: every 3 elements}\n");
    refused(&lateness, "window.allowed_lateness", 12, "no record is late for it");
    let late = |late: &str| {
        edited(TUMBLING, &format!("  type: global\ntrigger:\n  early: every 3 elements\n  late: {late}\n"))
    };
    refused(&late("every_element"), "trigger.late", 14, "no late panes");
    refused(&late("none"), "trigger.late", 14, "no late panes");
}

#[test]
fn rejects_sessions_that_fire_again_into_an_upsert_sink_without_retracting() {
    let session =
        |more: &str| edited_all(&[(TUMBLING, &format!("  type: session\n  gap: 30s\n{more}")), (UPSERT, BOTH_BOUNDS)]);
    let phrase = "only retractions remove these rows";
    refused(&session("  allowed_lateness: 1s\n"), "accumulation", 11, phrase);
    refused(&session("trigger: {early: every 3 elements}\n"), "accumulation", 11, phrase);
    refused(&session("accumulation: accumulating\ntrigger: {early: every 3 elements}\n"), "accumulation", 13, phrase);
    refused(&session("  allowed_lateness: 1s\naccumulation: discarding\n"), "accumulation", 14, phrase);
    accept(&session(""));
    accept(&session("  allowed_lateness: 0s\ntrigger: {early: none}\n"));
    accept(&session("  allowed_lateness: 1s\naccumulation: accumulating_and_retracting\n"));
    accept(&edited_all(&[(TUMBLING, "  type: session\n  gap: 30s\n  allowed_lateness: 1s\n"), (UPSERT, LOG)]));
}

#[test]
fn rejects_discarding_panes_that_an_upsert_sink_would_lose() {
    let discarding = |more: &str| edited(TUMBLING, &format!("{TUMBLING}{more}accumulation: discarding\n"));
    let phrase = "an upsert sink keeps only the last";
    refused(&discarding("  allowed_lateness: 1s\n"), "accumulation", 14, phrase);
    refused(&discarding("trigger: {early: every 3 elements}\n"), "accumulation", 14, phrase);
    accept(&discarding(""));
    let to_log =
        [(TUMBLING, "  type: tumbling\n  size: 1m\n  allowed_lateness: 1s\naccumulation: discarding\n"), (UPSERT, LOG)];
    accept(&edited_all(&to_log));
    let global = "  type: global\ntrigger: {early: every 3 elements}\naccumulation: discarding\n";
    refused(&edited(TUMBLING, global), "accumulation", 13, phrase);
}

#[test]
fn rejects_a_session_row_without_both_bounds() {
    let key = |key: &str| {
        let sink = format!("  type: upsert_store\n  table: t\n  key: [{key}]\n");
        edited_all(&[(TUMBLING, "  type: session\n  gap: 30s\n"), (UPSERT, &sink)])
    };
    for fields in ["shop, country, window_start", "shop, country, window_end", "shop, country"] {
        refused(&key(fields), "sink.key", 19, "add `window_start` and `window_end`");
    }
    accept(&key("shop, country, window_start, window_end"));
}

#[test]
fn rejects_identities_forgotten_before_lateness_ends() {
    let horizon = |horizon: &str| {
        edited(
            "  size: 1m\n",
            &format!("  size: 1m\n  allowed_lateness: 10m\ndedup:\n  field: id\n  horizon: {horizon}\n"),
        )
    };
    refused(&horizon("599s"), "dedup.horizon", 16, "use at least 10m");
    accept(&horizon("10m"));
    accept(&edited("  size: 1m\n", "  size: 1m\ndedup: {field: id, horizon: 0s}\n"));
}

#[test]
fn rejects_output_names_that_stand_twice() {
    for name in ["window_start", "window_end", "pane", "watermark", "op"] {
        refused(
            &edited("  price: sum", &format!("  {name}: sum")),
            &format!("aggregate.{name}"),
            15,
            "belongs to the platform",
        );
        refused(&edited("[shop, country]", &format!("[shop, {name}]")), "key_by[1]", 9, "belongs to the platform");
    }
    refused(&edited("  price: sum", "  shop: sum"), "aggregate.shop", 15, "belongs to the key");
    accept(&edited("  price: sum", "  op: {component: a@1.0.0}"));
}

#[test]
fn rejects_an_upsert_key_of_fields_that_no_pane_has() {
    let key = |key: &str| edited("[shop, country, window_start]", key);
    refused(&key("[shop, country, window_stat]"), "sink.key[2]", 19, "did you mean `window_start`?");
    refused(&key("[shop, country, pane]"), "sink.key[2]", 19, "identifies no row");
    refused(
        &key("[shop, window_start]"),
        "sink.key",
        19,
        "without `country` rows of different keys overwrite each other",
    );
    let open =
        edited_all(&[("  price: sum", "  price: {component: a@1.0.0}"), ("window_start]", "window_start, bucket]")]);
    accept(&open);
}

#[test]
fn rejects_raw_records_without_a_map_hook() {
    let raw = edited("  timestamp_field: time\n", "  format: raw\n");
    refused(&raw, "source.format", 5, "add `map`");
    accept(&raw.replace("key_by:", "map: {component: decode@1.0.0}\nkey_by:"));
    let fields = edited("  timestamp_field: time\n", "  format: raw\n  timestamp_field: time\n");
    refused(&fields, "source.timestamp_field", 6, "raw records have no fields");
    refused(
        &edited("  timestamp_field: time\n", "  format: raw\n  schema: {a: int}\n"),
        "source.schema",
        6,
        "no fields",
    );
}

#[test]
fn rejects_records_without_an_event_time() {
    let timeless = edited("  timestamp_field: time\n", "");
    refused(&timeless, "source.timestamp_field", 3, "add a `map` hook that gives it");
    accept(&timeless.replace("key_by:", "map: {component: decode@1.0.0}\nkey_by:"));
    let declared = |kind: &str| edited("  log: events\n", &format!("  log: events\n  schema:\n    time: {kind}\n"));
    refused(&declared("float"), "source.schema.time", 6, "declare it `int` or `text`");
    refused(&declared("bool?"), "source.schema.time", 6, "declare it `int` or `text`");
    accept(&declared("int"));
    accept(&declared("text?"));
}

#[test]
fn rejects_more_tasks_than_key_groups() {
    refused(&edited("version: 1", "version: 1\nparallelism: 1025"), "parallelism", 3, "cannot share 1024 key groups");
    refused(&edited("version: 1", "version: 1\nparallelism: 9\nmax_parallelism: 8"), "parallelism", 3, "8 key groups");
    accept(&edited("version: 1", "version: 1\nparallelism: 8\nmax_parallelism: 8"));
}

#[test]
fn rejects_an_id_that_two_operators_have() {
    let map = |uid: &str| edited("key_by:", &format!("map: {{component: a@1.0.0, uid: {uid}}}\nkey_by:"));
    refused(&map("window"), "map.uid", 9, "belongs to `window` already");
    refused(&map("aggregate.rows"), "map.uid", 9, "belongs to `aggregate.rows` already");
    refused(&map("source"), "map.uid", 9, "belongs to the source");
    accept(&map("dedup"));
    let hooks = edited("  price: sum\n", "  a: {component: x@1.0.0, uid: u}\n  b: {component: x@1.0.0, uid: u}\n");
    refused(&hooks, "aggregate.b.uid", 16, "belongs to `aggregate.a` already");
}
