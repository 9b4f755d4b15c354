//! `tidegate dev` as its users see it: a tenant's whole way, two tenants side by side, stopping and starting again, and what
//! is refused.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_e2e::platform::{Asker, Platform, free_port};
use tidegate_e2e::{Folder, guest, last_per_window, parsed};

const KEY: [&str; 2] = ["campaign_id", "country"];
const PIPELINE: &str = include_str!("../../../guest-examples/campaign-metrics-rust/pipeline.yaml");

/// A tenant with a token, a key and the example's component admitted.
struct Tenant<'a> {
    name: &'static str,
    asker: Asker<'a>,
}

fn admin<'a>(platform: &Platform, folder: &'a Folder) -> Asker<'a> {
    Asker { folder, url: platform.url.clone(), token_file: platform.admin_token_file() }
}

/// Makes a tenant and hands its signed component in.
fn tenant<'a>(platform: &Platform, folder: &'a Folder, name: &'static str, version: &str) -> Tenant<'a> {
    let admin = admin(platform, folder);
    admin.must(&["tenant", "create", name]);
    let token = format!("{name}.token");
    admin.must(&["token", "create", name, "--role", "tenant-admin", "--output", &token]);
    let asker = Asker { folder, url: platform.url.clone(), token_file: folder.path().join(token) };
    folder.tidegate(&["keygen", "--out", name]).success();
    asker.must(&["key", "add", name, &format!("{name}.pub")]);
    let tenant = Tenant { name, asker };
    tenant.push(&guest("campaign-metrics"), "campaign-metrics", version);
    tenant
}

impl Tenant<'_> {
    /// Signs a component with the tenant's key and hands it in.
    fn push(&self, component: &Path, name: &str, version: &str) {
        let envelope = self.sign(component, self.name, name, version);
        let [component, envelope] = [component, &envelope].map(|path| path.to_str().expect("a plain path"));
        self.asker.must(&["artifact", "push", component, "--signature", envelope]);
    }

    fn sign(&self, component: &Path, tenant: &str, name: &str, version: &str) -> PathBuf {
        let envelope = self.asker.folder.path().join(format!("{tenant}-{name}-{version}.dsse.json"));
        let key = format!("{}.key", self.name);
        let [component, out] = [component, &envelope].map(|path| path.to_str().expect("a plain path"));
        let args =
            ["sign", component, "--key", &key, "--tenant", tenant, "--name", name, "--version", version, "--out", out];
        self.asker.folder.tidegate(&args).success();
        envelope
    }

    /// The rows of a table, as the API gives them.
    fn rows(&self, table: &str) -> String {
        self.asker.must(&["table", "rows", table, "--limit", "100000", "--json"])
    }

    /// Waits until a job has ended.
    fn watch(&self, name: &str) -> Value {
        serde_json::from_str(&self.asker.must(&["job", "status", name, "--watch", "--json"])).expect("a job is JSON")
    }
}

/// Ad events, as the demo feeds them.
fn events(folder: &Folder, seed: &str) -> String {
    let start = "2026-10-22T09:00:00Z";
    let made = folder.tidegate(&["demo-events", "--seed", seed, "--minutes", "4", "--rate", "50", "--start", start]);
    made.success().stdout
}

/// The values of each window's last pane: what may not depend on when records came or who ran the job.
fn values(rows: &str) -> BTreeMap<String, [Value; 3]> {
    let panes = last_per_window(rows, &KEY);
    let values = |pane: &Value| ["impressions", "clicks", "spend_micros"].map(|field| pane[field].clone());
    panes.iter().map(|(window, pane)| (window.clone(), values(pane))).collect()
}

/// Feeds events into one partition (so that late is late in the same way everywhere), and runs the job over them.
fn run_job(tenant: &Tenant<'_>, seed: &str) -> Value {
    let folder = tenant.asker.folder;
    let file = format!("{}-events.ndjson", tenant.name);
    folder.write(&file, events(folder, seed));
    folder.write("pipeline.yaml", PIPELINE);
    tenant.asker.must(&["stream", "create", "ad-events"]);
    tenant.asker.must(&["stream", "append", "ad-events", &file]);
    tenant.asker.must(&["stream", "seal", "ad-events"]);
    tenant.asker.must(&["job", "submit", "pipeline.yaml"]);
    tenant.watch("campaign-metrics")
}

/// The same pipeline over the same events, by `tidegate run`.
fn expected(tenant: &Tenant<'_>) -> (Value, BTreeMap<String, [Value; 3]>) {
    let folder = tenant.asker.folder;
    let component = format!("campaign-metrics={}", guest("campaign-metrics").display());
    let input = format!("{}-events.ndjson", tenant.name);
    let args = ["run", "pipeline.yaml", "--input", &input, "--component", &component, "--allow-unsigned"];
    let done = folder.tidegate(&args).success();
    (done.summary(), values(&done.stdout))
}

#[test]
fn the_example_runs_the_specifications_pipeline_with_a_component_reference_added() {
    let added = "map: {component: campaign-metrics@1.0.0}\n";
    assert!(PIPELINE.contains(added));
    assert_eq!(PIPELINE.replace(added, ""), include_str!("../data/campaign-metrics.yaml"));
}

#[test]
fn two_tenants_go_the_whole_way_and_see_nothing_of_each_other() {
    let folder = Folder::new();
    let platform = Platform::start(&folder.path().join("data"), 0);
    let acme = tenant(&platform, &folder, "acme", "1.0.0");
    let bolt = tenant(&platform, &folder, "bolt", "1.0.0");
    for (tenant, seed) in [(&acme, "1"), (&bolt, "2")] {
        let job = run_job(tenant, seed);
        let (summary, windows) = expected(tenant);
        assert_eq!(job["state"], "finished", "{job}");
        for count in ["read", "expanded", "accepted", "filtered", "too_late", "duplicate", "rejected"] {
            assert_eq!(job["account"][count], summary[count], "{count} of {}: {job}", tenant.name);
        }
        assert_eq!(values(&tenant.rows("campaign_minute")), windows, "{}", tenant.name);
        let dead = parsed(&tenant.asker.must(&["stream", "read", "campaign-metrics-dead-letters"]));
        assert_eq!(u64::try_from(dead.len()).ok(), summary["rejected"].as_u64());
        let late = parsed(&tenant.asker.must(&["stream", "read", "ad-events-too-late"]));
        assert_eq!(u64::try_from(late.len()).ok(), summary["too_late"].as_u64());
    }
    assert_ne!(values(&acme.rows("campaign_minute")), values(&bolt.rows("campaign_minute")));
    assert_sees_nothing(&bolt, &acme);
    let (status, said) = platform.stop();
    assert!(status.success(), "{status}: {said}");
}

/// One tenant's token opens nothing of the other's, and the answer is as if there were nothing.
fn assert_sees_nothing(bolt: &Tenant<'_>, acme: &Tenant<'_>) {
    acme.asker.must(&["stream", "create", "acme-only"]);
    let folder = bolt.asker.folder;
    folder.write("one.ndjson", "{}");
    for args in [
        ["tenant", "show", "acme"].as_slice(),
        &["token", "list", "acme"],
        &["token", "create", "acme", "--role", "viewer"],
        &["key", "list", "acme"],
        &["key", "add", "acme", "bolt.pub"],
        &["stream", "show", "acme-only"],
        &["stream", "read", "acme-only", "--partition", "0"],
        &["stream", "append", "acme-only", "one.ndjson"],
        &["stream", "seal", "acme-only"],
        &["stream", "delete", "acme-only"],
    ] {
        let refused = bolt.asker.tidegate(args);
        let line = refused.refusal();
        assert!(line.starts_with("not-found: "), "tidegate {}: {line}", args.join(" "));
    }
    let streams = bolt.asker.must(&["stream", "list"]);
    assert!(!streams.contains("acme"), "{streams}");
    // A component that acme signed for itself is no artifact of bolt's.
    let component = guest("campaign-metrics");
    let envelope = acme.sign(&component, "acme", "campaign-metrics", "2.0.0");
    let [component, envelope] = [&component, &envelope].map(|path| path.to_str().expect("a plain path"));
    let refused = bolt.asker.tidegate(&["artifact", "push", component, "--signature", envelope]);
    let line = refused.refusal();
    assert!(line.starts_with("artifact-refused: rule key-not-trusted: "), "{line}");
}

#[test]
fn what_was_acknowledged_is_there_after_a_stop_and_after_a_kill() {
    let folder = Folder::new();
    let data = folder.path().join("data");
    let platform = Platform::start(&data, 0);
    let acme = tenant(&platform, &folder, "acme", "1.0.0");
    run_job(&acme, "3");
    acme.asker.must(&["stream", "create", "other", "--partitions", "2"]);
    folder.write("one.ndjson", "{\"n\": 1}\n{\"n\": 2}\n");
    acme.asker.must(&["stream", "append", "other", "one.ndjson", "--partition", "1"]);
    let before = everything(&acme);
    let (status, said) = platform.stop();
    assert!(status.success(), "{status}: {said}");
    let platform = Platform::start(&data, 0);
    assert_eq!(everything(&again(&platform, &folder)), before, "after a stop");
    platform.kill_9();
    let platform = Platform::start(&data, 0);
    let acme = again(&platform, &folder);
    assert_eq!(everything(&acme), before, "after a kill");
    // And it goes on.
    acme.asker.must(&["stream", "append", "other", "one.ndjson", "--partition", "1"]);
    acme.push(&guest("campaign-metrics"), "campaign-metrics", "1.0.1");
}

fn again<'a>(platform: &Platform, folder: &'a Folder) -> Tenant<'a> {
    let asker = Asker { folder, url: platform.url.clone(), token_file: folder.path().join("acme.token") };
    Tenant { name: "acme", asker }
}

/// Everything that a tenant sees of itself.
fn everything(tenant: &Tenant<'_>) -> Vec<String> {
    [
        ["tenant", "show", "acme"].as_slice(),
        &["token", "list", "acme"],
        &["key", "list", "acme"],
        &["artifact", "list"],
        &["job", "list"],
        &["job", "status", "campaign-metrics"],
        &["stream", "list"],
        &["stream", "show", "ad-events"],
        &["stream", "read", "other"],
        &["stream", "read", "campaign-metrics-dead-letters"],
        &["table", "list"],
        &["table", "rows", "campaign_minute", "--limit", "100000"],
    ]
    .iter()
    .map(|args| tenant.asker.must(&[args, ["--json"].as_slice()].concat()))
    .collect()
}

#[test]
fn a_job_that_ran_when_the_platform_ended_runs_again_to_the_same_result() {
    let folder = Folder::new();
    let data = folder.path().join("data");
    let platform = Platform::start(&data, 0);
    let acme = tenant(&platform, &folder, "acme", "1.0.0");
    folder.write("acme-events.ndjson", events(&folder, "4"));
    folder.write("pipeline.yaml", PIPELINE);
    acme.asker.must(&["stream", "create", "ad-events"]);
    acme.asker.must(&["job", "submit", "pipeline.yaml"]);
    acme.asker.must(&["stream", "append", "ad-events", "acme-events.ndjson"]);
    platform.kill_9();
    let platform = Platform::start(&data, 0);
    assert!(platform.said().contains("1 job runs again, from its newest checkpoint"), "{}", platform.said());
    let acme = again(&platform, &folder);
    acme.asker.must(&["stream", "seal", "ad-events"]);
    let job = acme.watch("campaign-metrics");
    let (summary, windows) = expected(&acme);
    assert_eq!((&job["state"], &job["account"]["accepted"]), (&Value::from("finished"), &summary["accepted"]), "{job}");
    assert_eq!(values(&acme.rows("campaign_minute")), windows);
}

#[test]
fn an_append_goes_on_over_a_kill_and_a_restart_and_doubles_nothing() {
    const RECORDS: u64 = 20_000;
    let folder = Folder::new();
    let (data, port) = (folder.path().join("data"), free_port());
    let platform = Platform::start(&data, port);
    let acme = tenant(&platform, &folder, "acme", "1.0.0");
    folder.write("many.ndjson", (0..RECORDS).map(|n| format!("{{\"n\": {n}}}\n")).collect::<String>());
    acme.asker.must(&["stream", "create", "many"]);
    let records = || -> u64 {
        let stream: Value = serde_json::from_str(&acme.asker.must(&["stream", "show", "many", "--json"])).unwrap();
        stream["records"].as_u64().expect("a count")
    };
    let append = ["stream", "append", "many", "many.ndjson", "--batch-records", "20"];
    let (platform, said) = std::thread::scope(|scope| {
        let appending = scope.spawn(|| acme.asker.must(&append));
        while records() < RECORDS / 20 && !appending.is_finished() {}
        platform.kill_9();
        (Platform::start(&data, port), appending.join().expect("the command comes to its end"))
    });
    assert!(said.starts_with("appended 20,000 records to many in 1,000 batches"), "{said}");
    let stored = parsed(&acme.asker.must(&["stream", "read", "many"]));
    let numbers: Vec<u64> = stored.iter().map(|line| line["record"]["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..RECORDS).collect::<Vec<_>>());
    drop(platform);
}

#[test]
fn a_key_is_rotated_and_a_tenant_is_deleted_and_the_trail_says_so() {
    let folder = Folder::new();
    let platform = Platform::start(&folder.path().join("data"), 0);
    let (acme, admin) = (tenant(&platform, &folder, "acme", "1.0.0"), admin(&platform, &folder));
    let keys = || parsed(&acme.asker.must(&["key", "list", "acme", "--json"]));
    let old = keys()[0]["id"].as_str().expect("an id").to_owned();
    folder.tidegate(&["keygen", "--out", "next"]).success();
    // Gone through again it changes nothing.
    for _ in 0..2 {
        acme.asker.must(&["key", "rotate", "acme", "next.pub", "--replaces", &old, "--days", "30"]);
        let told: Vec<[bool; 2]> =
            keys().iter().map(|key| ["revoked_at", "not_after"].map(|member| key[member].is_null())).collect();
        assert_eq!(told, [[false, true], [true, false]], "{:?}", keys());
    }
    assert_eq!(acme.asker.must(&["key", "list", "acme", "--limit", "1", "--json"]).lines().count(), 1);
    let envelope = acme.sign(&guest("campaign-metrics"), "acme", "campaign-metrics", "1.0.1");
    let component = guest("campaign-metrics");
    let [component, envelope] = [&component, &envelope].map(|path| path.to_str().expect("a plain path"));
    let refused = acme.asker.tidegate(&["artifact", "push", component, "--signature", envelope]);
    assert!(refused.refusal().contains("key-revoked"), "{}", refused.stderr);
    folder.write("pipeline.yaml", PIPELINE);
    acme.asker.must(&["stream", "create", "ad-events"]);
    acme.asker.must(&["job", "submit", "pipeline.yaml"]);
    let used = acme.asker.tidegate(&["stream", "delete", "ad-events"]);
    assert!(used.refusal().contains("job `campaign-metrics` reads it; cancel the job first"), "{}", used.stderr);
    let used = admin.tidegate(&["tenant", "delete", "acme"]);
    assert!(used.refusal().contains("1 of its jobs run, `campaign-metrics` among them"), "{}", used.stderr);
    acme.asker.must(&["job", "cancel", "campaign-metrics"]);
    let again = acme.asker.must(&["job", "submit", "pipeline.yaml"]);
    assert!(again.contains("is cancelled (cancelled by") && again.contains("raise `version`"), "{again}");
    let trail = acme.asker.must(&["audit", "acme"]);
    for action in ["key.add", "key.revoke", "artifact.upload", "job.submit", "job.cancel"] {
        assert!(trail.contains(action), "{action}: {trail}");
    }
    admin.must(&["tenant", "delete", "acme"]);
    assert!(acme.asker.tidegate(&["stream", "list"]).refusal().starts_with("unauthenticated: "));
    assert!(admin.must(&["audit"]).contains("tenant.delete"));
}

#[test]
fn a_second_platform_on_the_same_folder_is_refused() {
    let folder = Folder::new();
    let platform = Platform::start(&folder.path().join("data"), 0);
    let second = folder.tidegate(&["dev", "--data", "data", "--listen", "127.0.0.1:0"]);
    let line = second.refusal();
    assert!(line.contains(&format!("process {} at {}", platform.id(), platform.url)), "{line}");
}

#[test]
fn a_token_is_not_issued_where_it_cannot_be_saved() {
    let folder = Folder::new();
    let platform = Platform::start(&folder.path().join("data"), 0);
    let admin = platform.admin_token_file();
    let admin = admin.to_str().expect("a plain path");
    let at = ["--api", &platform.url, "--token-file", admin];
    folder.tidegate(&[&["tenant", "create", "acme"][..], &at].concat()).success();
    folder.write("there", "something");
    let create = ["token", "create", "acme", "--role", "viewer", "--output", "there"];
    let refused = folder.tidegate(&[&create[..], &at].concat());
    assert!(refused.refusal().contains("--output there"), "{}", refused.stderr);
    let listed = folder.tidegate(&[&["token", "list", "acme"][..], &at].concat()).success();
    assert!(format!("{}{}", listed.stdout, listed.stderr).contains("no tokens"), "{}", listed.stdout);
}

#[test]
fn beyond_loopback_only_tls_is_spoken() {
    let folder = Folder::new();
    let refused = folder.tidegate(&["dev", "--data", "data", "--listen", "0.0.0.0:0"]);
    assert!(refused.refusal().contains("needs TLS"), "{}", refused.stderr);
    assert!(!folder.path().join("data").exists(), "a refusal leaves nothing behind");
}

#[test]
fn over_tls_a_client_trusts_the_certificate_that_it_is_given() {
    let folder = Folder::new();
    folder.write("cert.pem", include_str!("../data/tls/cert.pem"));
    folder.write("key.pem", include_str!("../data/tls/key.pem"));
    let [cert, key] = ["cert.pem", "key.pem"].map(|file| folder.path().join(file));
    let [cert, key] = [&cert, &key].map(|file| file.to_str().expect("a plain path"));
    let data = folder.path().join("data");
    let platform = Platform::start_with(&data, &["--listen", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key]);
    let url = platform.url.clone();
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    let token = platform.admin_token_file();
    let token = token.to_str().expect("a plain path");
    let ask = ["tenant", "create", "acme", "--api", &url, "--token-file", token];
    let distrusted = folder.tidegate(&ask);
    assert_eq!(distrusted.status, 1, "{}", distrusted.stderr);
    folder.tidegate(&[&ask[..], &["--ca-cert", "cert.pem"]].concat()).success();
}

#[test]
fn commands_without_a_platform_say_what_is_missing() {
    let folder = Folder::new();
    let lost = folder.tidegate(&["job", "list"]);
    assert!(lost.refusal().contains("where is the API?"), "{}", lost.stderr);
    let nobody = folder.tidegate(&["job", "list", "--api", "http://127.0.0.1:1"]);
    assert!(nobody.refusal().contains("who asks?"), "{}", nobody.stderr);
    folder.write("a.token", "abc");
    let silent = folder.tidegate(&["job", "list", "--api", "http://127.0.0.1:1", "--token-file", "a.token"]);
    assert_eq!(silent.status, 1);
    assert!(silent.stderr.contains("does not answer"), "{}", silent.stderr);
}

#[test]
fn a_wrong_token_and_a_wrong_pipeline_are_refused_in_one_line() {
    let folder = Folder::new();
    let platform = Platform::start(&folder.path().join("data"), 0);
    folder.write("wrong.token", "abc");
    let stranger = Asker { folder: &folder, url: platform.url.clone(), token_file: folder.path().join("wrong.token") };
    let refused = stranger.tidegate(&["job", "list"]);
    assert!(refused.refusal().starts_with("unauthenticated: "), "{}", refused.stderr);
    let acme = tenant(&platform, &folder, "acme", "1.0.0");
    folder.write("slide.yaml", PIPELINE.replace("size: 1m", "size: 1m\n  slide: 2m").replace("tumbling", "sliding"));
    let refused = acme.asker.tidegate(&["job", "submit", "slide.yaml"]);
    let line = refused.refusal();
    assert!(
        line.starts_with("invalid-pipeline: ") && line.contains("window.slide") && line.contains("line "),
        "{line}"
    );
    assert_eq!(acme.asker.must(&["job", "list"]), "no jobs yet: tidegate job submit FILE\n");
    assert!(acme.job_is_absent("campaign-metrics"));
}

impl Tenant<'_> {
    fn job_is_absent(&self, name: &str) -> bool {
        self.asker.tidegate(&["job", "status", name]).refusal().starts_with("not-found: ")
    }
}
