//! The same attacks against the command: `tidegate run` lives, every honest record gets its result, and the one record that
//! sets the guest off is the one dead letter, at every batch size and every time.

use serde_json::{Value, json};
use tidegate_e2e::{Finished, Folder, guest, parsed};

/// A thousand records in five windows, of which one is marked; without field declarations.
const RECORDS: usize = 1_000;
const BAD: usize = 617;

fn records() -> String {
    let record = |n: usize| {
        let mark = if n == BAD { "bad".to_owned() } else { format!("m{}", n % 7) };
        format!("{}\n", json!({"time": n * 5, "mark": mark, "n": n}))
    };
    (0..RECORDS).map(record).collect()
}

fn pipeline(hook: &str, aggregate: &str) -> String {
    format!(
        "job: evil\nversion: 1\nsource:\n  log: in\n  timestamp_field: time\n  watermark: {{strategy: bounded_out_of_orderness, max_delay: 0s}}\n\
         {hook}window: {{type: tumbling, size: 1s}}\naggregate: {{{aggregate}}}\nsink: {{type: log, log: out}}\n"
    )
}

/// A pipeline whose map hook does this.
fn mapping(config: &Value) -> String {
    let hook = format!("map: {{uid: evil, component: evil@1.0.0, config: {config}}}\nkey_by: [echo]\n");
    pipeline(&hook, "records: {fn: count}")
}

/// A pipeline whose aggregate hook does this.
fn aggregating(config: &Value) -> String {
    let aggregate = format!("records: {{fn: count}}, evil: {{component: evil@1.0.0, uid: evil, config: {config}}}");
    pipeline("key_by: [n]\n", &aggregate).replace("key_by: [n]", "key_by: [mark]")
}

fn run(folder: &Folder, batch_rows: &str) -> Finished {
    let component = format!("evil={}", guest("evil").display());
    folder.tidegate(&[
        "run",
        "pipeline.yaml",
        "--input",
        "events.ndjson",
        "--output",
        "panes.ndjson",
        "--dead-letter",
        "dead.ndjson",
        "--batch-rows",
        batch_rows,
        "--component",
        &component,
        "--allow-unsigned",
    ])
}

/// Every batch size, and the last one twice.
const ALL: &[&str] = &["1", "7", "1000", "1000"];
/// Two that differ.
const SOME: &[&str] = &["7", "1000"];
/// For deeds that differ only in what the host says of them.
const ONE: &[&str] = &["1000"];

/// Runs the pipeline at these batch sizes; returns the dead letters, which are the same every time.
fn dead_letters(pipeline: &str, sizes: &[&str]) -> Vec<Value> {
    let folder = Folder::new();
    folder.write("pipeline.yaml", pipeline);
    folder.write("events.ndjson", records());
    let mut first: Option<(Value, Vec<String>, Vec<Value>)> = None;
    for batch_rows in sizes {
        let done = run(&folder, batch_rows).success();
        done.assert_balanced();
        let mut panes: Vec<String> = folder.read("panes.ndjson").lines().map(str::to_owned).collect();
        panes.sort_unstable();
        let this = (done.summary(), panes, parsed(&folder.read("dead.ndjson")));
        if let Some(first) = &first {
            assert_eq!(&this, first, "with batches of {batch_rows}");
        }
        first = Some(this);
    }
    let (summary, panes, dead) = first.expect("there were runs");
    let counted: u64 = panes.iter().map(|pane| parsed(pane)[0]["records"].as_u64().expect("a count")).sum();
    let lines = u64::try_from(dead.len()).expect("it fits");
    assert_eq!((counted + lines, summary["rejected"].as_u64()), (1_000, Some(lines)), "{summary}");
    dead
}

/// The one dead letter that is due: of the marked record, with this reason.
fn assert_one(pipeline: &str, reason: &str, deed: &str, sizes: &[&str]) {
    let dead = dead_letters(pipeline, sizes);
    assert_eq!(dead.len(), 1, "{deed}: {dead:?}");
    assert_eq!((&dead[0]["offset"], &dead[0]["reason"]), (&json!(BAD), &json!(reason)), "{deed}: {}", dead[0]);
    assert_eq!(dead[0]["record"]["mark"], "bad", "{deed}");
    println!("{deed}: {}", dead[0]);
}

/// What a hook can do anywhere, and the reason that its record is refused for.
const DEEDS: [(&str, &str); 9] = [
    ("loop", "out-of-fuel"),
    ("memory", "out-of-fuel"),
    ("memory-trap", "trap"),
    ("fill", "out-of-fuel"),
    ("recurse", "trap"),
    ("trap", "trap"),
    ("panic", "trap"),
    ("fault", "fault"),
    ("log-flood", "out-of-fuel"),
];

/// What bends an answer, also of one row.
const BENT: [&str; 12] = [
    "offsets-start",
    "offsets-past",
    "offsets-short",
    "offsets-none",
    "offsets-rest",
    "rows-more",
    "rows-fewer",
    "columns-fewer",
    "columns-more",
    "kind",
    "presence-long",
    "utf8",
];

/// What bends the rest of a map's answer.
const BENT_ROWS: [&str; 7] = [
    "reject-range",
    "reject-twice",
    "reject-and-emit",
    "sources-range",
    "sources-short",
    "times-short",
    "presence-null",
];

fn evil(deed: &str) -> Value {
    json!({"evil": deed, "on": "bad"})
}

#[test]
fn a_map_hook_that_misbehaves_on_one_record_costs_that_record() {
    for (deed, reason) in DEEDS {
        assert_one(&mapping(&evil(deed)), reason, deed, ALL);
    }
}

#[test]
fn a_map_hook_whose_answer_is_malformed_for_one_record_costs_that_record() {
    for deed in ["offsets-past", "rows-fewer"] {
        assert_one(&mapping(&evil(deed)), "malformed-result", deed, ALL);
    }
    for deed in BENT.into_iter().chain(BENT_ROWS) {
        assert_one(&mapping(&evil(deed)), "malformed-result", deed, ONE);
    }
    // Making so much costs more fuel than there is.
    for deed in ["huge", "reject-many"] {
        assert_one(&mapping(&evil(deed)), "out-of-fuel", deed, ONE);
    }
}

#[test]
fn an_aggregate_hook_that_misbehaves_on_one_record_costs_that_record() {
    for (deed, reason) in DEEDS {
        assert_one(&aggregating(&evil(deed)), reason, deed, SOME);
    }
    assert_one(&aggregating(&evil("trap")), "trap", "trap", ALL);
    for deed in ["offsets-past", "rows-fewer", "columns-more", "kind"] {
        assert_one(&aggregating(&evil(deed)), "malformed-result", deed, SOME);
    }
}

#[test]
fn a_row_that_the_hook_rejects_is_a_dead_letter_in_its_own_words() {
    for pipeline in [mapping, aggregating] {
        assert_one(&pipeline(&evil("reject")), "evil-row", "reject", ALL);
    }
}

#[test]
fn a_hook_that_misbehaves_in_open_refuses_the_job() {
    let folder = Folder::new();
    folder.write("events.ndjson", records());
    let deeds = [("loop", "out-of-fuel"), ("memory-trap", "trap"), ("recurse", "trap"), ("fault", "evil fault")];
    let plans = [
        ("plan-twice", "names are unique"),
        ("plan-huge", "at most 1000"),
        ("plan-clash", "keep it or make it, not both"),
    ];
    for (deed, says) in deeds.into_iter().chain(plans) {
        folder.write("pipeline.yaml", mapping(&json!({"evil": deed, "in": "open"})));
        let refusal = run(&folder, "1000");
        assert!(refusal.status == 2 || refusal.status == 1, "{}", refusal.stderr);
        assert!(refusal.stderr.contains(says), "{deed}: {}", refusal.stderr);
    }
}
