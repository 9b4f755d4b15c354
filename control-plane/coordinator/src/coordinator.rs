//! The coordinator's face: submit, list, get, cancel, resume, rest.
//!
//! Invariant: a live job has at most one supervisor in this process, and what is written down comes before what is done.

mod cancel;
mod holds;
mod submitting;
mod turns;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::json;
use tidegate_store::{Change, MetaStore, StoreError};
use tidegate_tenancy::{AuditEntry, Caller, Permission, Tenancy};
use tidegate_types::{Clock, EventTime, TenantId};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::components::Components;
use crate::decide::{RestartPolicy, Wish};
use crate::error::JobError;
use crate::record::{Held, JobRecord, Records};
use crate::runner::{JobKey, JobRunner};
use crate::supervisor::{Means, Supervisor, discard, statuses};
use crate::view::JobView;
pub use turns::Turn;
use turns::Turns;

/// Jobs that a tenant has records of, live ones and ended ones: as many as may be live at most.
const KEPT_JOBS: usize = 1_000;

/// Submits, runs and cancels jobs. Cheap to clone.
#[derive(Clone)]
pub struct Coordinator {
    inner: Arc<Inner>,
}

struct Inner {
    components: Arc<dyn Components>,
    tenancy: Arc<Tenancy>,
    means: Arc<Means>,
    turns: Turns,
    supervised: Mutex<BTreeMap<JobKey, Supervised>>,
}

/// A job's supervisor.
#[derive(Clone)]
struct Supervised {
    /// When the version was submitted that it supervises.
    submitted_at: EventTime,
    version: u64,
    /// Tells it what is wished; closed once it has ended.
    wish: watch::Sender<Wish>,
}

impl Coordinator {
    /// A coordinator over these parts. Nothing runs until [`Coordinator::resume_all`] or a submission.
    #[must_use]
    pub fn new(
        store: Arc<dyn MetaStore>,
        components: Arc<dyn Components>,
        tenancy: Arc<Tenancy>,
        runner: Arc<dyn JobRunner>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self::with_policy(store, components, tenancy, runner, clock, RestartPolicy::default())
    }

    /// [`Coordinator::new`] with another policy of restarts.
    #[must_use]
    pub fn with_policy(
        store: Arc<dyn MetaStore>,
        components: Arc<dyn Components>,
        tenancy: Arc<Tenancy>,
        runner: Arc<dyn JobRunner>,
        clock: Arc<dyn Clock>,
        policy: RestartPolicy,
    ) -> Self {
        let means = Arc::new(Means { records: Records::new(store), runner, clock, policy, kept_jobs: KEPT_JOBS });
        let (turns, supervised) = (Turns::default(), Mutex::default());
        Self { inner: Arc::new(Inner { components, tenancy, means, turns, supervised }) }
    }

    /// A tenant's jobs by name behind `after`, at most `limit` (1 to 1,000).
    ///
    /// # Errors
    /// If the caller may not see them, or the store fails.
    pub async fn list(
        &self,
        by: &Caller,
        tenant: &TenantId,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<JobView>, JobError> {
        by.may(Permission::ReadJobs, tenant)?;
        let jobs = self.records().page(tenant, after, limit).await?;
        let jobs = jobs.into_iter().filter_map(|held| Some((key_of(&held.value)?, held.value)));
        Ok(self.views(jobs.collect()).await)
    }

    /// One job.
    ///
    /// # Errors
    /// If there is none, the caller may not see it, or the store fails.
    pub async fn get(&self, by: &Caller, tenant: &TenantId, name: &str) -> Result<JobView, JobError> {
        by.may(Permission::ReadJobs, tenant)?;
        let (key, record) = self.find(tenant, name).await?;
        Ok(self.view(&key, record).await)
    }

    /// Starts every live job that has no supervisor, each from its newest checkpoint: what a process does when it begins.
    /// Gives their number.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn resume_all(&self) -> Result<usize, StoreError> {
        let mut resumed = 0;
        for record in self.records().all_jobs().await? {
            let Some(key) = key_of(&record.value) else { continue };
            if record.value.state.is_live() {
                self.supervise(&key).await?;
                resumed += 1;
            } else if !record.value.discarded {
                // The process that saw its end could not tidy up any more.
                discard(&self.inner.means, &key, record).await;
            }
        }
        Ok(resumed)
    }

    /// Stops every run and waits for its end: what a process does before it ends. The jobs stay live, and
    /// [`Coordinator::resume_all`] starts them again.
    pub async fn rest(&self) {
        let keys: Vec<JobKey> = self.supervised().keys().cloned().collect();
        for key in &keys {
            self.wish(key, Wish::Rest);
        }
        for key in keys {
            self.let_go(&key, Wish::Rest).await;
        }
    }

    async fn find(&self, tenant: &TenantId, name: &str) -> Result<(JobKey, JobRecord), JobError> {
        let none = || JobError::NotFound { name: name.to_owned() };
        let parsed = name.parse().map_err(|_| none())?;
        let held = self.records().job(tenant, name).await?.ok_or_else(none)?;
        Ok((JobKey { tenant: tenant.clone(), name: parsed }, held.value))
    }

    /// The changes that record a submission in the audit trail.
    fn audited(&self, by: &Caller, key: &JobKey, version: u64) -> Vec<Change> {
        let tenant = Some(key.tenant.clone());
        let entry = AuditEntry {
            tenant,
            action: "job.submit",
            target: key.name.to_string(),
            detail: json!({"version": version}),
        };
        self.inner.tenancy.audit_changes(Some(by), &entry)
    }

    /// Starts the supervisor of a job, unless there is one. One of an earlier version, which has ended and is about to go,
    /// is waited for.
    async fn supervise(&self, key: &JobKey) -> Result<(), StoreError> {
        loop {
            let Some(held) = self.records().job(&key.tenant, key.name.as_str()).await? else { return Ok(()) };
            let earlier = match self.supervised().entry(key.clone()) {
                Entry::Occupied(job) if !job.get().wish.is_closed() => job.get().clone(),
                _ if !held.value.state.is_live() => return Ok(()),
                Entry::Occupied(mut job) => {
                    job.insert(self.supervisor(key, held));
                    return Ok(());
                }
                Entry::Vacant(job) => {
                    job.insert(self.supervisor(key, held));
                    return Ok(());
                }
            };
            if (earlier.version, earlier.submitted_at) == (held.value.version, held.value.submitted_at) {
                return Ok(());
            }
            earlier.wish.closed().await;
        }
    }

    /// Starts a supervisor.
    fn supervisor(&self, key: &JobKey, held: Held<JobRecord>) -> Supervised {
        let (wish, wishes) = watch::channel(Wish::Run);
        let JobRecord { version, submitted_at, .. } = held.value;
        let supervisor = Supervisor::new(Arc::clone(&self.inner.means), key.clone(), held, wishes);
        tokio::spawn(watched(Arc::downgrade(&self.inner), key.clone(), tokio::spawn(supervisor.supervise())));
        Supervised { submitted_at, version, wish }
    }

    fn wish(&self, key: &JobKey, wish: Wish) {
        if let Some(job) = self.supervised().get(key) {
            hand(&job.wish, wish);
        }
    }

    /// Hands a wish to a job's supervisor and waits for its end. However many do so at once, all wait.
    async fn let_go(&self, key: &JobKey, wish: Wish) {
        let job = self.supervised().get(key).cloned();
        if let Some(job) = job {
            hand(&job.wish, wish);
            job.wish.closed().await;
        }
    }

    async fn view(&self, key: &JobKey, record: JobRecord) -> JobView {
        self.views(vec![(key.clone(), record)]).await.remove(0)
    }

    /// How jobs are. What a live one lags behind is asked on one thread that may block, for all of them. A version that has
    /// not started has no figures yet: what the runner may still know is of the version before.
    async fn views(&self, jobs: Vec<(JobKey, JobRecord)>) -> Vec<JobView> {
        let runs = |record: &JobRecord| record.state.is_live() && record.started_at.is_some();
        let keys = jobs.iter().map(|(key, record)| runs(record).then(|| key.clone())).collect();
        let statuses = statuses(&self.inner.means.runner, keys).await;
        jobs.iter().zip(statuses).map(|((_, record), status)| record.view(status)).collect()
    }

    fn records(&self) -> &Records {
        &self.inner.means.records
    }

    fn supervised(&self) -> std::sync::MutexGuard<'_, BTreeMap<JobKey, Supervised>> {
        self.inner.supervised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands a wish to a supervisor. The first who cancels a job is the one who did; a process that rests does so in any case.
fn hand(job: &watch::Sender<Wish>, wish: Wish) {
    job.send_if_modified(|now| {
        let changes = *now == Wish::Run || wish == Wish::Rest;
        if changes {
            *now = wish;
        }
        changes
    });
}

/// Forgets a job's supervisor once it has ended.
async fn watched(coordinator: Weak<Inner>, key: JobKey, supervisor: JoinHandle<()>) {
    if let Err(error) = supervisor.await {
        tracing::error!(job = %key, %error, "a supervisor panicked; this is a defect of Tidegate");
    }
    let Some(inner) = coordinator.upgrade() else { return };
    let mut supervised = inner.supervised.lock().unwrap_or_else(PoisonError::into_inner);
    // Another one may be at its place already.
    if supervised.get(&key).is_some_and(|job| job.wish.is_closed()) {
        supervised.remove(&key);
    }
}

/// The key of a record. Names were checked when it was written.
fn key_of(record: &JobRecord) -> Option<JobKey> {
    Some(JobKey { tenant: record.tenant.parse().ok()?, name: record.name.parse().ok()? })
}

#[cfg(test)]
mod tests;
