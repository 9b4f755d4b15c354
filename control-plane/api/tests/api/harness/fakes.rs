//! The seams' fakes: a clock that is set, tables in memory, a runner that runs nothing.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::{Value, json};
use tidegate_api::{RowOrder, RowPage, RowQuery, TableInfo, TablesError};
use tidegate_coordinator::{
    CheckpointStatus, CompletedCheckpoint, FailingCheckpoints, FoundComponent, JobKey, JobRunner, Lag, RegistryDown,
    RestoredCheckpoint, Run, RunAccount, RunEnd, RunStatus, StartError, StartJob,
};
use tidegate_types::{Clock, EventTime, Name, TenantId};
use tokio::sync::oneshot;

/// A clock that stands until it is set forward.
pub(crate) struct SetClock(AtomicI64);

impl Default for SetClock {
    fn default() -> Self {
        Self(AtomicI64::new(1_792_662_060_000))
    }
}

impl SetClock {
    pub(crate) fn forward(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now(&self) -> EventTime {
        self.0.load(Ordering::SeqCst)
    }
}

/// A test that fails before it opens a gate ends after this.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where work waits until it is opened, for good.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<GateState>,
    moved: Condvar,
}

#[derive(Default)]
struct GateState {
    waiting: usize,
    open: bool,
}

impl Gate {
    pub(crate) fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.waiting += 1;
        self.moved.notify_all();
        drop(self.moved.wait_timeout_while(state, PATIENCE, |state| !state.open).unwrap());
    }

    pub(crate) fn open(&self) {
        self.state.lock().unwrap().open = true;
        self.moved.notify_all();
    }

    /// Returns once so many have come to the gate.
    pub(crate) async fn reached_by(self: &std::sync::Arc<Self>, waiting: usize) {
        let gate = self.clone();
        let wait =
            move || drop(gate.moved.wait_while(gate.state.lock().unwrap(), |state| state.waiting < waiting).unwrap());
        tokio::task::spawn_blocking(wait).await.unwrap();
    }
}

/// Tables in memory: rows in the order of their changes. A table named `panics`, `broken` or `blocked` does what it says.
#[derive(Default)]
pub(crate) struct Tables {
    rows: Mutex<BTreeMap<(String, String), Vec<Value>>>,
    pub(crate) gate: std::sync::Arc<Gate>,
}

impl Tables {
    /// Writes a row; its key is the member `id`.
    pub(crate) fn put(&self, tenant: &str, table: &str, row: Value) {
        let mut rows = self.rows.lock().unwrap();
        let rows = rows.entry((tenant.into(), table.into())).or_default();
        rows.retain(|old| old["id"] != row["id"]);
        rows.push(row);
    }
}

impl tidegate_api::Tables for Tables {
    fn list(&self, tenant: &TenantId) -> Result<Vec<TableInfo>, TablesError> {
        let rows = self.rows.lock().unwrap();
        let own = rows.iter().filter(|((owner, _), _)| owner == tenant.as_str());
        let info = own.map(|((_, name), rows)| TableInfo {
            name: name.clone(),
            columns: vec!["id".into(), "n".into()],
            key: vec!["id".into()],
            rows: rows.len() as u64,
        });
        Ok(info.collect())
    }

    fn rows(&self, tenant: &TenantId, table: &Name, query: &RowQuery) -> Result<RowPage, TablesError> {
        match table.as_str() {
            "panics" => panic!("secret text of a panic"),
            "broken" => return Err(TablesError::Unavailable("/secret/path: disk on fire".into())),
            "blocked" => self.gate.pass(),
            _ => {}
        }
        let rows = self.rows.lock().unwrap();
        let own = rows.get(&(tenant.to_string(), table.to_string()));
        let mut rows = own.ok_or(TablesError::NotFound)?.clone();
        if let Some((column, _)) =
            query.filter.iter().find(|(column, _)| !["id", "n", "pane_is_last"].contains(&column.as_str()))
        {
            return Err(TablesError::UnknownColumn { column: column.clone() });
        }
        rows.retain(|row| query.filter.iter().all(|(column, value)| text(&row[column]) == *value));
        if query.order == RowOrder::Key {
            rows.sort_by_key(|row| text(&row["id"]));
        }
        let start = query.after.as_deref().map_or(Ok(0), str::parse::<usize>).map_err(|_| TablesError::BadPosition)?;
        if query.with.version {
            rows.iter_mut().for_each(|row| row["version"] = json!({"pane_index": 0}));
        }
        let page: Vec<Bytes> = rows.iter().skip(start).take(query.limit).map(|row| row.to_string().into()).collect();
        let end = start + page.len();
        let follows = end < rows.len() || query.order == RowOrder::Changed;
        Ok(RowPage { rows: page, next: follows.then(|| end.to_string()) })
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A registry with one component, `enrich`.
pub(crate) struct Components;

#[async_trait]
impl tidegate_coordinator::Components for Components {
    async fn find(
        &self,
        _: &TenantId,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<FoundComponent>, RegistryDown> {
        let version = version.unwrap_or("1.0.0").to_owned();
        let found = FoundComponent { version, digest: "ab".repeat(32), revoked: false };
        Ok((name == "enrich").then_some(found))
    }
}

/// Runs nothing. A job named `slow` waits at the gate before it starts; one named `down` cannot be started now.
#[derive(Default)]
pub(crate) struct Runner {
    running: Mutex<BTreeMap<JobKey, oneshot::Sender<RunEnd>>>,
    pub(crate) gate: std::sync::Arc<Gate>,
}

#[async_trait]
impl JobRunner for Runner {
    async fn check(&self, job: &StartJob) -> Result<(), StartError> {
        match job.key.name.as_str() {
            "slow" => {
                let gate = self.gate.clone();
                tokio::task::spawn_blocking(move || gate.pass()).await.unwrap();
                Ok(())
            }
            "down" => Err(StartError::Platform { reason: "no lane is free; try again".into() }),
            _ => Ok(()),
        }
    }

    async fn start(&self, job: StartJob) -> Result<Run, StartError> {
        let (end, ended) = oneshot::channel();
        self.running.lock().unwrap().insert(job.key, end);
        Ok(Run { ended })
    }

    fn stop(&self, job: &JobKey) {
        if let Some(end) = self.running.lock().unwrap().remove(job) {
            end.send(RunEnd::Stopped).unwrap_or_default();
        }
    }

    fn status(&self, job: &JobKey) -> Option<RunStatus> {
        self.running.lock().unwrap().contains_key(job).then(|| RunStatus {
            parallelism: 2,
            lag: Lag { records: 7, age_ms: 1_500 },
            source_lags: Vec::new(),
            watermark: Some(1_792_662_000_000),
            watermark_lag_ms: Some(60_000),
            account: RunAccount { read: 100, accepted: 98, too_late: 2, ..RunAccount::default() },
            checkpoints: Some(checkpoints()),
        })
    }
}

/// A run that went on from checkpoint 11, completed 12, and has failed three times since.
fn checkpoints() -> CheckpointStatus {
    CheckpointStatus {
        last: Some(CompletedCheckpoint {
            id: 12,
            completed_at: 1_792_662_000_500,
            duration_ms: 420,
            alignment_ms: 3,
            bytes_full: 1_000,
            bytes_transferred: 50,
            bytes_referenced: 950,
        }),
        completed: 1,
        failures: 4,
        failing: Some(FailingCheckpoints {
            in_a_row: 3,
            since: 1_792_662_010_500,
            last_error: "the store does not answer".into(),
        }),
        oldest_kept_age_ms: Some(30_000),
        store_bytes_per_second: Some(125),
        restored: Some(RestoredCheckpoint {
            id: 11,
            taken_at: 1_792_661_990_000,
            assign_ms: Some(1),
            download_ms: Some(20),
            open_ms: Some(5),
            warm_ms: Some(9),
            replay_ms: None,
        }),
        oldest_prepared_transaction_ms: Some(700),
    }
}
