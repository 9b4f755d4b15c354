//! What `tidegate run` does with its flags, its streams and its exit status.

use tidegate_e2e::{Folder, by_key, parsed};

const PIPELINE: &str = "
job: counts
version: 1
source: {log: events, timestamp_field: t, watermark: {strategy: ascending}}
key_by: [k]
window: {type: tumbling, size: 10ms}
aggregate: {n: {fn: count}}
sink: {type: log, log: out}
";

const EVENTS: &str =
    "{\"k\":\"a\",\"t\":1}\n{\"k\":\"b\",\"t\":2}\n\n{\"k\":\"a\",\"t\":12}\nnot json\n{\"k\":\"a\",\"t\":3}\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("pipeline.yaml", PIPELINE);
    folder.write("events.ndjson", EVENTS);
    folder
}

/// `tidegate run pipeline.yaml` with these arguments, separated by spaces.
fn run(folder: &Folder, args: &str) -> tidegate_e2e::Finished {
    let args: Vec<&str> = ["run", "pipeline.yaml"].into_iter().chain(args.split_whitespace()).collect();
    folder.tidegate(&args)
}

#[test]
fn panes_go_to_standard_output_and_the_summary_is_the_last_line_on_standard_error() {
    let done = run(&folder(), "--input events.ndjson").success();
    let expected = [
        "{\"k\":\"a\",\"window_start\":\"1970-01-01T00:00:00Z\",\"window_end\":\"1970-01-01T00:00:00.010Z\",\"n\":1,\
         \"pane\":{\"timing\":\"ON_TIME\",\"index\":0,\"is_last\":true},\"watermark\":\"1970-01-01T00:00:00.012Z\"}",
        "{\"k\":\"a\",\"window_start\":\"1970-01-01T00:00:00.010Z\",\"window_end\":\"1970-01-01T00:00:00.020Z\",\"n\":1,\
         \"pane\":{\"timing\":\"ON_TIME\",\"index\":0,\"is_last\":true},\"watermark\":null}",
    ];
    let panes = by_key(&done.stdout, &["k"]);
    let compact: Vec<String> = parsed(&panes["[\"a\"]"].join("\n")).iter().map(ToString::to_string).collect();
    let expected: Vec<String> = parsed(&expected.join("\n")).iter().map(ToString::to_string).collect();
    assert_eq!(compact, expected);
    assert_eq!(
        done.stderr,
        "{\"read\":5,\"expanded\":0,\"accepted\":3,\"filtered\":0,\"too_late\":1,\"duplicate\":0,\"rejected\":1,\
         \"partly_late\":0,\"unshown\":0,\"panes\":{\"EARLY\":0,\"ON_TIME\":3,\"LATE\":0},\"retractions\":0}\n"
    );
    done.assert_balanced();
}

#[test]
fn side_outputs_say_reason_partition_offset_and_record() {
    let folder = folder();
    run(&folder, "--input events.ndjson --output p --too-late late --dead-letter dead --duplicates dups").success();
    let late = parsed(&folder.read("late"));
    assert_eq!(late.len(), 1);
    assert_eq!(
        (&late[0]["reason"], &late[0]["partition"], &late[0]["offset"]),
        (&"too-late".into(), &0.into(), &5.into())
    );
    assert_eq!(late[0]["record"], parsed("{\"k\":\"a\",\"t\":3}")[0]);
    let dead = parsed(&folder.read("dead"));
    assert_eq!(
        (&dead[0]["reason"], &dead[0]["offset"], &dead[0]["record"]),
        (&"malformed".into(), &4.into(), &"not json".into())
    );
    assert_eq!(folder.read("dups"), "");
}

#[test]
fn standard_input_and_output_are_a_dash() {
    let folder = folder();
    let from_file = run(&folder, "--input events.ndjson --output -").success();
    let from_stdin = folder.tidegate_reading(&["run", "pipeline.yaml", "--input", "-"], EVENTS).success();
    assert_eq!(from_file.stdout, from_stdin.stdout);
    assert_eq!(from_file.stderr, from_stdin.stderr);
    let late = run(&folder, "--input events.ndjson --output panes --too-late -").success();
    assert_eq!(parsed(&late.stdout).len(), 1);
}

#[test]
fn empty_input_is_a_run_without_panes() {
    let folder = folder();
    let done = folder.tidegate_reading(&["run", "pipeline.yaml", "--input", "-"], "").success();
    assert_eq!((done.stdout.as_str(), done.count("read")), ("", 0));
}

#[test]
fn several_inputs_are_a_partition_each() {
    let folder = folder();
    folder.write("one.ndjson", "{\"k\":\"a\",\"t\":1}\n{\"k\":\"a\",\"t\":100}\n{\"k\":\"a\",\"t\":101}\n");
    folder.write("two.ndjson", "{\"k\":\"a\",\"t\":2}\n{\"k\":\"a\",\"t\":3}\n\"odd\"\n{\"k\":\"a\",\"t\":4}\n");
    let done = run(&folder, "--input one.ndjson --input two.ndjson --dead-letter dead").success();
    // One partition's progress does not make the other's records late: lines are read in turn.
    assert_eq!((done.count("read"), done.count("accepted"), done.count("too_late")), (7, 6, 0));
    let first = &parsed(&done.stdout)[0];
    assert_eq!(first["n"], 4);
    let dead = parsed(&folder.read("dead"));
    assert_eq!((&dead[0]["partition"], &dead[0]["offset"], &dead[0]["record"]), (&1.into(), &2.into(), &"odd".into()));
}

#[test]
fn several_inputs_are_merged_by_arrival() {
    let folder = folder();
    folder.write("one.ndjson", "{\"k\":\"a\",\"t\":1,\"at\":10}\n{\"k\":\"a\",\"t\":20,\"at\":30}\n");
    folder.write("two.ndjson", "{\"k\":\"a\",\"t\":25,\"at\":20}\n{\"k\":\"a\",\"t\":2,\"at\":40}\n");
    let done = run(&folder, "--input one.ndjson --input two.ndjson --arrival-field at --too-late late").success();
    assert_eq!(done.count("too_late"), 1);
    assert_eq!(parsed(&folder.read("late"))[0]["record"]["t"], 2);
}

#[test]
fn what_is_wrong_with_the_pipeline_is_said_in_one_line_with_path_and_line() {
    let folder = folder();
    for (from, to, said) in [
        ("size: 10ms", "size: 10", "pipeline.yaml: invalid-pipeline: window.size (line 6): "),
        ("key_by", "keyby", "(line 5): "),
        ("10ms}", "10ms, slide: 20ms}", "pipeline.yaml: invalid-pipeline: window.slide (line 6): "),
        (
            "tumbling, size: 10ms",
            "sliding, size: 10ms, slide: 20ms",
            "pipeline.yaml: invalid-pipeline: window.slide (line 6): ",
        ),
        ("{log: events", "{format: avro, log: events", "pipeline.yaml: unsupported: source.format (line 4): "),
        ("job: counts", "job: [", "pipeline.yaml: invalid-pipeline: "),
    ] {
        let wrong = PIPELINE.replace(from, to);
        assert_ne!(wrong, PIPELINE);
        folder.write("pipeline.yaml", wrong);
        let done = run(&folder, "--input events.ndjson --output panes");
        assert!(done.refusal().contains(said), "{to}: {}", done.stderr);
        assert!(!folder.path().join("panes").exists(), "nothing is written");
    }
}

#[test]
fn a_wrong_flag_is_said_in_one_line_and_nothing_is_written() {
    let folder = folder();
    folder.write("hooked.yaml", PIPELINE.replace("key_by", "map: {component: m@1.0.0}\nkey_by"));
    folder.write("hook.wasm", "\0asm\x01\0\0\0");
    for (args, said) in [
        ("run pipeline.yaml", "--input"),
        ("run none.yaml --input events.ndjson", "none.yaml: "),
        ("run pipeline.yaml --input none.ndjson", "--input none.ndjson: "),
        ("run pipeline.yaml --input .", "--input .: is a directory"),
        ("run pipeline.yaml --input - --input -", "standard input can be read only once"),
        ("run pipeline.yaml --input - --partition-field k", "--partition-field: "),
        ("run pipeline.yaml --input events.ndjson --input pipeline.yaml --partition-field k", "--partition-field: "),
        (
            "run pipeline.yaml --input events.ndjson --output events.ndjson",
            "--output events.ndjson: is also an --input",
        ),
        ("run pipeline.yaml --input events.ndjson --output ./pipeline.yaml", "is also the pipeline file"),
        ("run pipeline.yaml --input events.ndjson --output o --too-late o", "--too-late o: is also --output"),
        ("run pipeline.yaml --input events.ndjson --too-late -", "--too-late -: panes go to standard output"),
        ("run pipeline.yaml --input events.ndjson --output none/o", "--output none/o: cannot be written to"),
        ("run pipeline.yaml --input events.ndjson --batch-rows 0", "--batch-rows"),
        ("run pipeline.yaml --input events.ndjson --parallelism 0", "--parallelism"),
        ("run pipeline.yaml --input events.ndjson --colour", "--colour"),
        ("run pipeline.yaml --input - --live --live-seconds 5", "--live-seconds: needs inputs of a known size"),
        (
            "run pipeline.yaml --input events.ndjson --component m=hook.wasm",
            "--component m: no hook of the pipeline uses it",
        ),
        ("run hooked.yaml --input events.ndjson", "map.component (line 5): no file is given for `m@1.0.0`"),
        ("run hooked.yaml --input events.ndjson --component m=hook.wasm", "--allow-unsigned"),
        ("run hooked.yaml --input events.ndjson --component m=none.wasm --allow-unsigned", "--component m=none.wasm: "),
        ("run hooked.yaml --input events.ndjson --component m=hook.wasm --allow-unsigned", "--component m=hook.wasm: "),
        ("run hooked.yaml --input events.ndjson --component m --allow-unsigned", "write NAME=FILE.wasm"),
        ("check none.yaml", "none.yaml: "),
        ("frobnicate", "frobnicate"),
    ] {
        let done = folder.tidegate(&args.split_whitespace().collect::<Vec<_>>());
        assert!(done.refusal().contains(said), "{args}: {}", done.stderr);
        assert!(!folder.path().join("o").exists(), "{args}: nothing is written");
    }
    assert_eq!(folder.read("events.ndjson"), EVENTS);
}

#[test]
fn a_disk_that_is_full_is_status_one() {
    let done = run(&folder(), "--input events.ndjson --output /dev/full");
    assert_eq!(done.status, 1, "{}", done.stderr);
    assert!(done.stderr.starts_with("error: /dev/full: cannot be written to"), "{}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
}

#[test]
fn more_tasks_than_may_share_the_work_are_not_started() {
    let folder = folder();
    folder.write("bounded.yaml", format!("{PIPELINE}parallelism: 2\nmax_parallelism: 4\n"));
    folder.write("wide.yaml", format!("{PIPELINE}parallelism: 100\n"));
    let plain = run(&folder, "--input events.ndjson").success();
    for (args, said) in [
        ("run bounded.yaml --input events.ndjson", None),
        (
            "run bounded.yaml --input events.ndjson --parallelism 5",
            Some("--parallelism: 4 tasks at most share the work, as the pipeline's `max_parallelism` says; not 5"),
        ),
        (
            "run pipeline.yaml --input events.ndjson --parallelism 65",
            Some("--parallelism: 64 tasks at most share the work, in one process; not 65"),
        ),
        ("run wide.yaml --input events.ndjson", Some("parallelism: 64 tasks at most share the work, in one process")),
        ("run wide.yaml --input events.ndjson --parallelism 64", None),
    ] {
        let done = folder.tidegate(&args.split_whitespace().collect::<Vec<_>>()).success();
        done.assert_balanced();
        assert_eq!(done.summary(), plain.summary(), "{args}");
        assert_eq!(done.stderr.contains("warning:"), said.is_some(), "{args}: {}", done.stderr);
        assert!(said.is_none_or(|said| done.stderr.contains(said)), "{args}: {}", done.stderr);
    }
}

#[test]
fn a_run_that_is_refused_leaves_all_outputs_as_they_were() {
    let folder = folder();
    folder.write("kept", "kept");
    for refused in ["--too-late none/o", "--report .", "--dead-letter none/o --duplicates new"] {
        let done = run(&folder, &format!("--input events.ndjson --output kept {refused}"));
        assert!(done.refusal().contains("none/o: cannot be written to") || refused.contains("report"), "{refused}");
        assert_eq!(folder.read("kept"), "kept", "{refused}");
        assert!(!folder.path().join("new").exists(), "{refused}");
    }
    run(&folder, "--input events.ndjson --output kept").success();
    assert!(folder.read("kept").starts_with("{\"k\":"), "{}", folder.read("kept"));
}

#[test]
fn a_run_whose_reader_leaves_sums_up_what_it_did() {
    let folder = folder();
    let done = folder.tidegate_into_closed(&["run", "pipeline.yaml", "--input", "events.ndjson"]);
    assert_eq!(done.status, 1, "{}", done.stderr);
    let lines: Vec<&str> = done.stderr.lines().collect();
    assert!(lines[0].starts_with("warning: standard output: closed by its reader"), "{}", done.stderr);
    assert_eq!(lines.len(), 2, "{}", done.stderr);
    assert_eq!(done.summary()["read"], 5, "{}", done.stderr);
}

#[test]
fn watching_changes_no_output() {
    let folder = folder();
    let plain = run(&folder, "--input events.ndjson").success();
    let watched = run(&folder, "--input events.ndjson --live --live-seconds 1").success();
    assert_eq!(watched.stdout, plain.stdout);
    assert_eq!(watched.summary(), plain.summary());
    assert!(!watched.stderr.contains('\u{1b}'), "no terminal, no escape codes: {}", watched.stderr);
    assert!(watched.stderr.contains("5 records"), "{}", watched.stderr);
}

#[test]
fn text_from_records_moves_no_terminal() {
    let folder = folder();
    let record = "{\"k\":\"\\u001b[2J\\u009b\",\"t\":1}\n";
    folder.write("events.ndjson", record);
    let done = run(&folder, "--input events.ndjson --live").success();
    assert!(!done.stderr.chars().any(|c| c.is_control() && c != '\n'), "{:?}", done.stderr);
}

#[test]
fn check_explains_a_pipeline_and_schema_prints_one() {
    let folder = folder();
    let done = folder.tidegate(&["check", "pipeline.yaml"]).success();
    assert!(done.stdout.starts_with("counts, version 1: sound\n"), "{}", done.stdout);
    let schema = folder.tidegate(&["schema"]).success();
    let schema: serde_json::Value = serde_json::from_str(&schema.stdout).unwrap();
    assert_eq!(schema["title"], "Tidegate pipeline");
    let script = folder.tidegate(&["completions", "bash"]).success();
    assert!(script.stdout.contains("--partition-field"));
}

#[test]
fn help_and_version_are_on_standard_output() {
    let folder = folder();
    let help = folder.tidegate(&["run", "--help"]).success();
    assert!(help.stdout.contains("--allow-unsigned") && help.stderr.is_empty(), "{}", help.stdout);
    assert!(folder.tidegate(&["--version"]).success().stdout.starts_with("tidegate "));
}
