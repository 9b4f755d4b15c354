//! Jobs run for real: from a stream to a table, with what was late or rejected beside it, and end with nothing left.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use sha2::{Digest, Sha256};
use tidegate_coordinator::RunEnd;
use tidegate_log::{AppendBatch, MemoryLog, Producer, Retention, StreamId, StreamSpec};
use tidegate_registry::{Admission, AdmissionError, Admitted, Candidate, ImageOf};
use tidegate_sandbox::SandboxConfig;
use tidegate_sink_sqlite::RowQuery;
use tidegate_state_rocksdb::{RocksBackends, RocksOptions};
use tidegate_store::{Change, Expect, MemoryStore, MetaStore};
use tidegate_tenancy::{Caller, Role, TenantLimits, TokenKeys};
use tidegate_types::{Stamp, TenantId};

use super::*;
use crate::clock::SystemClock;

mod checkpoints;
mod graphs;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Admits nothing, and finds that every image fits. Counts the images it looked at.
#[derive(Default)]
struct NoAdmission(AtomicUsize);

fn nothing() -> AdmissionError {
    AdmissionError::Unavailable { reason: "nothing is admitted here".into() }
}

#[async_trait]
impl Admission for NoAdmission {
    async fn admit(&self, _candidate: Candidate) -> Result<Admitted, AdmissionError> {
        Err(nothing())
    }

    async fn recompile(&self, _candidate: Candidate) -> Result<Bytes, AdmissionError> {
        Err(nothing())
    }

    fn fits(&self, _of: ImageOf<'_>, _image: &[u8]) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst);
        true
    }
}

struct Place {
    folder: tempfile::TempDir,
    runner: Runner,
    store: Arc<MemoryStore>,
    blobs: Arc<InMemory>,
    admission: Arc<NoAdmission>,
}

fn tenant(name: &str) -> TenantId {
    name.parse().expect("a name")
}

impl Place {
    /// Two tenants, `acme` and `other`, each with an empty stream `events` of two partitions.
    async fn new() -> Self {
        Self::with_streams(4).await
    }

    /// The same; each tenant may have so many streams.
    async fn with_streams(streams: u32) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let store = Arc::new(MemoryStore::new());
        let keys = TokenKeys::ephemeral().expect("a key");
        let tenancy = Arc::new(Tenancy::new(Arc::clone(&store) as _, keys, Arc::clone(&clock)));
        let admin = Caller { subject: "root".into(), role: Role::PlatformAdmin, tenant: None, token_id: "t".into() };
        let limits = TenantLimits { lanes: 1, streams, ..TenantLimits::default() };
        let (blobs, admission) = (Arc::new(InMemory::new()), Arc::<NoAdmission>::default());
        let registry = Registry::new(
            Arc::clone(&store) as _,
            Arc::clone(&blobs) as _,
            Arc::clone(&admission) as _,
            Arc::clone(&tenancy),
            Arc::clone(&clock),
        );
        let log: Arc<dyn Log> = Arc::new(MemoryLog::new());
        for name in ["acme", "other"] {
            tenancy.create_tenant(&admin, &tenant(name), limits.clone()).await.expect("a tenant");
            let spec = StreamSpec { partitions: 2, retention: Retention::default(), max_record_bytes: 1 << 20 };
            log.create(&stream(name, "events"), &spec).expect("a stream");
        }
        let checkpoints = folder.path().join("checkpoints");
        std::fs::create_dir(&checkpoints).expect("a folder");
        let parts = RunnerParts {
            sandbox: Sandbox::new(SandboxConfig::default()).expect("a sandbox"),
            image_key: ImageKey::new([7; 32]),
            registry: Arc::new(registry),
            tenancy,
            log,
            tables: SqliteTables::open(folder.path()).expect("a folder"),
            clock,
            keeping: Keeping {
                store: Arc::new(LocalFileSystem::new_with_prefix(checkpoints).expect("a folder")),
                pointers: Arc::new(StoredPointers::new(Arc::clone(&store) as _)),
                backends: Arc::new(RocksBackends::new(&RocksOptions::default())),
                folder: folder.path().join("state"),
                runtime: tokio::runtime::Handle::current(),
                least_interval: Duration::from_millis(10),
            },
        };
        Self { folder, runner: Runner::new(parts), store, blobs, admission }
    }

    /// An artifact `hooks@1.0.0` of acme's, as the registry keeps it. Gives its digest.
    async fn artifact(&self) -> String {
        let bytes = b"a component";
        let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let body = serde_json::json!({
            "tenant": "acme", "name": "hooks", "version": "1.0.0", "digest": digest, "size": bytes.len(), "hooks": [],
            "imports": [], "key_id": "k", "call_fuel": null, "memory_bytes": null, "expires_at": 0, "admitted_at": 0,
            "admitted_by": "ann", "warm_up": [], "remarks": [],
        });
        let path = "acme/hooks/0000000001.0000000000.0000000000".to_owned();
        let put = Change::Put { kind: "artifact".into(), path, body, expect: Expect::Absent };
        self.store.commit(vec![put]).await.expect("written");
        for path in [format!("components/{digest}.wasm"), format!("images/{digest}.image")] {
            let path = format!("tenants/acme/{path}").into();
            self.blobs.put(&path, Bytes::from_static(bytes).into()).await.expect("written");
        }
        digest
    }

    fn append(&self, tenant: &str, partition: u32, records: &[&str]) {
        let records = records.iter().map(|record| (partition, Bytes::copy_from_slice(record.as_bytes()))).collect();
        let producer = Producer { name: "test".into(), sequence: None };
        let batch = AppendBatch { records, ingest_time: self.runner.parts.clock.now(), producer, room: None };
        self.runner.parts.log.append(&stream(tenant, "events"), batch).expect("appended");
    }

    fn seal(&self, tenant: &str) {
        self.runner.parts.log.seal(&stream(tenant, "events"), None).expect("sealed");
    }

    /// The rows of a table, by key.
    fn rows(&self, owner: &str, table: &str) -> Vec<serde_json::Value> {
        let with = Stamp { version: true, ..Stamp::default() };
        let query = RowQuery { limit: 1000, with, ..RowQuery::default() };
        let page = self.runner.parts.tables.rows(&tenant(owner), table, &query).expect("there is the table");
        page.rows.iter().map(|row| serde_json::from_slice(row).expect("JSON")).collect()
    }

    /// The records of a stream's first partition.
    fn records(&self, owner: &str, name: &str) -> Vec<serde_json::Value> {
        self.read(owner, name, 0)
    }

    /// The records of a stream's partition.
    fn read(&self, owner: &str, name: &str, partition: u32) -> Vec<serde_json::Value> {
        let log = &self.runner.parts.log;
        let chunk = log.read(&stream(owner, name), partition, 0, 1000, 1 << 20).expect("there is the stream");
        chunk.records.iter().map(|record| serde_json::from_slice(&record.bytes).expect("JSON")).collect()
    }

    /// Waits until a job's status is so.
    async fn until(&self, key: &JobKey, is: impl Fn(&RunStatus) -> bool) -> RunStatus {
        for _ in 0..20_000 {
            if let Some(status) = self.runner.status(key).filter(&is) {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("it never is: {:?}", self.runner.status(key));
    }
}

fn stream(owner: &str, name: &str) -> StreamId {
    StreamId { tenant: tenant(owner), name: name.parse().expect("a name") }
}

const TABLE: &str = "sink: {type: upsert_store, table: minutes, key: [k, window_start]}\n";

fn job(owner: &str, name: &str, rest: &str) -> StartJob {
    let text = format!(
        "job: {name}\nversion: 1\nsource:\n  log: events\n  timestamp_field: t\n  watermark: {{strategy: ascending}}\n\
         key_by: [k]\nwindow: {{type: tumbling, size: 1m}}\naggregate: {{n: {{fn: count}}}}\n{rest}"
    );
    let pipeline = Arc::new(tidegate_pipeline::parse(&text).expect("a pipeline"));
    let key = JobKey { tenant: tenant(owner), name: name.parse().expect("a name") };
    StartJob { key, version: 1, restore_epoch: 1, pipeline, components: Vec::new() }
}

async fn end(run: Run) -> RunEnd {
    tokio::time::timeout(PATIENCE, run.ended).await.expect("it ends").expect("its end is told")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_writes_its_table_and_what_it_rejects_and_finishes_with_its_input() {
    let place = Place::new().await;
    let job = job("acme", "minutes", &format!("{TABLE}late_side_output: late\n"));
    place.runner.check(&job).await.expect("it could start");
    assert_eq!(place.runner.parts.log.list(&tenant("acme")).expect("listed").len(), 1, "a check makes nothing");
    let key = job.key.clone();
    let run = place.runner.start(job.clone()).await.expect("it runs");
    assert!(matches!(place.runner.start(job).await, Err(StartError::Platform { .. })), "a job runs once");
    place.append(
        "acme",
        0,
        &[r#"{"t": 1000, "k": "a"}"#, r#"{"t": 61000, "k": "a"}"#, "no json", r#"{"t": 2, "k": "a"}"#],
    );
    place.append("acme", 1, &[r#"{"t": 1000, "k": "b"}"#]);
    let status = place.until(&key, |status| status.account.read == 5).await;
    place.runner.forget(&key);
    assert!(place.runner.status(&key).is_some(), "a job that runs is not forgotten");
    assert_eq!((status.parallelism, status.lag.records), (1, 0));
    assert_eq!(status.watermark, Some(1000), "the slower partition holds it back");
    place.seal("acme");
    assert_eq!(end(run).await, RunEnd::Finished);
    let account = place.runner.status(&key).expect("it ran").account;
    assert_eq!((account.read, account.accepted, account.rejected), (5, 4, 1));
    place.runner.forget(&key);
    assert_eq!(place.runner.jobs().len(), 0, "nothing is kept of a job that has ended");
    let rows = place.rows("acme", "minutes");
    let told: Vec<_> = rows.iter().map(|row| (row["k"].as_str().unwrap(), row["n"].as_i64().unwrap())).collect();
    assert_eq!(told, [("a", 2), ("a", 1), ("b", 1)]);
    let dead = place.records("acme", "minutes-dead-letters");
    assert_eq!((dead[0]["offset"].as_i64(), dead[0]["record"].as_str()), (Some(2), Some("no json")));
    assert!(place.runner.parts.log.describe(&stream("acme", "late")).is_ok(), "absent outputs are made");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_job_ends_with_its_windows_open_and_no_thread_left() {
    let place = Place::new().await;
    let job = job("acme", "minutes", &format!("{TABLE}trigger: {{early: every 1 elements}}\n"));
    let key = job.key.clone();
    let run = place.runner.start(job.clone()).await.expect("it runs");
    place.append("acme", 0, &[r#"{"t": 1000, "k": "a"}"#]);
    place.until(&key, |status| status.account.panes.early == 1).await;
    place.runner.stop(&key);
    assert_eq!(end(run).await, RunEnd::Stopped);
    let rows = place.rows("acme", "minutes");
    assert_eq!((rows.len(), rows[0]["pane"]["timing"].as_str()), (1, Some("EARLY")), "what was emitted is there");
    assert_eq!(place.runner.tenants.running(), 0, "the tenant's lanes have ended with its last job");
    // It can be started again. It has no checkpoint yet, so it begins at the start of its input.
    let next = StartJob { restore_epoch: 2, ..job.clone() };
    let again = place.runner.start(next).await.expect("it runs again");
    place.until(&key, |status| status.account.read == 1).await;
    place.seal("acme");
    assert_eq!(end(again).await, RunEnd::Finished);
    let row = &place.rows("acme", "minutes")[0];
    assert_eq!(row["pane"]["timing"].as_str(), Some("ON_TIME"));
    assert_eq!(row["version"], serde_json::json!({"precedence": 0, "restore_epoch": 2, "pane_index": 1}));
    let stale = place.runner.start(job).await.map(drop).expect_err("an older start").to_string();
    assert!(stale.ends_with("a later start of it owns its checkpoints"), "{stale}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_fails_leaves_its_tenants_other_jobs_running() {
    let place = Place::new().await;
    let healthy = job("acme", "healthy", "sink: {type: upsert_store, table: healthy, key: [k, window_start]}\n");
    let sealed = job("acme", "failing", "sink: {type: log, log: out}\n");
    let going = place.runner.start(healthy.clone()).await.expect("it runs");
    let failing = place.runner.start(sealed.clone()).await.expect("it runs");
    // Its output is sealed under it: the first pane cannot be written.
    place.runner.parts.log.seal(&stream("acme", "out"), None).expect("sealed");
    place.append("acme", 0, &[r#"{"t": 1000, "k": "a"}"#]);
    place.append("acme", 1, &[r#"{"t": 1000, "k": "a"}"#]);
    place.append("acme", 0, &[r#"{"t": 61000, "k": "a"}"#]);
    place.append("acme", 1, &[r#"{"t": 61000, "k": "a"}"#]);
    let RunEnd::TenantFault { reason } = end(failing).await else { panic!("the tenant sealed it") };
    assert!(reason.contains("stream acme/out") && reason.contains("is sealed"), "{reason}");
    place.append("acme", 0, &[r#"{"t": 62000, "k": "b"}"#]);
    place.until(&healthy.key, |status| status.account.read == 5).await;
    let refused = place.runner.check(&sealed).await.expect_err("refused");
    assert!(refused.to_string().starts_with("sink.log: the stream `out` is sealed"), "{refused}");
    place.seal("acme");
    assert_eq!(end(going).await, RunEnd::Finished);
    assert_eq!(place.rows("acme", "healthy").len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_run_is_refused_at_its_place() {
    let place = Place::new().await;
    let refused = async |rest: &str| {
        let job = job("acme", "j", rest);
        let checked = place.runner.check(&job).await.expect_err("refused").to_string();
        assert_eq!(place.runner.start(job).await.map(drop).expect_err("refused").to_string(), checked);
        checked
    };
    let reason = refused("sink: {type: parquet, table: t}\n").await;
    assert_eq!(
        reason,
        "sink.type: `parquet` is not run yet by this release; use `upsert_store`, `transactional_log` or `log`"
    );
    // The tenant may have four streams, and has two.
    let spec = StreamSpec { partitions: 1, retention: Retention::default(), max_record_bytes: 1 << 20 };
    place.runner.parts.log.create(&stream("acme", "more"), &spec).expect("a stream");
    let reason = refused("sink: {type: log, log: a}\nlate_side_output: b\ndead_letter_output: c\n").await;
    assert!(reason.contains("makes 3 streams for its outputs, and the tenant has 2 of at most 4"), "{reason}");
    assert_eq!(place.runner.parts.log.list(&tenant("acme")).expect("listed").len(), 2, "nothing was made");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_that_is_not_there_is_named() {
    let place = Place::new().await;
    let mut job = job("acme", "j", TABLE);
    let mut parsed = (*job.pipeline).clone();
    "none".clone_into(&mut parsed.pipeline.sources[0].log);
    job.pipeline = Arc::new(parsed);
    let refused = place.runner.check(&job).await.expect_err("refused").to_string();
    assert_eq!(refused, "source.log: stream acme/none: does not exist; create it first");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tenants_write_tables_of_one_name_apart() {
    let place = Place::new().await;
    for owner in ["acme", "other"] {
        place.append(owner, 0, &[&format!(r#"{{"t": 1000, "k": "{owner}"}}"#)]);
        place.seal(owner);
        let run = place.runner.start(job(owner, "minutes", TABLE)).await.expect("it runs");
        assert_eq!(end(run).await, RunEnd::Finished);
    }
    for owner in ["acme", "other"] {
        let rows = place.rows(owner, "minutes");
        assert_eq!((rows.len(), rows[0]["k"].as_str()), (1, Some(owner)));
    }
}

#[tokio::test]
async fn an_artifact_that_several_hooks_name_is_fetched_once() {
    let place = Place::new().await;
    let digest = place.artifact().await;
    let mut job = job("acme", "j", TABLE);
    job.components = ["map", "aggregate.a", "aggregate.b"]
        .map(|path| ResolvedComponent {
            path: path.into(),
            name: "hooks".into(),
            version: "1.0.0".into(),
            digest: digest.clone(),
        })
        .to_vec();
    let images = place.runner.images(&job).await.expect("fetched");
    assert_eq!(images.len(), 1);
    assert_eq!(images[0].paths, ["map", "aggregate.a", "aggregate.b"]);
    assert_eq!(place.admission.0.load(Ordering::SeqCst), 1);
    job.components[2].digest = "00".into();
    let refused = place.runner.images(&job).await.err().expect("refused").to_string();
    assert!(refused.contains("is not the one that was there when the job was submitted"), "{refused}");
}
