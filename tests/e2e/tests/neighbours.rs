//! One tenant's hooks loop, flood memory and trap; the job of another keeps its pace.
//!
//! The pace alone and beside the attackers is measured in one run, and compared as a ratio: nothing depends on how fast the
//! machine is.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::Value;
use tidegate_e2e::platform::{Asker, Platform};
use tidegate_e2e::{Folder, guest};

/// Records that the honest job reads.
const HONEST: u64 = 240_000;
/// Records that the attackers read: enough to go on as long as the honest job runs. One of fifty sets the deed off, so that
/// batches with some twenty deeds come to an end while one watches.
const ATTACKS: u64 = 200_000;
const ONE_OF: u64 = 50;
/// The honest job's pace beside the attackers, of its pace alone. The tenants have a lane each and the machine may have
/// two processors, so a half would be a fair share even if everything else stood still.
const LEAST: f64 = 0.4;

#[test]
fn a_looping_guest_leaves_the_other_tenants_job_at_its_pace() {
    let folder = Folder::new();
    let platform = Platform::start(&folder.path().join("data"), 0);
    let honest = tenant(&platform, &folder, "honest", "campaign-metrics", "campaign-metrics");
    let attacker = tenant(&platform, &folder, "attacker", "evil", "evil");
    fill(&honest);
    let alone = pace(&honest, 1);
    attack(&attacker);
    let beside = pace(&honest, 2);
    let attacks: Vec<Value> =
        ["loop", "memory"].iter().map(|deed| status(&attacker, &format!("attack-{deed}"))).collect();
    for attack in &attacks {
        assert_eq!(attack["state"], "running", "it has to attack to the end: {attack}");
    }
    assert!(attacks.iter().any(|job| job["account"]["rejected"].as_u64() > Some(0)), "no deed was done: {attacks:?}");
    let ratio = alone.as_secs_f64() / beside.as_secs_f64();
    println!("alone {alone:?}, beside the attackers {beside:?}: {ratio:.2} of the pace");
    assert!(ratio >= LEAST, "the honest job had {ratio:.2} of its pace ({alone:?} alone, {beside:?} beside)");
}

fn tenant<'a>(platform: &Platform, folder: &'a Folder, name: &str, component: &str, file: &str) -> Asker<'a> {
    let admin = Asker { folder, url: platform.url.clone(), token_file: platform.admin_token_file() };
    admin.must(&["tenant", "create", name, "--limit", "lanes=1"]);
    let token = format!("{name}.token");
    admin.must(&["token", "create", name, "--role", "tenant-admin", "--output", &token]);
    let asker = Asker { folder, url: platform.url.clone(), token_file: folder.path().join(&token) };
    folder.tidegate(&["keygen", "--out", name]).success();
    asker.must(&["key", "add", name, &format!("{name}.pub")]);
    let (wasm, key, envelope) = (guest(file), format!("{name}.key"), format!("{name}.dsse.json"));
    let wasm = wasm.to_str().expect("a plain path");
    let sign =
        ["sign", wasm, "--key", &key, "--tenant", name, "--name", component, "--version", "1.0.0", "--out", &envelope];
    folder.tidegate(&sign).success();
    asker.must(&["artifact", "push", wasm, "--signature", &envelope]);
    asker
}

/// A sealed stream that the honest job reads to its end.
fn fill(honest: &Asker<'_>) {
    let minutes = (HONEST / 6_000).to_string();
    let made = honest.folder.tidegate(&[
        "demo-events",
        "--minutes",
        &minutes,
        "--rate",
        "100",
        "--start",
        "2026-10-22T09:00:00Z",
    ]);
    honest.folder.write("events.ndjson", made.success().stdout);
    honest.must(&["stream", "create", "ad-events"]);
    honest.must(&["stream", "append", "ad-events", "events.ndjson"]);
    honest.must(&["stream", "seal", "ad-events"]);
}

/// How long the honest job takes over its stream.
fn pace(honest: &Asker<'_>, version: u32) -> Duration {
    let pipeline = include_str!("../../../guest-examples/campaign-metrics-rust/pipeline.yaml");
    let pipeline = pipeline.replace("version: 14", &format!("version: {version}"));
    honest.folder.write("honest.yaml", pipeline);
    let begun = now();
    honest.must(&["job", "submit", "honest.yaml"]);
    honest.must(&["job", "status", "campaign-metrics", "--watch"]);
    let took = now() - begun;
    let job = status(honest, "campaign-metrics");
    assert_eq!((&job["state"], &job["version"]), (&Value::from("finished"), &Value::from(version)), "{job}");
    took
}

/// Starts jobs whose hooks misbehave again and again, and waits until they are at it.
fn attack(attacker: &Asker<'_>) {
    let mut records = String::new();
    for number in 0..ATTACKS {
        let mark = if number % ONE_OF == 0 { "bad" } else { "good" };
        writeln!(records, "{{\"at\": {number}, \"mark\": \"{mark}\"}}").expect("a String takes everything");
    }
    attacker.folder.write("attacks.ndjson", records);
    attacker.must(&["stream", "create", "attacks"]);
    attacker.must(&["stream", "append", "attacks", "attacks.ndjson"]);
    for deed in ["loop", "memory"] {
        let pipeline = format!(
            "job: attack-{deed}\nversion: 1\nsource:\n  log: attacks\n  timestamp_field: at\n  watermark: {{strategy: ascending}}\n\
             map: {{component: evil@1.0.0, config: {{evil: {deed}, on: bad}}}}\nkey_by: []\n\
             window: {{type: tumbling, size: 1m}}\naggregate: {{n: {{fn: count}}}}\nsink: {{type: log, log: attack-{deed}-out}}\n"
        );
        attacker.folder.write("attack.yaml", pipeline);
        attacker.must(&["job", "submit", "attack.yaml"]);
    }
    let limit = now() + Duration::from_secs(60);
    while status(attacker, "attack-loop")["account"]["rejected"].as_u64().unwrap_or(0) == 0 {
        assert!(now() < limit, "the attack does not begin: {}", status(attacker, "attack-loop"));
    }
}

fn status(asker: &Asker<'_>, job: &str) -> Value {
    serde_json::from_str(&asker.must(&["job", "status", job, "--json"])).expect("a job is JSON")
}

#[allow(clippy::disallowed_methods, reason = "two paces of one run are compared")]
fn now() -> Instant {
    Instant::now()
}
