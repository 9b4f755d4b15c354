//! The coordinator's face: submit, list, get, cancel, resume, rest.
//!
//! Invariant: a live job has at most one supervisor in this process, and what is written down comes before what is done.

mod cancel;
mod holds;
mod turns;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::json;
use tidegate_pipeline::Parsed;
use tidegate_store::{Change, MetaStore, StoreError};
use tidegate_tenancy::{AuditEntry, Caller, Denied, Permission, Tenancy, TenancyError};
use tidegate_types::{Clock, EventTime, TenantId};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::components::Components;
use crate::decide::{Admitted, RestartPolicy, Standing, Wish, Writes, admit_kept, admit_live, admit_version};
use crate::error::{JobError, SubmitError};
use crate::record::{Held, JobRecord, Records};
use crate::runner::{JobKey, JobRunner, StartJob};
use crate::streams::JobStreams;
use crate::submit;
use crate::supervisor::{Means, Supervisor, statuses};
use crate::view::{JobState, JobView};
pub use turns::Turn;
use turns::Turns;

/// How often a submission is tried again because other submissions of the tenant came between.
const TRIES: u32 = 16;

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

/// What is known of a submission.
enum Known {
    /// It was made before: this is the job.
    Again(Box<JobView>),
    /// It is new. What stands under its name.
    Standing(Box<Option<Held<JobRecord>>>),
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

    /// Submits a pipeline (YAML or JSON text) and starts it. The same text submitted again gives the same job, and starts it
    /// if it is to run and nobody runs it. A tenant's submissions are looked at one after the other.
    ///
    /// # Errors
    /// What is wrong with the pipeline, what is in its way, or that the caller may not.
    ///
    /// # Cancel safety
    /// A submission whose turn has come goes on if this future is dropped: its turn lasts as long as what it holds.
    pub async fn submit(&self, by: &Caller, tenant: &TenantId, text: &str) -> Result<JobView, SubmitError> {
        by.may(Permission::SubmitJob, tenant)?;
        let (parsed, name) = submit::read(text)?;
        let key = JobKey { tenant: tenant.clone(), name };
        let turn = self.inner.turns.wait(tenant).await;
        let (coordinator, by, text) = (self.clone(), by.clone(), text.to_owned());
        let submission = tokio::spawn(async move {
            let _turn = turn;
            coordinator.submit_in_turn(&by, key, parsed, &text).await
        });
        submission.await.unwrap_or_else(|error| {
            tracing::error!(%tenant, %error, "a submission panicked; this is a defect of Tidegate");
            Err(SubmitError::Unavailable { reason: "a defect of Tidegate; the operator's log says more".to_owned() })
        })
    }

    async fn submit_in_turn(
        &self,
        by: &Caller,
        key: JobKey,
        parsed: Parsed,
        text: &str,
    ) -> Result<JobView, SubmitError> {
        let version = parsed.pipeline.version;
        if let Known::Again(job) = self.known(&key, version, text).await? {
            return Ok(*job);
        }
        let components = submit::resolve(&self.inner.components, &key.tenant, &parsed).await?;
        // What the quota refuses is not worth the fetching of its components.
        let (live, limit) = (self.records().live(&key.tenant).await?, self.jobs_allowed(&key.tenant).await?);
        admit_live(&live.value, key.name.as_str(), &Writes::of(&parsed.pipeline), limit)?;
        let pipeline = Arc::new(parsed);
        let job = StartJob { key, version, restore_epoch: 0, pipeline: Arc::clone(&pipeline), components };
        let checked = self.inner.means.runner.check(&job).await;
        checked.map_err(|error| submit::not_startable(&pipeline, error))?;
        self.accept(by, job, text).await
    }

    /// What is known of a submission: the job itself, if it was made before, or what stands under its name.
    async fn known(&self, key: &JobKey, version: u64, text: &str) -> Result<Known, SubmitError> {
        let standing = self.records().job(&key.tenant, key.name.as_str()).await?;
        let now = standing.as_ref().map(|held| standing_of(&held.value));
        match (admit_version(key.name.as_str(), version, text, now)?, standing) {
            (Admitted::Again, Some(held)) => {
                // Its supervisor may not have been started, or may be gone.
                self.supervise(key).await?;
                Ok(Known::Again(Box::new(self.view(key, held.value).await)))
            }
            (_, standing) => Ok(Known::Standing(Box::new(standing))),
        }
    }

    /// Writes a job down that may run, and starts its supervisor.
    async fn accept(&self, by: &Caller, job: StartJob, text: &str) -> Result<JobView, SubmitError> {
        let key = job.key.clone();
        let (tenant, name) = (&key.tenant, key.name.as_str());
        let limit = self.jobs_allowed(tenant).await?;
        let writes = Writes::of(&job.pipeline.pipeline);
        let record = JobRecord {
            tenant: tenant.as_str().to_owned(),
            name: name.to_owned(),
            version: job.version,
            text: text.to_owned(),
            components: job.components,
            streams: JobStreams::of(&job.pipeline.pipeline),
            table: writes.tables.first().cloned(),
            warnings: job.pipeline.warnings.iter().map(ToString::to_string).collect(),
            state: JobState::Submitted,
            reason: None,
            restarts: 0,
            starts: 0,
            submitted_at: self.inner.means.clock.now(),
            submitted_by: by.subject.clone(),
            started_at: None,
            ended_at: None,
            last: None,
        };
        for _ in 0..TRIES {
            let standing = match self.known(&key, job.version, text).await? {
                Known::Again(job) => return Ok(*job),
                Known::Standing(standing) => *standing,
            };
            let live = self.records().live(tenant).await?;
            let value = admit_live(&live.value, name, &writes, limit)?;
            let mut live = Held { version: live.version, value };
            let pruned = match standing {
                Some(_) => Vec::new(),
                None => admit_kept(self.records().jobs(tenant).await?, self.inner.means.kept_jobs)?,
            };
            live.value.forget(&pruned);
            let starts = standing.as_ref().map_or(live.value.forgotten_starts, |held| held.value.starts);
            let value = JobRecord { starts, ..record.clone() };
            let written = Held { version: standing.and_then(|held| held.version), value };
            let audit = self.audited(by, &key, job.version);
            match self.records().submit(&key, &written, &live, &pruned, audit).await {
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
                Ok(()) => {
                    self.supervise(&key).await?;
                    return Ok(self.view(&key, record).await);
                }
            }
        }
        let reason = "other submissions of the tenant came between again and again; try again".to_owned();
        Err(SubmitError::Unavailable { reason })
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

    /// Starts every live job that has no supervisor, from the start of its input: what a process does when it begins.
    /// Gives their number.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn resume_all(&self) -> Result<usize, StoreError> {
        let mut resumed = 0;
        for Held { value: record, .. } in self.records().all_jobs().await? {
            let Some(key) = key_of(&record).filter(|_| record.state.is_live()) else { continue };
            self.supervise(&key).await?;
            resumed += 1;
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

    async fn jobs_allowed(&self, tenant: &TenantId) -> Result<u32, SubmitError> {
        match self.inner.tenancy.limits_of(tenant).await {
            Ok(limits) => Ok(limits.jobs),
            Err(TenancyError::NotFound { name, .. }) => Err(Denied::NotFound { tenant: name }.into()),
            Err(TenancyError::Store(error)) => Err(error.into()),
            Err(error) => {
                tracing::error!(%tenant, %error, "a tenant's limits cannot be read");
                Err(SubmitError::Unavailable { reason: "the tenant's limits cannot be read now; try again".to_owned() })
            }
        }
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

fn standing_of(record: &JobRecord) -> Standing<'_> {
    Standing { version: record.version, text: &record.text, state: record.state }
}

/// The key of a record. Names were checked when it was written.
fn key_of(record: &JobRecord) -> Option<JobKey> {
    Some(JobKey { tenant: record.tenant.parse().ok()?, name: record.name.parse().ok()? })
}

#[cfg(test)]
mod tests;
