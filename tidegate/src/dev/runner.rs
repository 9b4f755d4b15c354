//! Runs jobs for real: the coordinator's seam over lanes, sandbox, log, tables and registry.
//!
//! Everything of a job is opened on a thread that may block, its tasks run on the lanes of its tenant, and one thread waits
//! for its end. Invariant: a job whose end was told has no thread, no instance and no open transaction left.

mod assembly;
mod guest_log;
mod keeping;
mod outputs;
mod pointers;
mod reasons;
mod standing;
mod states;
mod tenants;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use async_trait::async_trait;
use tidegate_coordinator::{EndedJob, JobKey, JobRunner, ResolvedComponent, Run, RunStatus, StartError, StartJob};
use tidegate_log::Log;
use tidegate_registry::Registry;
use tidegate_sandbox::{ImageKey, Sandbox};
use tidegate_sink_sqlite::SqliteTables;
use tidegate_tenancy::Tenancy;
use tidegate_types::Clock;
use tidegate_worker::{JobRun, RunControl, RunningJob};
use tokio::sync::oneshot;

use assembly::{Assembly, Built, Image};
pub(super) use keeping::{Keeping, LEAST_INTERVAL};
pub(super) use pointers::StoredPointers;
use reasons::{already_runs, end_of, lost, registry_refused, tenancy_refused};
use standing::Standing;
use tenants::{TenantHost, TenantHosts};

/// What the runner works with.
pub(super) struct RunnerParts {
    /// Where components are loaded.
    pub(super) sandbox: Sandbox,
    /// The key of the images' seals.
    pub(super) image_key: ImageKey,
    /// The tenants' components.
    pub(super) registry: Arc<Registry>,
    /// The tenants' limits.
    pub(super) tenancy: Arc<Tenancy>,
    /// The streams.
    pub(super) log: Arc<dyn Log>,
    /// The result tables.
    pub(super) tables: SqliteTables,
    /// The wall clock.
    pub(super) clock: Arc<dyn Clock>,
    pub(super) keeping: Keeping,
}

/// Runs jobs.
pub(super) struct Runner {
    parts: Arc<RunnerParts>,
    tenants: TenantHosts,
    jobs: Mutex<BTreeMap<JobKey, Ran>>,
}

/// A job that runs, or ran.
struct Ran {
    /// What stops it; none of a job that had finished before.
    control: Option<RunControl>,
    standing: Arc<Standing>,
}

impl Runner {
    /// A runner of no jobs yet.
    pub(super) fn new(parts: RunnerParts) -> Self {
        let tenants = TenantHosts::new(Arc::clone(&parts.clock));
        Self { parts: Arc::new(parts), tenants, jobs: Mutex::default() }
    }

    /// Gathers what a job needs from elsewhere.
    async fn assembly(&self, job: &StartJob) -> Result<Assembly, StartError> {
        let limits = self.parts.tenancy.limits_of(&job.key.tenant).await.map_err(|error| tenancy_refused(&error))?;
        let images = self.images(job).await?;
        let host = self.tenants.of(&job.key.tenant, &limits).map_err(|error| reasons::no_threads(&error))?;
        let (parts, job) = (Arc::clone(&self.parts), job.clone());
        Ok(Assembly { parts, job, limits, images, host, no_more_calls: Arc::default() })
    }

    /// The images of a job's components, each artifact's once, however many hooks name it.
    async fn images(&self, job: &StartJob) -> Result<Vec<Image>, StartError> {
        let mut images: Vec<Image> = Vec::new();
        for component in &job.components {
            let place = match images.iter().position(|image| image.is(component)) {
                Some(place) => place,
                None => {
                    let ResolvedComponent { path, name, version, .. } = component;
                    let fetched = self.parts.registry.fetch(&job.key.tenant, name, Some(version)).await;
                    images.push(Image::new(fetched.map_err(|error| registry_refused(path, error))?));
                    images.len() - 1
                }
            };
            if images[place].artifact.digest != component.digest {
                return Err(lost("a component is not the one that was there when the job was submitted"));
            }
            images[place].paths.push(component.path.clone());
        }
        Ok(images)
    }

    fn jobs(&self) -> MutexGuard<'_, BTreeMap<JobKey, Ran>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&self, key: &JobKey) -> bool {
        self.jobs().get(key).is_some_and(|ran| ran.standing.runs())
    }
}

#[async_trait]
impl JobRunner for Runner {
    async fn check(&self, job: &StartJob) -> Result<(), StartError> {
        let assembly = self.assembly(job).await?;
        blocking(move || assembly.check()).await?
    }

    async fn start(&self, job: StartJob) -> Result<Run, StartError> {
        if self.runs(&job.key) {
            return Err(already_runs());
        }
        let key = job.key.clone();
        let assembly = self.assembly(&job).await?;
        let host = Arc::clone(&assembly.host);
        let built = blocking(move || assembly.build()).await??;
        let (tell, ended) = oneshot::channel();
        let (run, standing) = match built {
            Built::Run(run, standing) => (run, standing),
            Built::Finished(standing) => {
                standing.has_ended();
                self.jobs().insert(key, Ran { control: None, standing });
                drop(tell.send(tidegate_coordinator::RunEnd::Finished));
                return Ok(Run { ended });
            }
        };
        let control = set_going(&key, *run, host, Arc::clone(&standing), tell)?;
        self.jobs().insert(key, Ran { control: Some(control), standing });
        Ok(Run { ended })
    }

    fn stop(&self, job: &JobKey) {
        if let Some(control) = self.jobs().get(job).and_then(|ran| ran.control.clone()) {
            control.stop();
        }
    }

    fn status(&self, job: &JobKey) -> Option<RunStatus> {
        let standing = self.jobs().get(job).map(|ran| Arc::clone(&ran.standing))?;
        Some(standing.status(&*self.parts.log, self.parts.clock.now()))
    }

    fn forget(&self, job: &JobKey) {
        let mut jobs = self.jobs();
        if jobs.get(job).is_some_and(|ran| !ran.standing.runs()) {
            jobs.remove(job);
        }
    }

    async fn discard(&self, job: EndedJob) -> Result<(), StartError> {
        let parts = Arc::clone(&self.parts);
        blocking(move || parts.keeping.discard(&job, &*parts.log)).await?
    }
}

/// Puts a job's tasks onto its tenant's lanes, with a thread that waits for its end and tells it.
fn set_going(
    key: &JobKey,
    run: JobRun,
    host: Arc<TenantHost>,
    standing: Arc<Standing>,
    tell: oneshot::Sender<tidegate_coordinator::RunEnd>,
) -> Result<RunControl, StartError> {
    let running: RunningJob = host.lanes.run(run).map_err(|error| {
        tracing::error!(job = %key, %error, "the job cannot be started");
        lost("no thread to read the input on")
    })?;
    let control = running.control();
    standing.state.runs(control.clone());
    let waits = {
        let key = key.clone();
        move || {
            let ended = running.wait();
            let end = end_of(&key, ended, &host, standing.state.ended());
            // The lanes end here, with the last job of the tenant.
            drop(host);
            standing.has_ended();
            drop(tell.send(end));
        }
    };
    match Builder::new().name("job-end".into()).spawn(waits) {
        Ok(_) => Ok(control),
        Err(error) => {
            control.stop();
            Err(reasons::no_threads(&error))
        }
    }
}

/// Does what blocks on a thread that may.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StartError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "opening a job panicked");
        lost("a defect of Tidegate; the operator's log says more")
    })
}

#[cfg(test)]
mod tests;
