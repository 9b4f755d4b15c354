//! Every decision about a job, as a function from facts to what is to be done. Nothing here acts.
//!
//! Invariants: a live job counts against its tenant's limit, and two live jobs of a tenant write one table
//! only with different precedences; a tenant's
//! own fault never restarts a job; the platform's does, later each time, and not for ever (isolation.md: the trap loop) unless
//! it gets on between its faults: a run that completed a checkpoint ends a row of restarts, since the next one begins further on.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tidegate_pipeline::Pipeline;
use tidegate_types::EventTime;

use crate::checkpoint_status::CheckpointStatus;
use crate::error::SubmitError;
use crate::record::{Held, JobRecord};
use crate::runner::RunEnd;
use crate::streams::JobStreams;
use crate::view::JobState;

/// When a job that the platform failed is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestartPolicy {
    /// The pause before the first restart; each further one in a row is twice as long.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
    /// Restarts in a row after which the job has failed.
    pub restarts: u32,
    /// A run that lasted so long ends a row of restarts, ms. One that completed a checkpoint does so too, however short.
    pub healthy_after_ms: i64,
}

impl Default for RestartPolicy {
    /// 1, 2, 4 … 32 s and 60 s: about two minutes of tries, longer than a neighbour's burst and short enough to be seen.
    fn default() -> Self {
        Self {
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
            restarts: 7,
            healthy_after_ms: 10 * 60 * 1000,
        }
    }
}

impl RestartPolicy {
    /// The pause before restart number `restart` (from 1) of a row.
    fn pause(&self, restart: u32) -> Duration {
        let doubled = 1_u32.checked_shl(restart.saturating_sub(1)).unwrap_or(u32::MAX);
        self.first_pause.saturating_mul(doubled).min(self.longest_pause)
    }
}

/// What somebody wants of a supervised job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wish {
    /// To run.
    Run,
    /// To end for good.
    Cancel {
        /// Who wants it.
        by: String,
    },
    /// To end because the process does. The job runs again when the process does.
    Rest,
}

/// What follows the end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum After {
    /// The job has ended for good.
    End { state: JobState, reason: Option<String> },
    /// It is to be started again.
    Restart { pause: Duration, restarts: u32, reason: String },
    /// Its record stays as it is.
    Leave,
}

/// How a run went, whatever ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ran {
    /// How long, ms; 0 of one that did not start.
    pub(crate) ms: i64,
    /// Checkpoints that it completed.
    pub(crate) checkpoints: u64,
}

impl Ran {
    /// Whether the job got on: the next run does not repeat all that this one did, or this one stood for long.
    fn was_healthy(self, policy: &RestartPolicy) -> bool {
        self.checkpoints > 0 || self.ms >= policy.healthy_after_ms
    }
}

/// What follows the end of a run that was preceded by `restarts` restarts in a row.
pub(crate) fn after_run(end: RunEnd, wish: &Wish, restarts: u32, ran: Ran, policy: &RestartPolicy) -> After {
    match (end, wish) {
        (RunEnd::Finished, _) => After::End { state: JobState::Finished, reason: None },
        (RunEnd::TenantFault { reason }, _) => After::End { state: JobState::Failed, reason: Some(reason) },
        (_, Wish::Cancel { by }) => After::End { state: JobState::Cancelled, reason: Some(cancelled_by(by)) },
        (_, Wish::Rest) => After::Leave,
        (RunEnd::PlatformFault { reason }, Wish::Run) => restart(reason, restarts, ran, policy),
        (RunEnd::Stopped, Wish::Run) => {
            restart("the run was stopped, and nobody had asked for it".to_owned(), restarts, ran, policy)
        }
    }
}

/// Why a job is started again, and where it goes on. `checkpoints`: of the last run that is known.
pub(crate) fn starting_again(reason: &str, checkpoints: Option<&CheckpointStatus>) -> String {
    match checkpoints.map(CheckpointStatus::newest) {
        Some(Some(checkpoint)) => format!("it is started again, from checkpoint {checkpoint}: {reason}"),
        Some(None) => {
            format!("it is started again, from the start of its input, as no checkpoint was completed: {reason}")
        }
        None => format!("it is started again, from its newest checkpoint if it has one: {reason}"),
    }
}

/// Why a job was cancelled.
pub(crate) fn cancelled_by(by: &str) -> String {
    format!("cancelled by {by}")
}

fn restart(reason: String, restarts: u32, ran: Ran, policy: &RestartPolicy) -> After {
    let in_a_row = if ran.was_healthy(policy) { 0 } else { restarts };
    if in_a_row >= policy.restarts {
        let reason = format!("the platform failed the job {} times in a row, the last time: {reason}", in_a_row + 1);
        return After::End { state: JobState::Failed, reason: Some(reason) };
    }
    let restarts = in_a_row + 1;
    After::Restart { pause: policy.pause(restarts), restarts, reason }
}

/// A tenant's live jobs, each with the tables that it writes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct LiveJobs {
    pub(crate) jobs: BTreeMap<String, LiveTables>,
    /// The precedences that are not 0.
    #[serde(default)]
    pub(crate) precedences: BTreeMap<String, i32>,
    /// Those that are to end, each with who wants it. A job that has ended is in neither.
    #[serde(default)]
    pub(crate) cancelled: BTreeMap<String, String>,
    /// The highest number of a start among the jobs whose records were forgotten: a job that is new goes on from there, so
    /// that one of an old name is not taken for older than its tables.
    #[serde(default)]
    pub(crate) forgotten_starts: u64,
}

impl LiveJobs {
    /// The job has ended.
    pub(crate) fn remove(&mut self, job: &str) {
        self.jobs.remove(job);
        self.precedences.remove(job);
        self.cancelled.remove(job);
    }

    fn precedence(&self, job: &str) -> i32 {
        self.precedences.get(job).copied().unwrap_or(0)
    }

    /// These records are forgotten; the numbers of their starts are not given again.
    pub(crate) fn forget(&mut self, jobs: &[Held<JobRecord>]) {
        let starts = jobs.iter().map(|job| job.value.starts);
        self.forgotten_starts = starts.fold(self.forgotten_starts, u64::max);
    }
}

/// The tables of a live job. Written down as a list; before a job could have several, as one name or null.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "StoredTables")]
pub(crate) struct LiveTables(pub(crate) Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum StoredTables {
    Several(Vec<String>),
    One(Option<String>),
}

impl From<StoredTables> for LiveTables {
    fn from(stored: StoredTables) -> Self {
        match stored {
            StoredTables::Several(tables) => Self(tables),
            StoredTables::One(table) => Self(table.into_iter().collect()),
        }
    }
}

/// What is known of the job's name when a pipeline is submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing<'a> {
    pub(crate) version: u64,
    pub(crate) text: &'a str,
    pub(crate) state: JobState,
}

/// What becomes of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// It was made before: the answer is the same.
    Again,
    /// It is new.
    New,
}

/// Whether a pipeline of this version and text may be submitted as `job`, which stands like this now.
pub(crate) fn admit_version(
    job: &str,
    version: u64,
    text: &str,
    standing: Option<Standing<'_>>,
) -> Result<Admitted, SubmitError> {
    let Some(now) = standing else { return Ok(Admitted::New) };
    if version == now.version && text == now.text {
        return Ok(Admitted::Again);
    }
    if version == now.version {
        let reason = format!(
            "job `{job}`: version {version} was submitted before with another text, and a version never changes; give \
             `version` a higher number"
        );
        return Err(SubmitError::Conflict { reason });
    }
    if version < now.version {
        return Err(SubmitError::VersionNotNewer { job: job.to_owned(), given: version, latest: now.version });
    }
    if now.state.is_live() {
        let reason = format!(
            "job `{job}`: version {} is {}; cancel it first (a running job is not replaced in place yet)",
            now.version,
            now.state.name()
        );
        return Err(SubmitError::Conflict { reason });
    }
    Ok(Admitted::New)
}

/// What a job writes: its tables, and how their rows stand against those of others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Writes {
    pub(crate) tables: Vec<String>,
    pub(crate) precedence: i32,
}

impl Writes {
    pub(crate) fn of(pipeline: &Pipeline) -> Self {
        Self { tables: JobStreams::of(pipeline).tables(), precedence: pipeline.precedence }
    }
}

/// Adds a job to the live ones.
pub(crate) fn admit_live(live: &LiveJobs, job: &str, writes: &Writes, limit: u32) -> Result<LiveJobs, SubmitError> {
    let Writes { tables, precedence } = writes;
    let others = live.jobs.iter().filter(|(name, _)| *name != job && live.precedence(name) == *precedence);
    let mut taken = others.flat_map(|(name, written)| written.0.iter().map(move |table| (name, table)));
    if let Some((other, table)) = taken.find(|(_, table)| tables.contains(table)) {
        let reason = format!(
            "table `{table}` is written by job `{other}` with the same precedence, {precedence}, so that neither's rows are \
             newer; name another table, cancel that job, or give this one another `precedence`"
        );
        return Err(SubmitError::Conflict { reason });
    }
    let mut next = live.clone();
    next.remove(job);
    next.jobs.insert(job.to_owned(), LiveTables(tables.clone()));
    if *precedence != 0 {
        next.precedences.insert(job.to_owned(), *precedence);
    }
    if u32::try_from(next.jobs.len()).unwrap_or(u32::MAX) > limit {
        return Err(SubmitError::Quota { limit });
    }
    Ok(next)
}

/// The most records that one submission forgets: a commit has room for them.
const MAX_PRUNED: usize = 500;

/// Makes room for one more record among at most `kept`: what is to be forgotten, of the ended ones those that ended first.
pub(crate) fn admit_kept(jobs: Vec<Held<JobRecord>>, kept: usize) -> Result<Vec<Held<JobRecord>>, SubmitError> {
    let excess = (jobs.len() + 1).saturating_sub(kept);
    if excess == 0 {
        return Ok(Vec::new());
    }
    let mut ended: Vec<Held<JobRecord>> = jobs.into_iter().filter(|job| !job.value.state.is_live()).collect();
    if ended.is_empty() {
        let reason =
            format!("the tenant has {kept} jobs that run, as many as are kept for one; cancel one that is not needed");
        return Err(SubmitError::Conflict { reason });
    }
    ended.sort_by(|a, b| (a.value.ended_at, &a.value.name).cmp(&(b.value.ended_at, &b.value.name)));
    ended.truncate(excess.min(MAX_PRUNED));
    Ok(ended)
}

/// How long a run lasted, ms.
pub(crate) fn lasted(started: EventTime, now: EventTime) -> i64 {
    now.saturating_sub(started).max(0)
}

#[cfg(test)]
mod tests;
