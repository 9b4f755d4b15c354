//! What the operators of a tenant's jobs keep in memory, held within the tenant's limit.
//!
//! State is in memory yet, so a job could take the whole host's. Each job tells its operators' bytes as it goes; where all
//! jobs of a tenant together have more than its limit `memory_bytes` leaves beside its instances, the largest one is stopped
//! and fails. Invariant: one job at a time is stopped so; the next one only once that one has ended and is still not enough.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tidegate_coordinator::JobKey;
use tidegate_sandbox::MemoryTotal;
use tidegate_worker::RunControl;

/// So much state a tenant always has room for, however much its instances hold.
const LEAST_BYTES: u64 = 1 << 20;

/// The states of a tenant's jobs.
pub(super) struct States {
    memory: Arc<MemoryTotal>,
    /// The tenant's limit `memory_bytes`.
    limit: u64,
    jobs: Mutex<BTreeMap<JobKey, Held>>,
}

struct Held {
    job: Arc<Shared>,
    bytes: u64,
    /// The operator that holds the most of them.
    largest: Arc<str>,
}

/// One job's state, as it tells it.
pub(super) struct JobState {
    key: JobKey,
    states: Arc<States>,
    job: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// Why it has to end.
    verdict: OnceLock<String>,
    /// What ends it; set once it runs.
    control: OnceLock<RunControl>,
}

impl Shared {
    fn end(&self, reason: String) {
        let _ = self.verdict.set(reason);
        self.stop();
    }

    fn stop(&self) {
        if let (Some(_), Some(control)) = (self.verdict.get(), self.control.get()) {
            control.stop();
        }
    }
}

impl States {
    /// Of a tenant whose instances count against this total, of so many bytes.
    pub(super) fn new(memory: Arc<MemoryTotal>, limit: u64) -> Arc<Self> {
        Arc::new(Self { memory, limit, jobs: Mutex::default() })
    }

    /// Of a job that begins.
    pub(super) fn job(self: &Arc<Self>, key: &JobKey) -> JobState {
        JobState { key: key.clone(), states: Arc::clone(self), job: Arc::default() }
    }

    /// What state may take now.
    fn room(&self) -> u64 {
        let instances = u64::try_from(self.memory.used()).unwrap_or(u64::MAX);
        self.limit.saturating_sub(instances).max(LEAST_BYTES)
    }

    /// Ends the largest job if all together have too much.
    fn judge(&self, jobs: &BTreeMap<JobKey, Held>) {
        let (all, room) = (jobs.values().map(|held| held.bytes).sum::<u64>(), self.room());
        if all <= room || jobs.values().any(|held| held.job.verdict.get().is_some()) {
            return;
        }
        let Some((key, held)) = jobs.iter().max_by_key(|(_, held)| held.bytes) else { return };
        let reason = too_large(&key.name, held, all, room, self.limit);
        tracing::warn!(job = %key, bytes = held.bytes, all, room, "a job's state is too large; it is stopped");
        held.job.end(reason);
    }

    fn jobs(&self) -> MutexGuard<'_, BTreeMap<JobKey, Held>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn too_large(job: &tidegate_types::Name, held: &Held, all: u64, room: u64, limit: u64) -> String {
    format!(
        "state-too-large: operator `{}` of job `{job}` holds most of the job's {} bytes of state; all \
         jobs of the tenant hold {all} bytes and may hold {room} (its limit `memory_bytes` of {limit} less what its hooks' \
         instances have); let windows overlap less (a longer `slide`, a shorter `size`), give states a time to live, keep fewer \
         keys, or shorten `allowed_lateness` and the bounds of joins, or ask a platform admin for a higher limit",
        held.largest, held.bytes
    )
}

impl JobState {
    /// Its operators hold these bytes now.
    pub(super) fn note<'a>(&self, operators: impl Iterator<Item = (&'a Arc<str>, u64)>) {
        let (mut bytes, mut largest) = (0_u64, (0_u64, None));
        for (operator, held) in operators {
            bytes = bytes.saturating_add(held);
            if largest.1.is_none() || held > largest.0 {
                largest = (held, Some(operator));
            }
        }
        let Some(operator) = largest.1 else { return };
        let mut jobs = self.states.jobs();
        let held = Held { job: Arc::clone(&self.job), bytes, largest: Arc::clone(operator) };
        jobs.insert(self.key.clone(), held);
        self.states.judge(&jobs);
    }

    /// The job runs, and this stops it.
    pub(super) fn runs(&self, control: RunControl) {
        let _ = self.job.control.set(control);
        self.job.stop();
    }

    /// The job has ended: what it held is free. Gives why it had to end, if it had.
    pub(super) fn ended(&self) -> Option<&str> {
        let mut jobs = self.states.jobs();
        if jobs.get(&self.key).is_some_and(|held| Arc::ptr_eq(&held.job, &self.job)) {
            jobs.remove(&self.key);
        }
        self.job.verdict.get().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> JobKey {
        JobKey { tenant: "acme".parse().expect("a name"), name: name.parse().expect("a name") }
    }

    fn states(limit: u64) -> Arc<States> {
        States::new(MemoryTotal::new(usize::MAX), limit)
    }

    fn note(job: &JobState, operators: &[(&str, u64)]) {
        let operators: Vec<(Arc<str>, u64)> = operators.iter().map(|(id, bytes)| ((*id).into(), *bytes)).collect();
        job.note(operators.iter().map(|(id, bytes)| (id, *bytes)));
    }

    #[test]
    fn of_a_tenants_jobs_the_largest_ends_and_says_which_operator() {
        let states = states(10 << 20);
        let (small, large) = (states.job(&key("small")), states.job(&key("large")));
        note(&small, &[("window", 4 << 20)]);
        note(&large, &[("first", 1 << 20), ("second", 5 << 20)]);
        assert_eq!((small.job.verdict.get(), large.job.verdict.get()), (None, None), "it fits exactly");
        note(&small, &[("window", (4 << 20) + 1)]);
        note(&small, &[("window", 5 << 20)]);
        let reason = large.ended().expect("it had to end").to_owned();
        assert!(
            reason.starts_with("state-too-large: operator `second` of job `large` holds most of the job's 6291456"),
            "{reason}"
        );
        assert!(reason.contains("may hold 10485760 (its limit `memory_bytes` of 10485760"), "{reason}");
        note(&small, &[("window", 9 << 20)]);
        assert_eq!(small.ended(), None, "what the other held is free");
    }

    #[test]
    fn one_job_at_a_time_ends() {
        let states = states(4 << 20);
        let jobs = ["a", "b", "c"].map(|name| states.job(&key(name)));
        for job in &jobs {
            note(job, &[("window", 3 << 20)]);
        }
        let ended = |job: &JobState| job.job.verdict.get().is_some();
        assert_eq!(jobs.iter().filter(|job| ended(job)).count(), 1);
        let (first, others): (Vec<_>, Vec<_>) = jobs.iter().partition(|job| ended(job));
        assert!(first[0].ended().is_some());
        note(others[0], &[("window", 3 << 20)]);
        assert_eq!(others.iter().filter(|job| ended(job)).count(), 1, "two are too much still");
    }

    #[test]
    fn a_little_state_always_has_room() {
        let states = states(0);
        let job = states.job(&key("a"));
        note(&job, &[("window", LEAST_BYTES)]);
        assert_eq!(job.ended(), None);
        note(&job, &[("window", LEAST_BYTES + 1)]);
        assert!(job.ended().is_some());
    }
}
