//! A submission's way: judged in the tenant's turn, checked by the runner, written down, and supervised.
//!
//! Invariant: what is written down was checked in the same turn, and nothing runs before it is written down.

use std::sync::Arc;

use tidegate_pipeline::{Parsed, guarantee};
use tidegate_store::StoreError;
use tidegate_tenancy::{Caller, Denied, Permission, TenancyError};
use tidegate_types::TenantId;

use super::Coordinator;
use crate::decide::{Admitted, Standing, Writes, admit_kept, admit_live, admit_version};
use crate::error::SubmitError;
use crate::record::{Held, JobRecord};
use crate::runner::{JobKey, StartJob};
use crate::streams::JobStreams;
use crate::submit;
use crate::view::{JobState, JobView};

/// How often a submission is tried again because other submissions of the tenant came between.
const TRIES: u32 = 16;

/// What is known of a submission.
enum Known {
    /// It was made before: this is the job.
    Again(Box<JobView>),
    /// It is new. What stands under its name.
    Standing(Box<Option<Held<JobRecord>>>),
}

impl Coordinator {
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
            guarantee: guarantee(&job.pipeline.pipeline).sentences(),
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
            discarded: false,
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
}

fn standing_of(record: &JobRecord) -> Standing<'_> {
    Standing { version: record.version, text: &record.text, state: record.state }
}
