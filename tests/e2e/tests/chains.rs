//! A window over the panes of another, for each accumulation: what comes of the chain equals what the records say.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;
use tidegate_e2e::{Chance, Folder, guest, parsed};

/// Speeds that change no output.
const SPEEDS: [&[&str]; 4] =
    [&["--batch-rows", "1"], &["--batch-rows", "7", "--parallelism", "3"], &["--parallelism", "2"], &[]];

/// Clicks by user, up to 4 s out of order.
struct Click {
    at: i64,
    user: u64,
    cents: i64,
}

fn clicks(seed: u64) -> Vec<Click> {
    let mut chance = Chance::of_seed(seed);
    let mut below = |n: u64| chance.below(n);
    let signed = |n: u64| i64::try_from(n).expect("small");
    (0..600)
        .map(|second| Click {
            at: (second * 500 - signed(below(4_000))).max(0),
            user: below(7),
            cents: signed(below(1_000)) - 300,
        })
        .collect()
}

fn lines(clicks: &[Click]) -> String {
    let mut text = String::new();
    for (arrival, Click { at, user, cents }) in clicks.iter().enumerate() {
        writeln!(text, r#"{{"at":{at},"seen":{},"user":"u{user}","cents":{cents}}}"#, arrival * 500)
            .expect("a String takes everything");
    }
    text
}

/// Users' clicks by 10 s, and all users' by minute over those. `first`: what the first window says besides.
fn pipeline(first: &str, lateness: &str) -> String {
    format!(
        "job: chain
version: 1
sources:
  - {{name: clicks, log: clicks, timestamp_field: at, watermark: {{strategy: bounded_out_of_orderness, max_delay: 1s}}}}
operators:
  - name: by_user
    input: clicks
    key_by: [user]
    window: {{type: tumbling, size: 10s{lateness}}}
    aggregate: {{clicks: {{fn: count}}, cents: sum}}
{first}  - name: by_minute
    input: by_user
    key_by: []
    window: {{type: tumbling, size: 1m, allowed_lateness: 1m}}
    aggregate: {{clicks: sum, cents: sum, mean: {{fn: avg, field: cents}}, users: {{fn: count_distinct, field: user}}, panes: {{fn: count}}}}
sinks:
  - {{input: by_minute, type: log, log: out}}
"
    )
}

/// The last pane of each minute, by its start. Checks that no speed changes anything.
fn last_panes(pipeline: &str, input: &str) -> BTreeMap<String, Value> {
    let folder = Folder::new();
    folder.write("pipeline.yaml", pipeline);
    folder.write("clicks.ndjson", input);
    let run = |speed: &[&str]| {
        let flags = [
            "run",
            "pipeline.yaml",
            "--input",
            "clicks=clicks.ndjson",
            "--arrival-field",
            "seen",
            "--output",
            "out.ndjson",
        ];
        let done = folder.tidegate(&[&flags[..], speed].concat()).success();
        (done.summary(), folder.read("out.ndjson"))
    };
    let (summary, output) = run(SPEEDS[0]);
    for speed in &SPEEDS[1..] {
        assert_eq!(run(speed), (summary.clone(), output.clone()), "{speed:?}");
    }
    let count = |name: &str| summary[name].as_u64().expect("a count");
    let ended = ["accepted", "filtered", "too_late", "duplicate", "rejected"].map(count).iter().sum::<u64>();
    assert_eq!(count("read") + count("expanded") + count("forwarded"), ended, "{summary}");
    let mut last = BTreeMap::new();
    for pane in parsed(&output) {
        last.insert(pane["window_start"].as_str().expect("a time").to_owned(), pane);
    }
    last
}

/// What each minute holds: clicks, cents, by 10 s and user.
type Minutes = BTreeMap<i64, BTreeMap<(i64, u64), (i64, i64)>>;

fn minutes<'a>(clicks: impl Iterator<Item = &'a Click>) -> Minutes {
    let mut minutes = Minutes::new();
    for click in clicks {
        let cell = minutes.entry(click.at.div_euclid(60_000)).or_default();
        let (count, cents) = cell.entry((click.at.div_euclid(10_000), click.user)).or_default();
        *count += 1;
        *cents += click.cents;
    }
    minutes
}

fn check(last: &BTreeMap<String, Value>, minutes: &Minutes, panes: bool) {
    assert_eq!(last.len(), minutes.len());
    for (pane, (minute, cells)) in last.values().zip(minutes) {
        let sum = |of: fn(&(i64, i64)) -> i64| cells.values().map(of).sum::<i64>();
        assert_eq!(pane["clicks"], sum(|cell| cell.0), "minute {minute}: {pane}");
        assert_eq!(pane["cents"], sum(|cell| cell.1), "minute {minute}: {pane}");
        if panes {
            let users: std::collections::BTreeSet<u64> = cells.keys().map(|(_, user)| *user).collect();
            assert_eq!(pane["users"], users.len(), "minute {minute}: {pane}");
            assert_eq!(pane["panes"], cells.len(), "minute {minute}: {pane}");
            let count = i32::try_from(cells.len()).expect("few");
            let cents = i32::try_from(sum(|cell| cell.1)).expect("small");
            assert_eq!(pane["mean"], f64::from(cents) / f64::from(count), "minute {minute}: {pane}");
        }
    }
}

/// Records that are late for their 10 s at their arrival, for a window that takes none.
fn on_time(clicks: &[Click]) -> Vec<&Click> {
    let mut newest = i64::MIN;
    let mut kept = Vec::new();
    for click in clicks {
        let end = (click.at.div_euclid(10_000) + 1) * 10_000;
        if newest == i64::MIN || newest - 1_000 < end {
            kept.push(click);
        }
        newest = newest.max(click.at);
    }
    kept
}

#[test]
fn windows_that_fire_once_feed_another() {
    let clicks = clicks(1);
    let last = last_panes(&pipeline("", ""), &lines(&clicks));
    let kept = on_time(&clicks);
    assert!(kept.len() < clicks.len(), "some are late");
    check(&last, &minutes(kept.into_iter()), true);
}

#[test]
fn discarding_panes_add_up() {
    let clicks = clicks(2);
    let first = "    accumulation: discarding\n    trigger: {early: every 2 elements}\n";
    let last = last_panes(&pipeline(first, ", allowed_lateness: 30s"), &lines(&clicks));
    check(&last, &minutes(clicks.iter()), false);
}

#[test]
fn retractions_take_earlier_panes_back() {
    let clicks = clicks(3);
    let first = "    accumulation: accumulating_and_retracting\n    trigger: {early: every 3s processing_time}\n";
    let last = last_panes(&pipeline(first, ", allowed_lateness: 30s"), &lines(&clicks));
    check(&last, &minutes(clicks.iter()), true);
}

#[test]
fn accumulating_panes_that_come_again_feed_nothing() {
    let folder = Folder::new();
    folder.write("pipeline.yaml", pipeline("    trigger: {early: every 2 elements}\n", ""));
    folder.write("clicks.ndjson", "");
    let refused = folder.tidegate(&["run", "pipeline.yaml", "--input", "clicks.ndjson"]);
    assert_eq!(refused.status, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("operators[0].accumulation"), "{}", refused.stderr);
    assert!(refused.stderr.contains("by_minute"), "it names the consumer: {}", refused.stderr);
}

/// A window and a join that also reads what the window read: each record leads to about a hundred rows.
const DIAMOND: &str = "job: diamond
version: 1
sources:
  - {name: s, log: s, timestamp_field: at, watermark: {strategy: bounded_out_of_orderness, max_delay: 1s}}
operators:
  - name: seen
    input: s
    key_by: [user]
    window: {type: sliding, size: 40s, slide: 400ms}
    aggregate: {clicks: {fn: count}, cents: sum}
  - name: pairs
    join:
      type: interval
      left: {input: s, key_by: [user]}
      right: {input: seen, key_by: [user]}
      matching: full
      lower: -20s
      upper: 20s
      select: {cents: left.cents, clicks: right.clicks, ended: right.window_end}
  - name: by_cents
    input: pairs
    key_by: [cents]
    window: {type: tumbling, size: 20s}
    aggregate: {pairs: {fn: count}, clicks: sum, first: {fn: first, field: ended}, last: {fn: last, field: ended}}
  - name: all
    input: by_cents
    key_by: []
    window: {type: tumbling, size: 1m}
    aggregate: {pairs: sum, clicks: sum}
sinks:
  - {input: by_cents, type: log, log: by-cents}
  - {input: all, type: log, log: all}
";

#[test]
fn two_ways_to_one_operator_give_the_same_at_every_speed() {
    let folder = Folder::new();
    folder.write("pipeline.yaml", DIAMOND);
    let clicks: Vec<Click> = clicks(4).into_iter().map(|click| Click { cents: click.cents % 7, ..click }).collect();
    folder.write("clicks.ndjson", lines(&clicks));
    let run = |speed: &[&str]| {
        let flags = ["run", "pipeline.yaml", "--input", "clicks.ndjson", "--arrival-field", "seen"];
        let files = ["--output", "by_cents=by-cents.ndjson", "--output", "all=all.ndjson"];
        let done = folder.tidegate(&[&flags[..], &files, speed].concat()).success();
        let mut by_cents: Vec<String> = folder.read("by-cents.ndjson").lines().map(str::to_owned).collect();
        by_cents.sort();
        (done.summary(), by_cents, folder.read("all.ndjson"))
    };
    let expected = run(SPEEDS[0]);
    assert!(expected.0["forwarded"].as_u64() > Some(20_000), "few rows go on: {}", expected.0);
    for speed in &SPEEDS[1..] {
        assert_eq!(run(speed), expected, "{speed:?}");
    }
}

#[test]
fn a_sum_beyond_the_floats_is_null_for_the_operator_behind() {
    let folder = Folder::new();
    let aggregate = "aggregate: {clicks: {fn: count, field: cents}, cents: sum, mean: {fn: avg, field: cents}, users: {fn: count_distinct, field: cents}, panes: {fn: count}}";
    let text = pipeline("", "");
    let (first, last) = text.split_at(text.find("  - name: by_minute").expect("an operator"));
    let rest = last.find("    aggregate").expect("aggregates");
    let sinks = last.find("sinks:").expect("sinks");
    folder.write("pipeline.yaml", format!("{first}{}    {aggregate}\n{}", &last[..rest], &last[sinks..]));
    let records = [("a", 0, "1e308"), ("a", 1, "1e308"), ("b", 2, "5.0")];
    let line =
        |(user, at, cents): (&str, i64, &str)| format!("{{\"at\":{at},\"user\":\"{user}\",\"cents\":{cents}}}\n");
    folder.write("clicks.ndjson", records.map(line).concat());
    let done = folder.tidegate(&["run", "pipeline.yaml", "--input", "clicks.ndjson", "--output", "out.ndjson"]);
    done.success();
    let pane = parsed(&folder.read("out.ndjson")).remove(0);
    let values = ["clicks", "cents", "mean", "users", "panes"].map(|name| pane[name].to_string());
    assert_eq!(values, ["1", "5.0", "5.0", "1", "2"], "{pane}");
}

#[test]
fn a_hook_behind_a_window_reads_null_where_panes_have_no_field() {
    let folder = Folder::new();
    let text = pipeline("", "");
    let chain = &text[..text.find("  - name: by_minute").expect("an operator")];
    folder.write(
        "pipeline.yaml",
        format!(
            "{chain}  - {{name: counts, input: by_user, key_by: [user], process: {{component: scripted}}}}\n\
             sinks:\n  - {{input: counts, type: log, log: out}}\n"
        ),
    );
    folder.write("clicks.ndjson", lines(&clicks(5)));
    let component = format!("scripted={}", guest("scripted-processor").display());
    let flags = ["run", "pipeline.yaml", "--input", "clicks.ndjson", "--component", &component, "--allow-unsigned"];
    let done = folder.tidegate(&[&flags[..], &["--output", "out.ndjson"]].concat()).success();
    let rows = parsed(&folder.read("out.ndjson"));
    assert_eq!(rows.len() as u64, done.summary()["panes"]["ON_TIME"].as_u64().expect("a count"));
    // The script adds up `v`, which no pane has.
    assert!(rows.iter().all(|row| row["total"] == 0), "{:?}", rows.first());
}
