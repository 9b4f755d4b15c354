//! A graph on the platform: two streams joined into a table and a second sink into a stream, over HTTP and the command, with
//! the results of `tidegate run` over the same records.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tidegate_e2e::platform::{Asker, Http, Platform};
use tidegate_e2e::{Folder, parsed};

const GRAPH: &str = "job: attribution
version: 1
precedence: 3
sources:
  - name: impressions
    log: impressions
    timestamp_field: at
    watermark: {strategy: bounded_out_of_orderness, max_delay: 1h}
  - name: clicks
    log: clicks
    timestamp_field: at
    watermark: {strategy: bounded_out_of_orderness, max_delay: 1h}
operators:
  - name: attributed
    join:
      type: interval
      left: {input: impressions, key_by: [id]}
      right: {input: clicks, key_by: [id]}
      matching: left
      lower: -5s
      upper: 10m
      select: {campaign: left.campaign, id: left.id, clicked: right.at}
      late_side_output: late-pairs
  - name: per_minute
    input: attributed
    key_by: [campaign]
    window: {type: tumbling, size: 1m}
    aggregate: {shown: {fn: count}, clicked: {fn: count, field: clicked}}
    late_side_output: late-minutes
sinks:
  - {input: per_minute, type: upsert_store, table: per-minute, key: [campaign, window_start]}
  - {input: attributed, type: log, log: attributed, stamp: [version, completeness]}
";

/// Impressions, and clicks on every third of them, at times that are a little out of order.
fn events(folder: &Folder) {
    let (mut impressions, mut clicks) = (String::new(), String::new());
    for number in 0..600_i64 {
        let at = 1_792_662_060_000 + number * 1_000 - (number % 7) * 300;
        let campaign = format!("c{}", number % 5);
        impressions.push_str(&format!("{}\n", json!({"id": number, "campaign": campaign, "at": at})));
        if number % 3 == 0 {
            clicks.push_str(&format!("{}\n", json!({"id": number, "at": at + (number % 11) * 70_000})));
        }
    }
    impressions.push_str("no impression\n");
    folder.write("impressions.ndjson", impressions);
    folder.write("clicks.ndjson", clicks);
    folder.write("graph.yaml", GRAPH);
}

fn developer<'a>(platform: &Platform, folder: &'a Folder) -> Asker<'a> {
    let admin = Asker { folder, url: platform.url.clone(), token_file: platform.admin_token_file() };
    admin.must(&["tenant", "create", "acme"]);
    admin.must(&["token", "create", "acme", "--role", "developer", "--output", "acme.token"]);
    Asker { folder, url: platform.url.clone(), token_file: folder.path().join("acme.token") }
}

/// What a result says that does not depend on the order of arrival between two streams: these members.
fn members(text: &str, names: &[&str]) -> BTreeSet<String> {
    let member = |row: &Value| json!(names.iter().map(|name| row[*name].clone()).collect::<Vec<_>>()).to_string();
    let rows = parsed(text);
    let all: BTreeSet<String> = rows.iter().map(member).collect();
    assert_eq!(all.len(), rows.len(), "no two are equal");
    all
}

#[test]
fn a_deployed_graph_gives_what_a_run_over_files_gives() {
    let folder = Folder::new();
    events(&folder);
    let platform = Platform::start(&folder.path().join("data"), 0);
    let acme = developer(&platform, &folder);
    for stream in ["impressions", "clicks"] {
        acme.must(&["stream", "create", stream]);
        acme.must(&["stream", "append", stream, &format!("{stream}.ndjson")]);
        acme.must(&["stream", "seal", stream]);
    }
    acme.must(&["job", "submit", "graph.yaml"]);
    let job: Value = serde_json::from_str(&acme.must(&["job", "status", "attribution", "--watch", "--json"])).unwrap();
    assert_eq!(job["state"], "finished", "{job}");

    let inputs = ["impressions=impressions.ndjson", "clicks=clicks.ndjson"];
    let run = [
        "run",
        "graph.yaml",
        "--input",
        inputs[0],
        "--input",
        inputs[1],
        "--output",
        "per_minute=minutes.ndjson",
        "--output",
        "attributed=attributed.ndjson",
    ];
    let summary = folder.tidegate(&run).success().summary();
    for count in ["read", "forwarded", "accepted", "too_late", "rejected", "emitted", "panes"] {
        assert_eq!(job["account"][count], summary[count], "{count}: {job}");
    }
    assert_eq!((&summary["read"], &summary["rejected"], &summary["too_late"]), (&json!(801), &json!(1), &json!(0)));

    let minutes = ["campaign", "window_start", "window_end", "shown", "clicked"];
    let rows = acme.must(&["table", "rows", "per-minute", "--limit", "100000", "--json"]);
    assert_eq!(members(&rows, &minutes), members(&folder.read("minutes.ndjson"), &minutes));
    let pairs = ["campaign", "id", "clicked", "time", "completeness"];
    let records = records(&acme, "attributed");
    let expected = members(&folder.read("attributed.ndjson"), &pairs);
    assert_eq!((members(&records, &pairs), expected.len()), (expected.clone(), 600));
    assert!(parsed(&records).iter().all(|pair| pair["version"]["precedence"] == 3));
    assert_eq!(parsed(&acme.must(&["stream", "read", "attribution-dead-letters"])).len(), 1);

    shown_in_full(&platform, &acme, &job);
}

/// The records of a stream's one partition, a line each.
fn records(acme: &Asker<'_>, stream: &str) -> String {
    let read = parsed(&acme.must(&["stream", "read", stream]));
    read.iter().map(|line| format!("{}\n", line["record"])).collect()
}

/// The API tells every input and output, and refuses an output that is an input.
fn shown_in_full(platform: &Platform, acme: &Asker<'_>, job: &Value) {
    let read = json!({"records": 0, "age_ms": 0});
    assert_eq!(
        job["sources"],
        json!([{"name": "impressions", "stream": "impressions", "lag": read},
            {"name": "clicks", "stream": "clicks", "lag": read}])
    );
    assert_eq!(
        job["sinks"],
        json!([{"name": "per_minute", "stream": null, "table": "per-minute"},
            {"name": "attributed", "stream": "attributed", "table": null}])
    );
    assert_eq!(
        job["late_outputs"],
        json!([{"operator": "attributed", "stream": "late-pairs"}, {"operator": "per_minute", "stream": "late-minutes"}])
    );
    assert_eq!(
        (&job["table"], &job["streams"]),
        (
            &json!("per-minute"),
            &json!({"input": "impressions", "panes": "attributed", "too_late": "late-pairs",
                "dead_letters": "attribution-dead-letters"})
        )
    );
    let shown = acme.must(&["job", "status", "attribution"]);
    assert!(shown.contains("late-pairs, late-minutes") && shown.contains("per-minute"), "{shown}");
    let token = std::fs::read_to_string(&acme.token_file).expect("the token file is there");
    let http = Http::new(&platform.url, token.trim());
    let submit = |text: &str| http.post("/v1/jobs", &[("content-type", "application/yaml")], text).expect("an answer");
    let edited = GRAPH.replace("job: attribution", "job: other");
    let (status, answer) = submit(&edited.replace("late_side_output: late-minutes", "late_side_output: clicks"));
    assert!(status == 422 || status == 400, "{status}: {answer}");
    let problem: Value = serde_json::from_str(&answer).expect("a problem is JSON");
    assert_eq!((&problem["path"], &problem["line"]), (&json!("operators[1].late_side_output"), &json!(29)), "{answer}");
}
