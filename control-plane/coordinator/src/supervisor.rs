//! One live job: starts it, waits for its end, writes down what became of it, and starts it again where that is due.
//!
//! Invariant: while a supervisor lives, it alone writes its job's record. A record that somebody else changed all the same
//! fences it: the run is stopped and nothing more is written.

use std::sync::Arc;
use std::time::Duration;

use tidegate_pipeline::{Parsed, guarantee, parse};
use tidegate_store::StoreError;
use tidegate_types::{Clock, EventTime};
use tokio::sync::watch;

use crate::checkpoint_status::CheckpointStatus;
use crate::decide::{After, Ran, RestartPolicy, Wish, after_run, cancelled_by, lasted, starting_again};
use crate::record::{Held, JobRecord, Records};
use crate::runner::{EndedJob, JobKey, JobRunner, RunEnd, RunStatus, StartError, StartJob};
use crate::view::JobState;

/// The pause before a record that could not be written is written again.
const STORE_PAUSE: Duration = Duration::from_millis(500);

/// What every supervisor works with.
pub(crate) struct Means {
    pub(crate) records: Records,
    pub(crate) runner: Arc<dyn JobRunner>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) policy: RestartPolicy,
    /// Jobs that a tenant has records of, at most.
    pub(crate) kept_jobs: usize,
}

/// Supervises one job until it has ended or is to rest.
pub(crate) struct Supervisor {
    means: Arc<Means>,
    key: JobKey,
    record: Held<JobRecord>,
    wish: watch::Receiver<Wish>,
    /// How the checkpoints of the last run fared that this supervisor started.
    checkpoints: Option<CheckpointStatus>,
}

/// The record is somebody else's now, or the process ends while the store is down.
struct Fenced;

impl Supervisor {
    pub(crate) fn new(means: Arc<Means>, key: JobKey, record: Held<JobRecord>, wish: watch::Receiver<Wish>) -> Self {
        Self { means, key, record, wish, checkpoints: None }
    }

    /// Runs the job until nothing more is to be done for it.
    pub(crate) async fn supervise(mut self) {
        if self.drive().await.is_err() {
            self.means.runner.forget(&self.key);
            tracing::error!(job = %self.key, "the job's record is not this process's any more; its run was stopped");
        }
    }

    async fn drive(&mut self) -> Result<(), Fenced> {
        // What is wished from now on is heard; what was wished before stands in the store.
        if let Some(by) = self.cancelled().await? {
            return self.end(JobState::Cancelled, Some(cancelled_by(&by))).await;
        }
        loop {
            let (end, ran) = self.run_once().await?;
            let wish = self.wish.borrow().clone();
            match after_run(end, &wish, self.record.value.restarts, ran, &self.means.policy) {
                After::Leave => return Ok(()),
                After::End { state, reason } => return self.end(state, reason).await,
                After::Restart { pause, restarts, reason } => {
                    let reason = starting_again(&reason, self.checkpoints.as_ref());
                    tracing::warn!(job = %self.key, restarts, reason, "the job has failed");
                    self.note(|record| {
                        record.state = JobState::Submitted;
                        record.restarts = restarts;
                        record.reason = Some(reason);
                    })
                    .await?;
                    self.pause(pause).await;
                }
            }
        }
    }

    /// Who wanted the job to end before this supervisor began.
    async fn cancelled(&self) -> Result<Option<String>, Fenced> {
        loop {
            match self.means.records.live(&self.key.tenant).await {
                Ok(live) => return Ok(live.value.cancelled.get(self.key.name.as_str()).cloned()),
                Err(error) => self.store_failed(&error).await?,
            }
        }
    }

    /// One run, from its start to its end, and how it went.
    async fn run_once(&mut self) -> Result<(RunEnd, Ran), Fenced> {
        if *self.wish.borrow() != Wish::Run {
            return Ok((RunEnd::Stopped, Ran::default()));
        }
        let mut job = match self.job() {
            Ok(job) => job,
            Err(reason) => return Ok((RunEnd::TenantFault { reason }, Ran::default())),
        };
        // Written down before the run opens anything, so that no two starts have one number.
        let promised = guarantee(&job.pipeline.pipeline).sentences();
        self.note(|record| {
            record.starts += 1;
            // A later release may promise more than the one that took the job.
            record.guarantee = promised;
        })
        .await?;
        job.restore_epoch = self.record.value.starts;
        let mut run = match self.means.runner.start(job).await {
            Ok(run) => run,
            Err(error) => return Ok((not_started(error), Ran::default())),
        };
        let started = self.means.clock.now();
        let noted = self.note(|record| {
            record.state = JobState::Running;
            record.started_at = Some(started);
        });
        if noted.await.is_err() {
            self.means.runner.stop(&self.key);
            let _ = run.ended.await;
            return Err(Fenced);
        }
        let end = tokio::select! {
            biased;
            // Cancel-safe: a oneshot that was not received stays received.
            end = &mut run.ended => end,
            () = wished(&mut self.wish) => {
                self.means.runner.stop(&self.key);
                run.ended.await
            }
        };
        let end = end.unwrap_or_else(|_| RunEnd::PlatformFault { reason: "the run was lost".to_owned() });
        let ms = lasted(started, self.means.clock.now());
        Ok((end, Ran { ms, checkpoints: self.completed().await }))
    }

    /// Asks how the checkpoints of the run fared that has just ended; gives how many it completed.
    async fn completed(&mut self) -> u64 {
        let status = statuses(&self.means.runner, vec![Some(self.key.clone())]).await.remove(0);
        self.checkpoints = status.and_then(|status| status.checkpoints);
        self.checkpoints.as_ref().map_or(0, |checkpoints| checkpoints.completed)
    }

    fn job(&self) -> Result<StartJob, String> {
        let record = &self.record.value;
        // The text was checked at submission, by this release or an older one.
        let pipeline: Parsed = parse(&record.text).map_err(|error| error.to_string())?;
        let (version, components) = (record.version, record.components.clone());
        let (key, pipeline) = (self.key.clone(), Arc::new(pipeline));
        Ok(StartJob { key, version, restore_epoch: record.starts, pipeline, components })
    }

    async fn end(&mut self, state: JobState, reason: Option<String>) -> Result<(), Fenced> {
        tracing::info!(job = %self.key, state = state.name(), reason, "the job has ended");
        let ended: EventTime = self.means.clock.now();
        let mut record = self.record.clone();
        record.value.state = state;
        record.value.reason = reason;
        record.value.ended_at = Some(ended);
        record.value.last = statuses(&self.means.runner, vec![Some(self.key.clone())]).await.remove(0);
        loop {
            match self.means.records.end(&self.key, record.clone()).await {
                Ok(written) => {
                    self.record = written;
                    self.means.runner.forget(&self.key);
                    discard(&self.means, &self.key, self.record.clone()).await;
                    return Ok(());
                }
                Err(error) => self.store_failed(&error).await?,
            }
        }
    }

    /// Changes the record and writes it, for as long as the store needs.
    async fn note(&mut self, change: impl FnOnce(&mut JobRecord)) -> Result<(), Fenced> {
        let mut record = self.record.clone();
        change(&mut record.value);
        loop {
            match self.means.records.update(&self.key, record.clone()).await {
                Ok(written) => {
                    self.record = written;
                    return Ok(());
                }
                Err(error) => self.store_failed(&error).await?,
            }
        }
    }

    /// Waits before the store is tried again, or gives up.
    async fn store_failed(&self, error: &StoreError) -> Result<(), Fenced> {
        tracing::error!(job = %self.key, %error, "the job's record cannot be read or written");
        if matches!(error, StoreError::Conflict { .. }) || *self.wish.borrow() == Wish::Rest {
            return Err(Fenced);
        }
        tokio::time::sleep(STORE_PAUSE).await;
        Ok(())
    }

    /// Waits before a restart, or until the job shall not run any more.
    async fn pause(&mut self, pause: Duration) {
        tokio::select! {
            biased;
            // Both are cancel-safe: a wish stays readable, and a timer that is dropped was not needed.
            () = wished(&mut self.wish) => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Lets go of what a job has left that has ended for good, and writes down that it was done: the next process tries again
/// what this one could not.
pub(crate) async fn discard(means: &Means, key: &JobKey, record: Held<JobRecord>) {
    let of = &record.value;
    let Ok(pipeline) = parse(&of.text) else { return };
    let job = EndedJob {
        key: key.clone(),
        version: of.version,
        starts: of.starts,
        pipeline: Arc::new(pipeline),
        keeps_checkpoints: of.state == JobState::Failed,
    };
    if let Err(error) = means.runner.discard(job).await {
        tracing::warn!(job = %key, %error, "what the job has left is let go of at the next start");
        return;
    }
    let mut done = record;
    done.value.discarded = true;
    if let Err(error) = means.records.update(key, done).await {
        // Somebody may have submitted the job again meanwhile.
        tracing::debug!(job = %key, %error, "that the job has left nothing is not written down");
    }
}

/// How far these runs are, each in its place, asked on a thread that may block. None: nobody asks, or nobody knows.
pub(crate) async fn statuses(runner: &Arc<dyn JobRunner>, jobs: Vec<Option<JobKey>>) -> Vec<Option<RunStatus>> {
    let (runner, count) = (Arc::clone(runner), jobs.len());
    if jobs.iter().all(Option::is_none) {
        return vec![None; count];
    }
    let asked = move || jobs.iter().map(|job| job.as_ref().and_then(|job| runner.status(job))).collect();
    tokio::task::spawn_blocking(asked).await.unwrap_or_else(|error| {
        tracing::error!(%error, "the status of jobs cannot be told; this is a defect of Tidegate");
        vec![None; count]
    })
}

/// Waits until the job shall not run any more.
async fn wished(wish: &mut watch::Receiver<Wish>) {
    // The coordinator that is gone takes its jobs with it.
    let _ = wish.wait_for(|wish| *wish != Wish::Run).await;
}

fn not_started(error: StartError) -> RunEnd {
    match error {
        StartError::Invalid { .. } => RunEnd::TenantFault { reason: error.to_string() },
        StartError::Platform { reason } => RunEnd::PlatformFault { reason },
    }
}
