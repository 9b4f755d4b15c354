//! Names: what a job reads and writes, and which names are refused where.

use tidegate_pipeline::parse;

use super::*;

fn pipeline(job: &str, rest: &str) -> Pipeline {
    let text = format!(
        "job: {job}\nversion: 1\nsource: {{log: in, timestamp_field: t, watermark: {{strategy: ascending}}}}\nkey_by: [k]\n\
         window: {{type: tumbling, size: 1m}}\naggregate: {{n: {{fn: count}}}}\n{rest}"
    );
    parse(&text).expect("a pipeline").pipeline
}

const TABLE: &str = "sink: {type: upsert_store, table: t, key: [k, window_start]}\n";

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(path, name)| ((*path).to_owned(), (*name).to_owned())).collect()
}

#[test]
fn dead_letters_have_a_stream_of_the_jobs_name_where_none_is_given() {
    let clicks = pipeline("clicks", TABLE);
    assert_eq!(streams_written(&clicks), owned(&[("dead_letter_output", "clicks-dead-letters")]));
    assert_eq!(JobStreams::of(&clicks).dead_letters, "clicks-dead-letters");
    let named = pipeline("clicks", "sink: {type: log, log: out}\nlate_side_output: late\ndead_letter_output: dead\n");
    let expected = owned(&[("sink.log", "out"), ("late_side_output", "late"), ("dead_letter_output", "dead")]);
    assert_eq!(streams_written(&named), expected);
}

/// Joins two streams; the pairs go to a stream, and their windows to a table.
const GRAPH: &str = "job: j
version: 1
sources:
  - {name: views, log: in-a, timestamp_field: t, watermark: {strategy: ascending}}
  - {name: clicks, log: in-b, timestamp_field: t, watermark: {strategy: ascending}}
operators:
  - name: pairs
    join:
      type: interval
      left: {input: views, key_by: [k]}
      right: {input: clicks, key_by: [k]}
      lower: 0s
      upper: 10s
      select: {k: left.k}
      late_side_output: late-pairs
  - name: minutes
    input: pairs
    key_by: [k]
    window: {type: tumbling, size: 1m}
    aggregate: {n: {fn: count}}
    late_side_output: late-minutes
sinks:
  - {input: minutes, type: upsert_store, table: minutes, key: [k, window_start]}
  - {input: pairs, type: log, log: out}
  - {name: again, input: minutes, type: upsert_store, table: again, key: [k, window_start]}
";

#[test]
fn a_graph_has_all_its_streams_and_tables() {
    let graph = parse(GRAPH).expect("a pipeline").pipeline;
    let streams = JobStreams::of(&graph);
    let named = |name: &str, stream: &str| NamedStream { name: name.into(), stream: stream.into() };
    assert_eq!(streams.inputs, [named("views", "in-a"), named("clicks", "in-b")]);
    assert_eq!(streams.too_late, [named("pairs", "late-pairs"), named("minutes", "late-minutes")]);
    let results = streams.results.iter().map(|of| (of.name.as_str(), of.stream.as_deref(), of.table.as_deref()));
    let expected = [("minutes", None, Some("minutes")), ("pairs", Some("out"), None), ("again", None, Some("again"))];
    assert!(results.eq(expected), "{:?}", streams.results);
    assert_eq!(streams.tables(), ["minutes", "again"]);
    assert!(["in-a", "in-b"].iter().all(|name| streams.reads(name) && !streams.writes(name)));
    let written = streams_written(&graph);
    assert!(written.iter().all(|(_, name)| streams.writes(name) && !streams.reads(name)), "{written:?}");
    assert_eq!(written.len(), 4);
}

#[test]
fn a_graphs_outputs_are_neither_its_inputs_nor_each_other() {
    let cases = [
        ("log: out", "log: in-b", "sinks[1].log", "its own input `in-b`"),
        ("late-pairs", "in-a", "operators[0].join.late_side_output", "its own input `in-a`"),
        ("late-minutes", "late-pairs", "operators[1].late_side_output", "also `operators[0].join.late_side_output`"),
        ("late-minutes", "out", "operators[1].late_side_output", "is also `sinks[1].log`; give each output a stream"),
        ("late-minutes", "j-dead-letters", "dead_letter_output", "is also `operators[1].late_side_output`"),
        ("table: again", "table: minutes", "sinks[2].table", "is also `sinks[0].table`; give each output a table"),
        ("log: in-b", "log: b/c", "sources[1].log", "may not have '/'"),
        ("table: again", "table: a.b/c", "sinks[2].table", "may not have '/'"),
    ];
    for (old, new, path, reason) in cases {
        let edited = GRAPH.replacen(old, new, 1);
        assert_ne!(edited, GRAPH);
        // The file's own rules refuse some of these already, in words of their own.
        let refused = match parse(&edited) {
            Ok(parsed) => check_names(&parsed.pipeline).expect_err(new),
            Err(error) => BadName { path: error.path, reason: reason.to_owned() },
        };
        assert_eq!(refused.path, path);
        assert!(refused.reason.contains(reason), "{}", refused.reason);
    }
    let twice = GRAPH.replacen("log: in-b", "log: in-a", 1);
    check_names(&parse(&twice).expect("a pipeline").pipeline).expect("two sources may read one stream");
}

#[test]
fn what_was_written_down_of_a_job_with_one_source_and_one_sink_is_read() {
    let stored = r#"{"input": "in", "panes": null, "too_late": "late", "dead_letters": "j-dead-letters"}"#;
    let read: JobStreams = serde_json::from_str(stored).expect("a document");
    let of_now = JobStreams::of(&pipeline("j", &format!("{TABLE}late_side_output: late\n")));
    assert_eq!(
        (&read.inputs, &read.too_late, &read.dead_letters),
        (&of_now.inputs, &of_now.too_late, &of_now.dead_letters)
    );
    assert_eq!((read.results[0].name.as_str(), read.results.len()), ("sink", 1));
    let stored = r#"{"input": "in", "panes": "out", "too_late": null, "dead_letters": "dead"}"#;
    let read: JobStreams = serde_json::from_str(stored).expect("a document");
    let of_now = pipeline("j", "sink: {type: log, log: out}\ndead_letter_output: dead\n");
    assert_eq!(read, JobStreams::of(&of_now));
    let graph = JobStreams::of(&parse(GRAPH).expect("a pipeline").pipeline);
    let written = serde_json::to_value(&graph).expect("JSON");
    assert_eq!(serde_json::from_value::<JobStreams>(written).expect("a document"), graph);
}

#[test]
fn a_bad_name_is_refused_at_its_place() {
    let long = "x".repeat(51);
    let cases = [
        ("a b", TABLE, "job", "may not have ' '"),
        (long.as_str(), TABLE, "job", "shorten the job's name"),
        ("j", "sink: {type: log, log: in}\n", "sink.log", "its own input `in`"),
        ("j", "sink: {type: log, log: out}\nlate_side_output: out\n", "late_side_output", "is also `sink.log`"),
        ("j", TABLE, "sink.table", "may not have '/'"),
    ];
    for (job, rest, path, reason) in cases {
        // The file's own rules refuse some of these already; what is asked here is that none gets through.
        let mut named = pipeline("j", rest);
        job.clone_into(&mut named.job);
        if path == "sink.table" {
            named.sinks[0].sink = Sink::UpsertStore { table: "a/b".into(), key: vec!["k".into()] };
        }
        let refused = check_names(&named).expect_err("refused");
        assert_eq!(refused.path, path);
        assert!(refused.reason.contains(reason), "{}", refused.reason);
    }
    assert_eq!(check_names(&pipeline("clicks", TABLE)).expect("good").as_str(), "clicks");
}
