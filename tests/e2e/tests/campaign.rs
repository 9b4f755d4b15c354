//! The pipeline of the specification's section 4.2, as it stands there, on ad events.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tidegate_e2e::ads::Ads;
use tidegate_e2e::{Finished, Folder, by_key, last_per_window, parsed};

/// The file of section 4.2, unchanged.
const PIPELINE: &str = include_str!("../data/campaign-metrics.yaml");
const KEY: [&str; 2] = ["campaign_id", "country"];
const SEED: u64 = 42;
const EVENTS: u64 = 12_000;

/// The same with every field declared.
fn declared() -> String {
    let schema =
        "{campaign_id: text, country: text?, event_id: text, impressions: int?, clicks: int?, spend_micros: int?}";
    let after = "  timestamp_field: event_time\n";
    let declared = PIPELINE.replace(after, &format!("{after}  schema: {schema}\n"));
    assert_ne!(declared, PIPELINE);
    declared
}

/// A folder with the pipelines and the stream of [`SEED`].
fn prepared(ads: &Ads) -> Folder {
    println!("seed {SEED}");
    let folder = Folder::new();
    folder.write("pipeline.yaml", PIPELINE);
    folder.write("declared.yaml", declared());
    folder.write("events.ndjson", ads.text());
    folder
}

fn run(folder: &Folder, pipeline: &str, more: &[&str]) -> Finished {
    let args = [
        "run",
        pipeline,
        "--input",
        "events.ndjson",
        "--arrival-field",
        "arrival",
        "--partition-field",
        "shard",
        "--output",
        "panes.ndjson",
        "--too-late",
        "late.ndjson",
        "--dead-letter",
        "dead.ndjson",
        "--duplicates",
        "dups.ndjson",
    ];
    let done = folder.tidegate(&[&args, more].concat()).success();
    done.assert_balanced();
    done
}

/// Everything that a run put out, as far as its order is fixed.
fn everything(folder: &Folder, pipeline: &str, more: &[&str]) -> (Value, BTreeMap<String, Vec<String>>, Vec<String>) {
    let done = run(folder, pipeline, more);
    let panes = by_key(&folder.read("panes.ndjson"), &KEY);
    let sides = ["late.ndjson", "dead.ndjson", "dups.ndjson"].map(|file| folder.read(file)).concat();
    let mut sides: Vec<String> = sides.lines().map(str::to_owned).collect();
    sides.sort_unstable();
    (done.summary(), panes, sides)
}

#[test]
fn every_event_is_where_it_belongs() {
    let ads = Ads::generate(SEED, EVENTS);
    let folder = prepared(&ads);
    let done = run(&folder, "pipeline.yaml", &[]);
    assert!(
        ads.malformed > 10 && ads.repeated > 50 && ads.far_too_late > 3 && ads.late > 10,
        "the stream has all kinds: {ads:?}"
    );
    let counts = ["read", "rejected", "duplicate", "too_late", "unshown"].map(|key| done.count(key));
    let lines = u64::try_from(ads.lines.len()).unwrap();
    assert_eq!(counts, [lines, ads.malformed, ads.repeated, ads.far_too_late, 0]);
    for (file, count, reasons) in [
        ("dead.ndjson", ads.malformed, ["malformed", "bad-time"].as_slice()),
        ("dups.ndjson", ads.repeated, &["duplicate"]),
        ("late.ndjson", ads.far_too_late, &["too-late"]),
    ] {
        let side = parsed(&folder.read(file));
        assert_eq!(u64::try_from(side.len()).unwrap(), count, "{file}");
        for line in &side {
            assert!(reasons.contains(&line["reason"].as_str().unwrap()), "{file}: {line}");
            let offset = usize::try_from(line["offset"].as_u64().unwrap()).unwrap();
            let sent = &ads.lines[offset];
            let record = serde_json::from_str(sent).unwrap_or_else(|_| json!(sent));
            assert_eq!(line["record"], record, "{file}: the record as it was sent");
            assert_eq!(line["partition"], record["shard"], "{file}");
        }
    }
}

#[test]
fn last_panes_are_a_batch_computation_of_what_was_accepted() {
    let ads = Ads::generate(SEED, EVENTS);
    let folder = prepared(&ads);
    run(&folder, "pipeline.yaml", &[]);
    let side = |file: &str| parsed(&folder.read(file)).into_iter().map(|line| line["offset"].as_u64().unwrap());
    let gone: Vec<u64> = ["late.ndjson", "dead.ndjson", "dups.ndjson"].into_iter().flat_map(side).collect();
    let mut expected: BTreeMap<String, (u64, u64, Option<u64>)> = BTreeMap::new();
    for (_, line) in (0..).zip(&ads.lines).filter(|(offset, _)| !gone.contains(offset)) {
        let event: Value = serde_json::from_str(line).unwrap();
        let minute = match &event["event_time"] {
            Value::String(text) => text[..16].to_owned(),
            number => minute(number.as_u64().unwrap()),
        };
        let row = expected.entry(json!([event["campaign_id"], event["country"], minute]).to_string()).or_default();
        row.0 += u64::from(!event["impressions"].is_null());
        row.1 += u64::from(!event["clicks"].is_null());
        row.2 = event["spend_micros"].as_u64().map_or(row.2, |spend| Some(row.2.unwrap_or(0) + spend));
    }
    let panes = last_per_window(&folder.read("panes.ndjson"), &KEY);
    let count = |pane: &Value, field: &str| pane[field].as_u64();
    let last = panes.values().map(|pane| {
        let minute = &pane["window_start"].as_str().unwrap()[..16];
        let key = json!([pane["campaign_id"], pane["country"], minute]).to_string();
        (key, (count(pane, "impressions").unwrap(), count(pane, "clicks").unwrap(), count(pane, "spend_micros")))
    });
    assert_eq!(last.collect::<BTreeMap<_, _>>(), expected);
}

/// A time of 2026-10-22 to the minute.
fn minute(time: u64) -> String {
    format!("2026-10-22T{:02}:{:02}", time / 3_600_000 % 24, time / 60_000 % 60)
}

#[test]
fn panes_come_early_on_time_and_late() {
    let ads = Ads::generate(SEED, EVENTS);
    let folder = prepared(&ads);
    let done = run(&folder, "pipeline.yaml", &[]);
    let panes = parsed(&folder.read("panes.ndjson"));
    for timing in ["EARLY", "ON_TIME", "LATE"] {
        let shown = panes.iter().filter(|pane| pane["pane"]["timing"] == timing).count();
        assert_eq!(u64::try_from(shown).unwrap(), done.count(&format!("panes.{timing}")), "{timing}");
    }
    assert!(done.count("panes.EARLY") > 0 && done.count("panes.ON_TIME") > 0);
    // Each late record is shown at once.
    assert_eq!(done.count("panes.LATE"), ads.late);
    for (key, lines) in by_key(&folder.read("panes.ndjson"), &["campaign_id", "country", "window_start"]) {
        let indexes: Vec<u64> =
            parsed(&lines.join("\n")).iter().map(|pane| pane["pane"]["index"].as_u64().unwrap()).collect();
        assert_eq!(indexes, (0..u64::try_from(lines.len()).unwrap()).collect::<Vec<_>>(), "{key}");
    }
}

#[test]
fn declared_fields_give_the_same_output() {
    let folder = prepared(&Ads::generate(SEED, EVENTS));
    assert_eq!(everything(&folder, "pipeline.yaml", &[]), everything(&folder, "declared.yaml", &[]));
}

#[test]
fn batches_cut_anywhere_give_the_same_output() {
    let folder = prepared(&Ads::generate(SEED, 4_000));
    let whole = everything(&folder, "pipeline.yaml", &[]);
    for rows in ["1", "7", "1000"] {
        assert_eq!(everything(&folder, "pipeline.yaml", &["--batch-rows", rows]), whole, "--batch-rows {rows}");
    }
}

#[test]
fn any_number_of_tasks_gives_the_same_output() {
    let folder = prepared(&Ads::generate(SEED, 4_000));
    let one = everything(&folder, "pipeline.yaml", &[]);
    for tasks in ["2", "5", "64"] {
        assert_eq!(
            everything(&folder, "pipeline.yaml", &["--parallelism", tasks, "--batch-rows", "50"]),
            one,
            "{tasks} tasks"
        );
    }
}

#[test]
fn the_file_is_accepted_with_what_it_should_know() {
    let folder = prepared(&Ads::generate(SEED, 100));
    let done = run(&folder, "pipeline.yaml", &[]);
    let warnings: Vec<&str> = done.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert!(warnings.iter().any(|line| line.contains("checkpoint.unaligned_after (line 27): ")), "{warnings:?}");
    assert!(warnings.iter().any(|line| line.contains("dedup.horizon (line 21): ")), "{warnings:?}");
    assert_eq!(done.stderr.lines().count(), warnings.len() + 1, "warnings, then the summary: {}", done.stderr);
}
