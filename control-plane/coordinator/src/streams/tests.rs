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

#[test]
fn dead_letters_have_a_stream_of_the_jobs_name_where_none_is_given() {
    let streams = JobStreams::of(&pipeline("clicks", TABLE));
    assert_eq!(streams.written(), [("dead_letter_output", "clicks-dead-letters")]);
    let named = JobStreams::of(&pipeline(
        "clicks",
        "sink: {type: log, log: out}\nlate_side_output: late\ndead_letter_output: dead\n",
    ));
    assert_eq!(named.written(), [("sink.log", "out"), ("late_side_output", "late"), ("dead_letter_output", "dead")]);
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
