//! The example `guest-examples/campaign-attribution-rust`: clicks joined to impressions by a hook in WebAssembly, against
//! the same computed here from the definition, pair by pair.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_e2e::{CUTS, Finished, Folder, by_key, guest, parsed};

const DELAY: i64 = 10_000;
const LATENESS: i64 = 30_000;
const LONGEST: i64 = 600_000;
const SOONEST: i64 = 50;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest-examples/campaign-attribution-rust")
}

fn data(name: &str) -> String {
    fs::read_to_string(example().join("data").join(name)).expect("the example has its data")
}

/// A folder with the example's pipeline and its events.
fn prepared() -> Folder {
    let folder = Folder::new();
    folder.write("pipeline.yaml", fs::read(example().join("pipeline.yaml")).expect("the example has a pipeline"));
    for name in ["impressions.ndjson", "clicks.ndjson"] {
        folder.write(name, data(name));
    }
    folder
}

fn run(folder: &Folder, more: &[&str]) -> Finished {
    let component = format!("campaign-attribution={}", guest("campaign-attribution").display());
    let inputs = ["--input", "impressions=impressions.ndjson", "--input", "clicks=clicks.ndjson"];
    let outputs = ["--output", "attributed=attributed.ndjson", "--output", "per_minute=per-minute.ndjson"];
    let sides = ["--too-late", "late.ndjson", "--dead-letter", "dead.ndjson"];
    let usual = ["run", "pipeline.yaml", "--arrival-field", "arrival", "--component", &component, "--allow-unsigned"];
    folder.tidegate(&[&usual[..], &inputs, &outputs, &sides, more].concat()).success()
}

/// What the files say, by the definition of the join.
#[derive(Debug, Default, PartialEq)]
struct ByHand {
    /// The lines of `attributed` without their watermarks, sorted.
    attributed: Vec<String>,
    /// Code and click of each dead letter, sorted.
    dead: Vec<(String, Value)>,
    too_late: Vec<Value>,
    /// For each campaign and minute: clicks, attributed ones, the sum of their times to click.
    minutes: BTreeMap<(String, i64), (i64, i64, i64)>,
}

/// An event with its time.
struct Event {
    file: usize,
    time: i64,
    event: Value,
}

/// Both files in order of arrival.
fn events() -> Vec<Event> {
    let times = ["shown_at", "clicked_at"];
    let file = |file: usize, name| {
        parsed(&data(name)).into_iter().map(move |event| Event { file, time: int(&event, times[file]), event })
    };
    let mut events: Vec<Event> = file(0, "impressions.ndjson").chain(file(1, "clicks.ndjson")).collect();
    events.sort_by_key(|event| (int(&event.event, "arrival"), event.file));
    events
}

fn int(event: &Value, field: &str) -> i64 {
    event[field].as_i64().unwrap_or_else(|| panic!("no {field} in {event}"))
}

/// Sets the events aside that came too late.
fn in_time(by_hand: &mut ByHand) -> Vec<Event> {
    let all = events();
    let last = [0, 1].map(|file| all.iter().rposition(|event| event.file == file).expect("neither file is empty"));
    let mut watermarks = [i64::MIN; 2];
    let mut kept = Vec::new();
    for (place, event) in all.into_iter().enumerate() {
        let watermark = watermarks[0].min(watermarks[1]);
        let (file, time) = (event.file, event.time);
        if time + LATENESS < watermark {
            by_hand.too_late.push(event.event);
        } else {
            kept.push(event);
        }
        watermarks[file] = if place == last[file] { i64::MAX } else { watermarks[file].max(time - DELAY) };
    }
    kept
}

fn by_hand() -> ByHand {
    let mut by_hand = ByHand::default();
    let kept = in_time(&mut by_hand);
    let (impressions, clicks): (Vec<&Event>, Vec<&Event>) = kept.iter().partition(|event| event.file == 0);
    for click in clicks {
        let id = &click.event["impression_id"];
        let on = |impression: &&&Event| {
            !id.is_null()
                && impression.event["impression_id"] == *id
                && (0..=LONGEST).contains(&(click.time - impression.time))
        };
        let mates: Vec<&Event> = impressions.iter().filter(on).copied().collect();
        for mate in &mates {
            credit(&mut by_hand, click, Some(mate));
        }
        if mates.is_empty() {
            credit(&mut by_hand, click, None);
        }
    }
    by_hand.attributed.sort();
    by_hand.dead.sort_by_key(|(code, click)| (code.clone(), click.to_string()));
    by_hand
}

/// What the hook says of a click.
fn credit(by_hand: &mut ByHand, click: &Event, impression: Option<&Event>) {
    let campaign = &click.event["campaign_id"];
    let ms = impression.map(|impression| click.time - impression.time);
    let refusal = match impression {
        Some(impression) if impression.event["campaign_id"] != *campaign => Some("other-campaign"),
        Some(_) if ms < Some(SOONEST) => Some("too-soon"),
        _ => None,
    };
    if let Some(code) = refusal {
        by_hand.dead.push((code.to_owned(), click.event["click_id"].clone()));
        return;
    }
    let of = |field: &str| impression.map_or(Value::Null, |impression| impression.event[field].clone());
    let line = json!({
        "click_id": click.event["click_id"],
        "campaign_id": campaign,
        "impression_id": of("impression_id"),
        "placement": of("placement"),
        "ms_to_click": ms,
    });
    by_hand.attributed.push(line.to_string());
    let key = (campaign.as_str().expect("text").to_owned(), click.time.div_euclid(60_000));
    let minute = by_hand.minutes.entry(key).or_default();
    *minute = (minute.0 + 1, minute.1 + i64::from(ms.is_some()), minute.2 + ms.unwrap_or(0));
}

fn by_tidegate(folder: &Folder) -> ByHand {
    let line = |mut line: Value| {
        let fields = line.as_object_mut().expect("an object");
        assert!(fields.remove("time").is_some() && fields.remove("watermark").is_some(), "a row says when");
        line.to_string()
    };
    let mut ran = ByHand {
        attributed: parsed(&folder.read("attributed.ndjson")).into_iter().map(line).collect(),
        too_late: parsed(&folder.read("late.ndjson")).iter().map(|line| line["record"].clone()).collect(),
        ..ByHand::default()
    };
    ran.attributed.sort();
    for letter in parsed(&folder.read("dead.ndjson")) {
        assert_eq!(letter["operator"], "attributed.pairs", "{letter}");
        // The record of the row that arrived: the click, or its impression if that came after it.
        let record = &letter["record"];
        let click =
            if record["click_id"].is_null() { click_on(&record["impression_id"]) } else { record["click_id"].clone() };
        ran.dead.push((letter["reason"].as_str().expect("text").to_owned(), click));
    }
    ran.dead.sort_by_key(|(code, click)| (code.clone(), click.to_string()));
    for pane in parsed(&folder.read("per-minute.ndjson")) {
        let start = pane["window_start"].as_str().expect("text");
        let number = |from: usize| start[from..from + 2].parse::<i64>().expect("digits");
        // Minutes since the epoch; the events are of 2026-10-22.
        let minute = 1_792_627_200 / 60 + number(11) * 60 + number(14);
        let (clicks, attributed) = (int(&pane, "clicks"), int(&pane, "attributed"));
        let mean = pane["mean_ms_to_click"].as_f64().unwrap_or(0.0);
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small whole numbers")]
        let sum = (mean * attributed as f64).round() as i64;
        let key = (pane["campaign_id"].as_str().expect("text").to_owned(), minute);
        assert_eq!(ran.minutes.insert(key, (clicks, attributed, sum)), None, "a minute fires once");
    }
    ran
}

/// The click on an impression that is refused: the data has one at most.
fn click_on(impression: &Value) -> Value {
    let clicks = parsed(&data("clicks.ndjson"));
    let mut on = clicks.iter().filter(|click| click["impression_id"] == *impression);
    let (click, more) = (on.next().expect("there is one"), on.next());
    assert!(more.is_none(), "more than one click on {impression}");
    click["click_id"].clone()
}

#[test]
fn clicks_are_credited_as_the_definition_says() {
    let folder = prepared();
    let done = run(&folder, &[]);
    let expected = by_hand();
    for (count, what) in [
        (expected.attributed.len(), "attributed"),
        (expected.dead.len(), "dead letters"),
        (expected.too_late.len(), "too late"),
        (expected.attributed.iter().filter(|line| line.contains(r#""impression_id":null"#)).count(), "clicks alone"),
    ] {
        assert!(count > 1, "the data has {what}");
    }
    assert_eq!(by_tidegate(&folder), expected);
    let told = format!("failed to make {} pairs", expected.dead.len());
    assert!(done.stderr.contains(&told), "{}", done.stderr);
    assert_eq!(done.count("too_late"), expected.too_late.len() as u64);
}

#[test]
fn the_output_is_the_one_beside_the_example() {
    let folder = prepared();
    for cut in [&[][..]].into_iter().chain(CUTS) {
        run(&folder, cut);
        for name in ["attributed.ndjson", "per-minute.ndjson"] {
            let expected = by_key(&data(&format!("expected-{name}")), &["campaign_id", "click_id", "window_start"]);
            let ours = by_key(&folder.read(name), &["campaign_id", "click_id", "window_start"]);
            assert_eq!(ours, expected, "{name} {cut:?}");
        }
    }
}
