//! A tenant's limits reach its jobs: what a call may cost, and what windows may keep. And no guest holds the process up.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::Value;
use tidegate_e2e::platform::{Asker, Platform};
use tidegate_e2e::{Folder, guest, parsed};

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(300);

/// A tenant with these limits, and the misbehaving component admitted as `evil@1.0.0`.
fn tenant<'a>(platform: &Platform, folder: &'a Folder, name: &str, limits: &[&str]) -> Asker<'a> {
    let admin = Asker { folder, url: platform.url.clone(), token_file: platform.admin_token_file() };
    let limits = limits.iter().flat_map(|limit| ["--limit", limit]);
    admin.must(&["tenant", "create", name].into_iter().chain(limits).collect::<Vec<_>>());
    let token = format!("{name}.token");
    admin.must(&["token", "create", name, "--role", "tenant-admin", "--output", &token]);
    let asker = Asker { folder, url: platform.url.clone(), token_file: folder.path().join(&token) };
    folder.tidegate(&["keygen", "--out", name]).success();
    asker.must(&["key", "add", name, &format!("{name}.pub")]);
    let (wasm, key, envelope) = (guest("evil"), format!("{name}.key"), format!("{name}.dsse.json"));
    let wasm = wasm.to_str().expect("a plain path");
    let sign =
        ["sign", wasm, "--key", &key, "--tenant", name, "--name", "evil", "--version", "1.0.0", "--out", &envelope];
    folder.tidegate(&sign).success();
    asker.must(&["artifact", "push", wasm, "--signature", &envelope]);
    asker
}

/// A job over the stream `events` whose map hook does a deed on rows that are marked `bad`.
fn job(deed: &str) -> String {
    format!(
        "job: {deed}\nversion: 1\nsource:\n  log: events\n  timestamp_field: at\n  watermark: {{strategy: ascending}}\n\
         map: {{component: evil@1.0.0, config: {{evil: {deed}, on: bad}}}}\nkey_by: []\n\
         window: {{type: tumbling, size: 1m}}\naggregate: {{n: {{fn: count}}}}\nsink: {{type: log, log: {deed}-out}}\n"
    )
}

fn submit(asker: &Asker<'_>, pipeline: &str) {
    asker.folder.write("pipeline.yaml", pipeline);
    asker.must(&["job", "submit", "pipeline.yaml"]);
}

fn feed(asker: &Asker<'_>, records: &str) {
    asker.folder.write("records.ndjson", records);
    asker.must(&["stream", "create", "events"]);
    asker.must(&["stream", "append", "events", "records.ndjson"]);
}

fn status(asker: &Asker<'_>, job: &str) -> Value {
    serde_json::from_str(&asker.must(&["job", "status", job, "--json"])).expect("a job is JSON")
}

/// Waits until a job is so.
fn until(asker: &Asker<'_>, job: &str, is: impl Fn(&Value) -> bool) -> Value {
    let begun = now();
    loop {
        let found = status(asker, job);
        if is(&found) {
            return found;
        }
        assert!(now() - begun < PATIENCE, "it never is: {found}");
    }
}

fn has_ended(job: &Value) -> bool {
    ["finished", "failed", "cancelled"].iter().any(|state| job["state"] == *state)
}

#[test]
fn what_a_call_may_cost_is_each_tenants_own() {
    let folder = Folder::new();
    let platform = Platform::start(&folder.path().join("data"), 0);
    // A marked row costs some ten million; a call with one row may cost twice the limit before the row is condemned.
    let rich = tenant(&platform, &folder, "rich", &[]);
    let poor = tenant(&platform, &folder, "poor", &["call_fuel=2000000"]);
    let mut records = String::new();
    for number in 0..200 {
        let mark = if number % 50 == 7 { "bad" } else { "good" };
        writeln!(records, "{{\"at\": {number}, \"mark\": \"{mark}\"}}").expect("a String takes everything");
    }
    let counts = [&rich, &poor].map(|asker| {
        feed(asker, &records);
        asker.must(&["stream", "seal", "events"]);
        submit(asker, &job("spend"));
        let job = until(asker, "spend", has_ended);
        assert_eq!(job["state"], "finished", "{job}");
        ["read", "accepted", "rejected"].map(|count| job["account"][count].as_u64().expect("a count"))
    });
    assert_eq!(counts, [[200, 200, 0], [200, 196, 4]], "rich, poor");
    let condemned = parsed(&poor.must(&["stream", "read", "spend-dead-letters"]));
    let places: Vec<u64> = condemned.iter().filter_map(|line| line["record"]["offset"].as_u64()).collect();
    assert_eq!(places, [7, 57, 107, 157]);
    assert!(
        condemned[0]["record"]["reason"].as_str().is_some_and(|reason| reason.contains("fuel")),
        "{}",
        condemned[0]
    );
}

#[test]
fn a_looping_guest_does_not_hold_the_process_up() {
    let stop = |deed: &str| {
        let folder = Folder::new();
        let platform = Platform::start(&folder.path().join("data"), 0);
        let acme = tenant(&platform, &folder, "acme", &["lanes=1"]);
        let records: String = (0..20_000).fold(String::new(), |mut text, at| {
            writeln!(text, "{{\"at\": {at}, \"mark\": \"bad\"}}").expect("a String takes everything");
            text
        });
        feed(&acme, &records);
        submit(&acme, &job(deed));
        // Calm: it has read everything and waits. Looping: it has condemned a row, and is at the next ones.
        let is_at_it = |job: &Value| match deed {
            "loop" => job["account"]["rejected"].as_u64() > Some(0),
            _ => job["account"]["read"].as_u64() == Some(20_000),
        };
        let running = until(&acme, deed, is_at_it);
        assert_eq!(running["state"], "running", "{running}");
        let told = now();
        let (status, said) = platform.stop();
        let took = now() - told;
        assert!(status.success(), "{status}: {said}");
        took
    };
    let (calm, looping) = (stop("remember"), stop("loop"));
    let ratio = looping.as_secs_f64() / calm.as_secs_f64();
    println!("a calm stop took {calm:?}, one with a looping guest {looping:?}: {ratio:.1} times as long");
    // A call that is under way ends with its fuel, which is a small part of what a stop takes anyhow.
    assert!(ratio < 10.0, "a calm stop took {calm:?}, one with a looping guest {looping:?}");
}

#[test]
fn a_job_whose_windows_hold_more_than_its_tenant_may_have_ends_with_the_reason() {
    let folder = Folder::new();
    let platform = Platform::start(&folder.path().join("data"), 0);
    let counts = "job: counts\nversion: 1\nsource:\n  log: events\n  timestamp_field: at\n  watermark: {strategy: ascending}\n\
                  key_by: [mark]\nwindow: {type: tumbling, size: 1h}\naggregate: {n: {fn: count}}\n\
                  sink: {type: log, log: counts-out}\n";
    let long = "k".repeat(100);
    let records = (0..150_000).fold(String::new(), |mut text, at| {
        writeln!(text, "{{\"at\": {at}, \"mark\": \"{long}{at}\"}}").expect("a String takes everything");
        text
    });
    let [small, large] =
        [("small", "memory_bytes=16777216"), ("large", "memory_bytes=536870912")].map(|(name, limit)| {
            let asker = tenant(&platform, &folder, name, &[limit]);
            feed(&asker, &records);
            submit(&asker, counts);
            asker
        });
    let failed = until(&small, "counts", has_ended);
    let reason = failed["reason"].as_str().expect("a reason");
    assert_eq!(failed["state"], "failed", "{failed}");
    assert!(reason.starts_with("state-too-large: operator `"), "{reason}");
    assert!(reason.contains("its limit `memory_bytes` of 16777216") && reason.contains("keep fewer keys"), "{reason}");
    // The same job of a tenant that may have more holds all of it, and goes on.
    let all = until(&large, "counts", |job| job["account"]["accepted"].as_u64() == Some(150_000) || has_ended(job));
    assert_eq!(all["state"], "running", "{all}");
    large.must(&["stream", "seal", "events"]);
    assert_eq!(until(&large, "counts", has_ended)["state"], "finished");
}

#[allow(clippy::disallowed_methods, reason = "two stops are compared, and a test that waits ends")]
fn now() -> Instant {
    Instant::now()
}
