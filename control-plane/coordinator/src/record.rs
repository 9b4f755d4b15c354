//! A job's record in the metadata store, and a tenant's list of live jobs beside it.
//!
//! Invariant: every change of a job's record that makes it live or ends it changes the list in the same commit, under
//! compare-and-set: two submissions at once cannot both take the last place, and no place is lost. Who wants a live job to
//! end stands in the list too, so the wish lasts exactly as long as the job.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tidegate_store::{Change, Document, Expect, MetaStore, StoreError};
use tidegate_types::{EventTime, TenantId};

use crate::checkpoint_status::CheckpointStatus;
use crate::checkpoints;
use crate::decide::LiveJobs;
use crate::runner::{JobKey, ResolvedComponent, RunStatus};
use crate::streams::JobStreams;
use crate::view::{JobState, JobView};

const JOB: &str = "job";
const LIVE: &str = "jobs-live";

/// Jobs that are read from the store at once.
const PAGE: usize = 200;

/// Changes by which records are forgotten in one commit, about: a store takes [`tidegate_store::MAX_CHANGES`] in all.
const MOST_FORGOTTEN: usize = 700;

/// What is kept of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobRecord {
    pub(crate) tenant: String,
    pub(crate) name: String,
    pub(crate) version: u64,
    pub(crate) text: String,
    pub(crate) components: Vec<ResolvedComponent>,
    pub(crate) streams: JobStreams,
    pub(crate) table: Option<String>,
    pub(crate) warnings: Vec<String>,
    /// What the job promises; empty of a record that an older release wrote, until its next start.
    #[serde(default)]
    pub(crate) guarantee: Vec<String>,
    pub(crate) state: JobState,
    pub(crate) reason: Option<String>,
    pub(crate) restarts: u32,
    /// The number of the last start of a job of this name, under whichever version; 0 before the first.
    #[serde(default)]
    pub(crate) starts: u64,
    pub(crate) submitted_at: EventTime,
    pub(crate) submitted_by: String,
    pub(crate) started_at: Option<EventTime>,
    pub(crate) ended_at: Option<EventTime>,
    /// How far the last run was when it ended.
    pub(crate) last: Option<RunStatus>,
    /// Whether what the job had left was let go of, after it had ended for good.
    #[serde(default)]
    pub(crate) discarded: bool,
}

impl JobRecord {
    /// The record as it is shown. `status`: of its run in this process.
    pub(crate) fn view(&self, status: Option<RunStatus>) -> JobView {
        let status =
            if self.state.is_live() { status.or_else(|| self.last.clone()) } else { self.last.clone().or(status) };
        let checkpoints = status.as_ref().and_then(|status| status.checkpoints.clone());
        JobView {
            tenant: self.tenant.clone(),
            name: self.name.clone(),
            version: self.version,
            state: self.state,
            reason: self.reason.clone(),
            parallelism: status.as_ref().map(|status| status.parallelism),
            restarts: self.restarts,
            submitted_at: self.submitted_at,
            submitted_by: self.submitted_by.clone(),
            started_at: self.started_at,
            ended_at: self.ended_at,
            last_checkpoint: checkpoints.as_ref().and_then(CheckpointStatus::newest_at),
            checkpoints,
            lag: status.as_ref().map(|status| status.lag),
            source_lags: status.as_ref().map(|status| status.source_lags.clone()).unwrap_or_default(),
            watermark: status.as_ref().and_then(|status| status.watermark),
            watermark_lag_ms: status.as_ref().and_then(|status| status.watermark_lag_ms),
            account: status.as_ref().map(|status| status.account),
            streams: self.streams_and_tables(),
            table: self.table.clone(),
            components: self.components.clone(),
            guarantee: self.guarantee.clone(),
            warnings: self.warnings.clone(),
        }
    }
}

impl JobRecord {
    /// What it reads and writes. A record of a job that had one sink tells its table apart from its streams.
    fn streams_and_tables(&self) -> JobStreams {
        let mut streams = self.streams.clone();
        if streams.tables().is_empty()
            && let Some(result) = streams.results.first_mut()
        {
            result.table = self.table.clone();
        }
        streams
    }
}

/// Something stored, and the version to expect when it is written again.
#[derive(Debug, Clone)]
pub(crate) struct Held<T> {
    pub(crate) version: Option<u64>,
    pub(crate) value: T,
}

impl<T> Held<T> {
    fn expect(&self) -> Expect {
        self.version.map_or(Expect::Absent, Expect::Version)
    }
}

/// Reads and writes records.
#[derive(Clone)]
pub(crate) struct Records {
    store: Arc<dyn MetaStore>,
}

impl Records {
    pub(crate) fn new(store: Arc<dyn MetaStore>) -> Self {
        Self { store }
    }

    pub(crate) async fn job(&self, tenant: &TenantId, name: &str) -> Result<Option<Held<JobRecord>>, StoreError> {
        let found = self.store.get(JOB, &path(tenant.as_str(), name)).await?;
        found.map(|document| read(JOB, document)).transpose()
    }

    /// A tenant's jobs by name behind `after`, at most `limit`.
    pub(crate) async fn page(
        &self,
        tenant: &TenantId,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Held<JobRecord>>, StoreError> {
        let after = after.map(|name| path(tenant.as_str(), name));
        let page = self.store.list(JOB, &format!("{tenant}/"), after.as_deref(), limit).await?;
        page.into_iter().map(|document| read(JOB, document)).collect()
    }

    /// All of a tenant's jobs, by name.
    pub(crate) async fn jobs(&self, tenant: &TenantId) -> Result<Vec<Held<JobRecord>>, StoreError> {
        self.all(&format!("{tenant}/")).await
    }

    /// Everybody's jobs.
    pub(crate) async fn all_jobs(&self) -> Result<Vec<Held<JobRecord>>, StoreError> {
        self.all("").await
    }

    async fn all(&self, prefix: &str) -> Result<Vec<Held<JobRecord>>, StoreError> {
        let mut records: Vec<Held<JobRecord>> = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = self.store.list(JOB, prefix, after.as_deref(), PAGE).await?;
            let full = page.len() == PAGE;
            after = page.last().map(|document| document.path.clone());
            for document in page {
                records.push(read(JOB, document)?);
            }
            if !full {
                return Ok(records);
            }
        }
    }

    pub(crate) async fn live(&self, tenant: &TenantId) -> Result<Held<LiveJobs>, StoreError> {
        match self.store.get(LIVE, tenant.as_str()).await? {
            Some(document) => read(LIVE, document),
            None => Ok(Held { version: None, value: LiveJobs::default() }),
        }
    }

    /// Writes a job that was submitted just now, the list that it is on, and the audit trail; and forgets these, with the
    /// pointers to their checkpoints.
    pub(crate) async fn submit(
        &self,
        key: &JobKey,
        job: &Held<JobRecord>,
        live: &Held<LiveJobs>,
        pruned: &[Held<JobRecord>],
        audit: Vec<Change>,
    ) -> Result<(), StoreError> {
        let mut forgotten = Vec::new();
        for held in pruned {
            // The rest goes with the next submission.
            if forgotten.len() > MOST_FORGOTTEN {
                break;
            }
            let JobRecord { tenant, name, .. } = &held.value;
            let (kind, path) = (JOB.to_owned(), path(tenant, name));
            forgotten.push(Change::Delete { kind, path, expect: held.expect() });
            forgotten.extend(checkpoints::forget(&*self.store, tenant, name).await?);
        }
        let changes = [put_job(key, job), put_live(&key.tenant, live)];
        self.store.commit(changes.into_iter().chain(forgotten).chain(audit).collect()).await
    }

    /// Writes a tenant's list of live jobs, and the audit trail.
    pub(crate) async fn note_live(
        &self,
        tenant: &TenantId,
        live: &Held<LiveJobs>,
        audit: Vec<Change>,
    ) -> Result<(), StoreError> {
        self.store.commit([put_live(tenant, live)].into_iter().chain(audit).collect()).await
    }

    /// Writes a live job's record, and gives it with its new version.
    pub(crate) async fn update(&self, key: &JobKey, job: Held<JobRecord>) -> Result<Held<JobRecord>, StoreError> {
        self.store.commit(vec![put_job(key, &job)]).await?;
        self.again(key, job.value).await
    }

    /// Writes the record of a job that has ended, and takes it off the list.
    pub(crate) async fn end(&self, key: &JobKey, job: Held<JobRecord>) -> Result<Held<JobRecord>, StoreError> {
        loop {
            let mut live = self.live(&key.tenant).await?;
            live.value.remove(key.name.as_str());
            match self.store.commit(vec![put_job(key, &job), put_live(&key.tenant, &live)]).await {
                // Another of the tenant's jobs changed the list in between.
                Err(StoreError::Conflict { kind, .. }) if kind == LIVE => {}
                Err(error) => return Err(error),
                Ok(()) => return self.again(key, job.value).await,
            }
        }
    }

    /// The record just written, with the version that the store gave it.
    async fn again(&self, key: &JobKey, written: JobRecord) -> Result<Held<JobRecord>, StoreError> {
        match self.job(&key.tenant, key.name.as_str()).await? {
            Some(held) if held.value == written => Ok(held),
            _ => Err(StoreError::Conflict { kind: JOB.to_owned(), path: path(key.tenant.as_str(), key.name.as_str()) }),
        }
    }
}

fn path(tenant: &str, name: &str) -> String {
    format!("{tenant}/{name}")
}

fn put_job(key: &JobKey, job: &Held<JobRecord>) -> Change {
    let path = path(key.tenant.as_str(), key.name.as_str());
    Change::Put { kind: JOB.to_owned(), path, body: body(&job.value), expect: job.expect() }
}

fn put_live(tenant: &TenantId, live: &Held<LiveJobs>) -> Change {
    let path = tenant.as_str().to_owned();
    Change::Put { kind: LIVE.to_owned(), path, body: body(&live.value), expect: live.expect() }
}

fn body<T: Serialize>(value: &T) -> serde_json::Value {
    serde_json::to_value(value).expect("names, texts and numbers are JSON")
}

fn read<T: DeserializeOwned>(kind: &str, document: Document) -> Result<Held<T>, StoreError> {
    let Document { path, version, body } = document;
    let value = serde_json::from_value(body)
        .map_err(|error| StoreError::Corrupt { reason: format!("the {kind} `{path}`: {error}") })?;
    Ok(Held { version: Some(version), value })
}
