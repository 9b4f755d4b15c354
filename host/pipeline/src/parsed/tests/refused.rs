//! Wrong files, each with the path, the line and a phrase of the reason that its author sees.

use super::{edited, refuse, refused};
use crate::{ErrorCode, parse};

/// An edit of the base file (what is replaced, by what), the path and the line blamed, a phrase of the reason.
type Case = (&'static str, &'static str, &'static str, usize, &'static str);

fn check(cases: &[Case]) {
    for (old, new, path, line, phrase) in cases {
        refused(&edited(old, new), path, *line, phrase);
    }
}

#[test]
fn names_the_nearest_key_for_an_unknown_one() {
    check(&[
        ("window:\n", "windw:\n", "windw", 10, "did you mean `window`?"),
        ("job: clicks", "jobs: clicks", "jobs", 1, "did you mean `job`?"),
        ("aggregate:\n", "aggregates:\n", "aggregates", 13, "did you mean `aggregate`?"),
        ("key_by:", "keyBy:", "keyBy", 9, "did you mean `key_by`?"),
        ("  size: 1m", "  sise: 1m", "window.sise", 12, "did you mean `size`?"),
        ("  timestamp_field:", "  timestamp:", "source.timestamp", 5, "did you mean `timestamp_field`?"),
        ("    max_delay:", "    max_dealy:", "source.watermark.max_dealy", 8, "did you mean `max_delay`?"),
        ("  table:", "  tabel:", "sink.tabel", 18, "did you mean `table`?"),
        ("{fn: count}", "{fun: count}", "aggregate.rows.fun", 14, "did you mean `fn`?"),
        ("{fn: count}", "{fn: count, wher: 1}", "aggregate.rows.wher", 14, "did you mean `where`?"),
        ("version: 1", "version: 1\nlate_output: x", "late_output", 3, "did you mean `late_side_output`?"),
    ]);
}

#[test]
fn names_a_key_that_is_missing_and_what_to_write() {
    check(&[
        ("job: clicks\n", "", "job", 1, "`job` is missing"),
        ("version: 1\n", "", "version", 1, "`version` is missing"),
        ("key_by: [shop, country]\n", "", "key_by", 1, "write `key_by: []` for one key"),
        ("  log: events\n", "", "source.log", 3, "name the log"),
        ("    strategy: bounded_out_of_orderness\n", "", "source.watermark.strategy", 6, "`strategy` is missing"),
        ("    max_delay: 30s\n", "", "source.watermark.max_delay", 6, "`max_delay: 30s`"),
        ("  type: tumbling\n", "", "window.type", 10, "`type` is missing"),
        ("  size: 1m\n", "", "window.size", 10, "`size: 1m`"),
        ("  type: upsert_store\n", "", "sink.type", 16, "`type` is missing"),
        ("  table: clicks_minute\n", "", "sink.table", 16, "name the table"),
        ("  key: [shop, country, window_start]\n", "", "sink.key", 16, "identify a row"),
        ("{fn: count}", "{field: a}", "aggregate.rows.fn", 14, "name the function"),
        ("{fn: count}", "{uid: a}", "aggregate.rows.component", 14, "a hook needs it"),
        ("{fn: count}", "{fn: top_k}", "aggregate.rows.k", 14, "such as `k: 10`"),
        ("{fn: count}", "{fn: count, where: {field: a}}", "aggregate.rows.where.equals", 14, "`equals` is missing"),
        ("{fn: count}", "{fn: count, where: {equals: 1}}", "aggregate.rows.where.field", 14, "`field` is missing"),
        ("version: 1\n", "version: 1\ndedup: {field: id}\n", "dedup.horizon", 3, "such as `10m`"),
        ("version: 1\n", "version: 1\ncheckpoint: {mode: aligned}\n", "checkpoint.interval", 3, "`interval: 30s`"),
        ("version: 1\n", "version: 1\nmap: {uid: decode}\n", "map.component", 3, "ad-decoder@1.2.0"),
        (
            "strategy: bounded_out_of_orderness\n    max_delay: 30s",
            "strategy: punctuated",
            "source.watermark.field",
            6,
            "claims",
        ),
    ]);
}

#[test]
fn refuses_durations_that_are_none_with_the_mend() {
    check(&[
        ("size: 1m", "size: 60000", "window.size", 12, "write `60000ms`"),
        ("size: 1m", "size: \"60\"", "window.size", 12, "write `60ms`"),
        ("size: 1m", "size: 1min", "window.size", 12, "write `1m`"),
        ("size: 1m", "size: 10 sec", "window.size", 12, "write `10s`"),
        ("size: 1m", "size: 1M", "window.size", 12, "write `1m`"),
        ("size: 1m", "size: 1.5s", "window.size", 12, "`1500ms`"),
        ("size: 1m", "size: 1.5", "window.size", 12, "`1500ms`"),
        ("size: 1m", "size: 1w", "window.size", 12, "no unit that is known"),
        ("size: 1m", "size: minute", "window.size", 12, "is no duration"),
        ("size: 1m", "size: 0s", "window.size", 12, "is zero"),
        ("size: 1m", "size: -1m", "window.size", 12, "is negative"),
        ("size: 1m", "size: -60000", "window.size", 12, "is negative"),
        ("size: 1m", "size: 9223372036854775807d", "window.size", 12, "too long"),
        ("size: 1m", "size: 99999999999999999999s", "window.size", 12, "too long"),
        ("size: 1m", "size: 3652426d", "window.size", 12, "10,000 years"),
        ("size: 1m", "size: [1m]", "window.size", 12, "a duration is needed"),
        ("size: 1m", "size:", "window.size", 12, "this is empty"),
        ("size: 1m", "size: 1m\n  offset: -1s", "window.offset", 13, "is negative"),
        ("max_delay: 30s", "max_delay: 30", "source.watermark.max_delay", 8, "write `30ms`"),
        (
            "max_delay: 30s",
            "max_delay: 3s\n    idle_partition_timeout: 0s",
            "source.watermark.idle_partition_timeout",
            9,
            "is zero",
        ),
        ("max_delay: 30s", "max_delay: 3s\n    max_drift: 0ms", "source.watermark.max_drift", 9, "is zero"),
    ]);
}

#[test]
fn refuses_values_of_another_kind_with_the_mend() {
    check(&[
        ("job: clicks", "job: 7", "job", 1, "put it in quotes: \"7\""),
        ("job: clicks", "job: true", "job", 1, "put it in quotes: \"true\""),
        ("job: clicks", "job:", "job", 1, "this is empty"),
        ("job: clicks", "job: \"\"", "job", 1, "is empty; give it a name"),
        ("job: clicks", "job: ../other", "job", 1, "use letters, digits"),
        ("version: 1", "version: \"1\"", "version", 2, "without quotes"),
        ("version: 1", "version: 1.5", "version", 2, "a whole number"),
        ("version: 1", "version: -1", "version", 2, "at least 0"),
        ("version: 1", "version: 1\nparallelism: 0", "parallelism", 3, "from 1 to 32768"),
        ("version: 1", "version: 1\nmax_parallelism: 40000", "max_parallelism", 3, "from 1 to 32768"),
        ("key_by: [shop, country]", "key_by: shop", "key_by", 9, "`[shop]`"),
        ("key_by: [shop, country]", "key_by: [shop, 1]", "key_by[1]", 9, "put it in quotes"),
        ("key_by: [shop, country]", "key_by: [shop, shop]", "key_by[1]", 9, "in the list already"),
        ("key_by: [shop, country]", "key_by: [shop, \"\"]", "key_by[1]", 9, "is empty"),
        ("[shop, country, window_start]", "[]", "sink.key", 19, "needs an identity"),
        ("{fn: count}", "5", "aggregate.rows", 14, "write for example `count`"),
        (
            "{fn: count}",
            "{fn: count, where: {field: a, equals: .nan}}",
            "aggregate.rows.where.equals",
            14,
            "no finite number",
        ),
        ("{fn: count}", "{fn: top_k, k: 0}", "aggregate.rows.k", 14, "from 1"),
        ("{fn: count}", "{fn: sum, k: 3}", "aggregate.rows.k", 14, "belongs to `top_k`"),
        ("{fn: count}", "top_k", "aggregate.rows", 14, "`{fn: top_k, k: 10}`"),
        ("version: 1", "version: 1\nmap: {component: a@1.0.0, config: 3}", "map.config", 3, "an object"),
        ("version: 1", "version: 1\nmap: {component: a@}", "map.component", 3, "write `a@1.0.0`"),
        ("version: 1", "version: 1\nmap: {component: \"@1.0.0\"}", "map.component", 3, "is empty"),
        ("version: 1", "version: 1\nmap: decode@1.0.0", "map", 3, "an object with the keys `component`"),
    ]);
}

#[test]
fn names_the_nearest_word_for_an_unknown_one() {
    check(&[
        ("type: tumbling", "type: tumblin", "window.type", 11, "did you mean `tumbling`?"),
        ("type: upsert_store", "type: upsert", "sink.type", 17, "did you mean `upsert_store`?"),
        ("price: sum", "price: summ", "aggregate.price", 15, "did you mean `sum`?"),
        ("price: sum", "price: mean", "aggregate.price", 15, "did you mean `avg`?"),
        ("{fn: count}", "{fn: counts}", "aggregate.rows.fn", 14, "did you mean `count`?"),
        (
            "strategy: bounded_out_of_orderness",
            "strategy: bounded",
            "source.watermark.strategy",
            7,
            "Known: `bounded_out_of_orderness`",
        ),
        ("version: 1", "version: 1\naccumulation: accumulate", "accumulation", 3, "did you mean `accumulating`?"),
        ("  log: events", "  log: events\n  format: jsonl", "source.format", 5, "did you mean `json`?"),
        ("  log: events", "  log: events\n  schema: {a: string}", "source.schema.a", 5, "write `text`"),
        ("  log: events", "  log: events\n  schema: {a: integer?}", "source.schema.a", 5, "write `int?`"),
        ("  log: events", "  log: events\n  schema: {a: txt}", "source.schema.a", 5, "did you mean `text`?"),
        (
            "version: 1",
            "version: 1\ncheckpoint: {interval: 1s, mode: align}",
            "checkpoint.mode",
            3,
            "did you mean `aligned`?",
        ),
    ]);
}

#[test]
fn refuses_triggers_that_are_none() {
    check(&[
        ("version: 1", "version: 1\ntrigger: {early: every 10s}", "trigger.early", 3, "`every 10s processing_time`"),
        ("version: 1", "version: 1\ntrigger: {early: every 10 processing_time}", "trigger.early", 3, "`10ms`"),
        ("version: 1", "version: 1\ntrigger: {early: every 0s processing_time}", "trigger.early", 3, "is zero"),
        ("version: 1", "version: 1\ntrigger: {early: every 0 elements}", "trigger.early", 3, "above zero"),
        ("version: 1", "version: 1\ntrigger: {early: every -3 elements}", "trigger.early", 3, "above zero"),
        ("version: 1", "version: 1\ntrigger: {early: every 1 element}", "trigger.early", 3, "`every 1 elements`"),
        ("version: 1", "version: 1\ntrigger: {early: every_element}", "trigger.early", 3, "`every 1 elements`"),
        ("version: 1", "version: 1\ntrigger: {early: never}", "trigger.early", 3, "or `none`"),
        ("version: 1", "version: 1\ntrigger: {early: false}", "trigger.early", 3, "is text"),
        ("version: 1", "version: 1\ntrigger: {late: every 3 elements}", "trigger.late", 3, "counts no elements"),
        ("version: 1", "version: 1\ntrigger: {late: always}", "trigger.late", 3, "`every_element`"),
        ("version: 1", "version: 1\ntrigger: {on_time: never}", "trigger.on_time", 3, "`at_watermark`"),
        ("version: 1", "version: 1\ntrigger:", "trigger", 3, "this is empty"),
    ]);
}

#[test]
fn refuses_keys_of_another_type_by_name() {
    check(&[
        ("size: 1m", "size: 1m\n  slide: 10s", "window.slide", 13, "`type: sliding`"),
        ("size: 1m", "size: 1m\n  gap: 10s", "window.gap", 13, "`type: session`"),
        ("size: 1m", "size: 1m\n  component: a@1", "window.component", 13, "`type: custom`"),
        ("type: tumbling", "type: session\n  gap: 1m", "window.size", 13, "`type: tumbling`"),
        (
            "strategy: bounded_out_of_orderness",
            "strategy: ascending",
            "source.watermark.max_delay",
            8,
            "bounded_out_of_orderness",
        ),
        ("max_delay: 30s", "max_delay: 30s\n    field: mark", "source.watermark.field", 9, "`strategy: punctuated`"),
        ("  table: clicks_minute", "  table: clicks_minute\n  log: x", "sink.log", 19, "`type: log`"),
        ("type: upsert_store", "type: log\n  log: out", "sink.table", 19, "`type: upsert_store`"),
        ("{fn: count}", "{fn: count, uid: a}", "aggregate.rows.uid", 14, "a hook (`component`)"),
        ("{fn: count}", "{fn: count, component: a@1}", "aggregate.rows", 14, "keep one of them"),
        ("{fn: count}", "{component: a@1, where: {}}", "aggregate.rows.where", 14, "unknown key"),
        (
            "version: 1",
            "version: 1\ncheckpoint: {interval: 1s, mode: unaligned, unaligned_after: 2s}",
            "checkpoint.unaligned_after",
            3,
            "`mode: aligned`",
        ),
    ]);
}

#[test]
fn refuses_text_that_is_ambiguous_or_malformed() {
    check(&[
        ("version: 1", "version: 1\njob: other", "job", 3, "first on line 1"),
        ("size: 1m", "size: 1m\n  size: 2m", "window.size", 13, "first on line 12"),
        ("{fn: count}", "{fn: count, fn: sum}", "aggregate.rows.fn", 14, "stands twice"),
        ("  price: sum", "  rows: sum", "aggregate.rows", 15, "first on line 14"),
        ("window:\n", "window: &w\n", "window", 10, "anchors are not read"),
        ("version: 1", "version: !!int 1", "version", 2, "tags are not read"),
        ("{fn: count}", "{<<: {}, fn: count}", "aggregate.rows", 14, "merge keys"),
        ("{fn: count}", "{? [a] : count}", "aggregate.rows", 14, "a key must be text"),
        ("version: 1", "version: 1\n---", "", 3, "a second document"),
        ("  size: 1m", "\tsize: 1m", "", 12, "begins with a tab"),
        ("  size: 1m", "   size: 1m", "", 12, "not well-formed"),
        ("[shop, country]", "[shop, country", "", 10, "not well-formed"),
    ]);
}

#[test]
fn refuses_files_that_are_no_object() {
    refused("", "", 1, "the file is empty");
    refused("# nothing\n", "", 1, "the file is empty");
    refused("just text", "", 1, "this is text");
    refused("- a\n- b\n", "", 1, "this is a list");
    refused("null", "", 1, "this is empty");
}

#[test]
fn refuses_aliases_so_that_no_small_file_grows() {
    refused("job: clicks\na: &a [x]\n", "a", 2, "anchors are not read");
    let bomb = "a: [x, x]\nb: [*a, *a]\n";
    refused(bomb, "", 2, "not well-formed");
}

#[test]
fn refuses_files_beyond_the_limits() {
    let deep = format!("job: {}", "[".repeat(200));
    assert!(refuse(&deep).reason.contains("nested deeper than 32"), "{}", refuse(&deep));
    let deep = format!("job:\n{}", (1..200).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect::<String>());
    assert!(refuse(&deep).reason.contains("nested deeper than 32"), "{}", refuse(&deep));
    let many = format!("job: [{}]", "1,".repeat(60_000));
    assert!(refuse(&many).reason.contains("more than 50000"), "{}", refuse(&many));
    let large = format!("job: {}", "x".repeat(1 << 20));
    assert!(refuse(&large).reason.contains("1048576"), "{}", refuse(&large));
    let aggregates: String = (0..1_001).map(|index| format!("  a{index}: sum\n")).collect();
    refused(&edited("  price: sum\n", &aggregates), "aggregate", 13, "1002 aggregates are too many");
    let fields: String = (0..1_001).map(|index| format!("f{index},")).collect();
    refused(&edited("[shop, country]", &format!("[{fields}]")), "key_by", 9, "1001 fields are too many");
}

#[test]
fn cuts_and_escapes_what_it_repeats() {
    let error = refuse(&edited("tumbling", &format!("\"\\e[31m{}\"", "x".repeat(10_000))));
    assert_eq!(error.path, "window.type");
    assert!(error.to_string().len() < 400, "{error}");
    assert!(error.reason.contains("\\u{1b}[31mxxx"), "{error}");
    let error = refuse(&edited("version: 1", &format!("\"a.b\\n{}\": 1", "k".repeat(900))));
    assert!(error.path.starts_with("\"a.b\\u{a}kkk") && error.path.len() < 100, "{error}");
    assert!(!error.to_string().chars().any(char::is_control));
}

#[test]
fn names_what_this_release_does_not_run() {
    let avro = edited("  log: events", "  log: events\n  format: avro");
    let (text, path, line, phrase) = (avro, "source.format", 5, "`avro`");
    let parsed = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let error = parsed.check_supported().expect_err("refused by name");
    assert_eq!((error.code, error.path.as_str(), error.line), (ErrorCode::Unsupported, path, Some(line)), "{error}");
    assert!(error.reason.contains(phrase), "{error}");
    assert_eq!(crate::check_supported(&parsed.pipeline).map_err(|error| error.line), Err(None));
}

#[test]
fn says_code_path_line_and_reason_in_one_message() {
    let error = refuse(&edited("size: 1m", "size: 60000"));
    let message =
        "invalid-pipeline: window.size (line 12): 60000 has no unit; write `60000ms`, or use `s`, `m`, `h` or `d`";
    assert_eq!(error.to_string(), message);
}
