//! Jobs' lives over a store in memory and a runner that does as it is told.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread::ThreadId;
use std::time::Duration;

use async_trait::async_trait;
use tidegate_store::MemoryStore;
use tidegate_tenancy::{Denied, Role, TenantLimits, TokenKeys};
use tidegate_types::EventTime;
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::*;
use crate::checkpoint_status::{CheckpointStatus, CompletedCheckpoint};
use crate::checkpoints::{CheckpointPlace, CheckpointPointers};
use crate::components::{FoundComponent, RegistryDown};
use crate::error::SubmitError;
use crate::runner::{Run, RunEnd, RunStatus, StartError, StartJob};
use crate::view::JobState;

mod again;
mod cancel;
mod checkpoints;
mod starts;

/// A clock that a test moves.
#[derive(Default)]
struct Hand(AtomicI64);

impl Clock for Hand {
    fn now(&self) -> EventTime {
        self.0.load(Ordering::SeqCst)
    }
}

/// A registry of `known@1.0.0` and `known@1.1.0`, and of `old@1.0.0`, which was revoked.
struct Shelf;

#[async_trait]
impl Components for Shelf {
    async fn find(
        &self,
        _tenant: &TenantId,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<FoundComponent>, RegistryDown> {
        let found = |version: &str, revoked| FoundComponent { version: version.into(), digest: "00".into(), revoked };
        if name == "down" {
            return Err(RegistryDown { reason: "SQLITE_FULL in /var/lib/tidegate/meta.db".into() });
        }
        Ok(match (name, version) {
            ("known", None | Some("1.1.0")) => Some(found("1.1.0", false)),
            ("known", Some("1.0.0")) => Some(found("1.0.0", false)),
            ("old", Some("1.0.0")) => Some(found("1.0.0", true)),
            _ => None,
        })
    }
}

/// A run that was started: what ends it.
struct Started {
    key: JobKey,
    restore_epoch: u64,
    end: oneshot::Sender<RunEnd>,
}

/// Tells each start to the test, and ends as stopped what is to stop.
struct Puppet {
    started: mpsc::UnboundedSender<Started>,
    /// Runs that wait to be stopped; the test takes those out that it ends itself.
    going: Mutex<BTreeMap<JobKey, oneshot::Sender<RunEnd>>>,
    refusals: Mutex<VecDeque<StartError>>,
    check: Mutex<Result<(), StartError>>,
    /// Checks that were asked for, those that go on, and how many went on at once at most.
    checks: Mutex<Checks>,
    /// What is done with a run that is to stop: it ends, or stays until the test ends it.
    stays: AtomicBool,
    /// Threads on which statuses were asked for.
    asked_on: Mutex<Vec<ThreadId>>,
    forgotten: Mutex<Vec<JobKey>>,
    /// What is told of every run's checkpoints.
    checkpoints: Mutex<Option<CheckpointStatus>>,
    /// Each check waits for a permit.
    gate: Semaphore,
    /// A run is forgotten while nobody else holds this.
    forgets: Mutex<()>,
}

#[derive(Default)]
struct Checks {
    asked: usize,
    going: usize,
    most: usize,
}

#[async_trait]
impl JobRunner for Puppet {
    async fn check(&self, _job: &StartJob) -> Result<(), StartError> {
        {
            let mut checks = self.checks.lock().unwrap();
            checks.asked += 1;
            checks.going += 1;
            checks.most = checks.most.max(checks.going);
        }
        drop(self.gate.acquire().await.unwrap());
        self.checks.lock().unwrap().going -= 1;
        self.check.lock().unwrap().clone()
    }

    async fn start(&self, job: StartJob) -> Result<Run, StartError> {
        if let Some(refusal) = self.refusals.lock().unwrap().pop_front() {
            return Err(refusal);
        }
        let (end, ended) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = oneshot::channel();
        self.going.lock().unwrap().insert(job.key.clone(), stop);
        // Whichever comes first: the test's end or a stop.
        tokio::spawn(async move {
            let first = tokio::select! { Ok(end) = ended => end, Ok(end) = stopped => end, else => return };
            let _ = tell.send(first);
        });
        let _ = self.started.send(Started { key: job.key, restore_epoch: job.restore_epoch, end });
        Ok(Run { ended: told })
    }

    fn stop(&self, job: &JobKey) {
        if self.stays.load(Ordering::SeqCst) {
            return;
        }
        if let Some(stop) = self.going.lock().unwrap().remove(job) {
            let _ = stop.send(RunEnd::Stopped);
        }
    }

    fn forget(&self, job: &JobKey) {
        drop(self.forgets.lock().unwrap());
        self.forgotten.lock().unwrap().push(job.clone());
    }

    fn status(&self, _job: &JobKey) -> Option<RunStatus> {
        self.asked_on.lock().unwrap().push(std::thread::current().id());
        let checkpoints = self.checkpoints.lock().unwrap().clone();
        Some(RunStatus { parallelism: 2, watermark: Some(7), checkpoints, ..RunStatus::default() })
    }
}

struct Place {
    coordinator: Coordinator,
    runner: Arc<Puppet>,
    starts: mpsc::UnboundedReceiver<Started>,
    store: Arc<MemoryStore>,
    tenancy: Arc<Tenancy>,
    clock: Arc<Hand>,
    acme: TenantId,
}

/// Pauses that a test can wait for.
const POLICY: RestartPolicy = RestartPolicy {
    first_pause: Duration::from_millis(1),
    longest_pause: Duration::from_millis(2),
    restarts: 3,
    healthy_after_ms: 60_000,
};

fn caller(role: Role, tenant: Option<&str>) -> Caller {
    let tenant = tenant.map(|name| name.parse().unwrap());
    Caller { subject: "ann".into(), role, tenant, token_id: "t".into() }
}

fn ann() -> Caller {
    caller(Role::Developer, Some("acme"))
}

impl Place {
    async fn new() -> Self {
        let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(Hand::default()));
        let keys = TokenKeys::ephemeral().unwrap();
        let tenancy = Arc::new(Tenancy::new(store.clone(), keys, clock.clone()));
        let admin = caller(Role::PlatformAdmin, None);
        for tenant in ["acme", "other"] {
            let limits = TenantLimits { jobs: 2, ..TenantLimits::default() };
            tenancy.create_tenant(&admin, &tenant.parse().unwrap(), limits).await.unwrap();
        }
        let (started, starts) = mpsc::unbounded_channel();
        let runner = Arc::new(Puppet {
            started,
            going: Mutex::default(),
            refusals: Mutex::default(),
            check: Mutex::new(Ok(())),
            checks: Mutex::default(),
            stays: AtomicBool::new(false),
            asked_on: Mutex::default(),
            forgotten: Mutex::default(),
            checkpoints: Mutex::default(),
            gate: Semaphore::new(1_000),
            forgets: Mutex::default(),
        });
        let coordinator = Self::coordinator(&store, &tenancy, &runner, &clock);
        Self { coordinator, runner, starts, store, tenancy, clock, acme: "acme".parse().unwrap() }
    }

    fn coordinator(
        store: &Arc<MemoryStore>,
        tenancy: &Arc<Tenancy>,
        runner: &Arc<Puppet>,
        clock: &Arc<Hand>,
    ) -> Coordinator {
        let store: Arc<MemoryStore> = Arc::clone(store);
        let mut coordinator = Coordinator::with_policy(
            store,
            Arc::new(Shelf),
            Arc::clone(tenancy),
            Arc::clone(runner) as _,
            Arc::clone(clock) as _,
            POLICY,
        );
        let inner = Arc::get_mut(&mut coordinator.inner).expect("it is new");
        Arc::get_mut(&mut inner.means).expect("it is new").kept_jobs = 3;
        coordinator
    }

    async fn submit(&self, text: &str) -> Result<JobView, SubmitError> {
        self.coordinator.submit(&ann(), &self.acme, text).await
    }

    async fn refused(&self, text: &str) -> String {
        self.submit(text).await.expect_err("refused").to_string()
    }

    async fn job(&self, name: &str) -> JobView {
        self.coordinator.get(&ann(), &self.acme, name).await.expect("there is the job")
    }

    /// Waits until the job is in this state.
    async fn until(&self, name: &str, state: JobState) -> JobView {
        for _ in 0..5_000 {
            let job = self.job(name).await;
            if job.state == state {
                return job;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("the job is {:?}, and never {state:?}", self.job(name).await);
    }

    async fn start(&mut self) -> Started {
        let start = tokio::time::timeout(Duration::from_secs(30), self.starts.recv()).await;
        start.expect("a run is started").expect("the runner lives")
    }
}

fn pipeline(job: &str, version: u32) -> String {
    with(job, version, &format!("sink: {{type: upsert_store, table: {job}, key: [k, window_start]}}\n"))
}

fn with(job: &str, version: u32, rest: &str) -> String {
    format!(
        "job: {job}\nversion: {version}\nsource: {{log: in, timestamp_field: t, watermark: {{strategy: ascending}}}}\n\
         key_by: [k]\nwindow: {{type: tumbling, size: 1m}}\naggregate: {{n: {{fn: count}}}}\n{rest}"
    )
}

#[tokio::test]
async fn a_job_runs_and_finishes() {
    let mut place = Place::new().await;
    place.clock.0.store(1000, Ordering::SeqCst);
    let submitted = place.submit(&pipeline("clicks", 14)).await.expect("accepted");
    assert_eq!((submitted.version, submitted.submitted_at, submitted.account), (14, 1000, None));
    assert_eq!((submitted.submitted_by.as_str(), submitted.last_checkpoint), ("ann", None));
    assert_eq!(submitted.streams.dead_letters, "clicks-dead-letters");
    assert_eq!(submitted.table.as_deref(), Some("clicks"));
    let run = place.start().await;
    assert_eq!(run.key.to_string(), "acme/clicks");
    let running = place.until("clicks", JobState::Running).await;
    assert_eq!((running.parallelism, running.watermark), (Some(2), Some(7)));
    run.end.send(RunEnd::Finished).unwrap();
    let finished = place.until("clicks", JobState::Finished).await;
    assert_eq!((finished.reason, finished.ended_at), (None, Some(1000)));
    assert_eq!(finished.watermark, Some(7), "what the last run showed is kept");
    let listed = place.coordinator.list(&ann(), &place.acme, None, 10).await.expect("listed");
    assert_eq!(listed.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["clicks"]);
}

#[tokio::test]
async fn the_same_submission_again_gives_the_same_job() {
    let mut place = Place::new().await;
    let text = pipeline("clicks", 1);
    place.submit(&text).await.expect("accepted");
    place.start().await.end.send(RunEnd::Finished).unwrap();
    place.until("clicks", JobState::Finished).await;
    let again = place.submit(&text).await.expect("the same");
    assert_eq!(again.state, JobState::Finished);
    assert!(place.starts.try_recv().is_err(), "it is not started again");
    let other = place.refused(&format!("{text}# a remark\n")).await;
    assert!(other.contains("version 1 was submitted before with another text"), "{other}");
    place.submit(&pipeline("clicks", 3)).await.expect("newer");
    let older = place.submit(&pipeline("clicks", 2)).await.expect_err("older");
    assert!(matches!(older, SubmitError::VersionNotNewer { given: 2, latest: 3, .. }));
}

#[tokio::test]
async fn what_is_wrong_is_said_with_path_and_line() {
    let place = Place::new().await;
    let sink = "sink: {type: upsert_store, table: t, key: [k]}\n";
    let wrong = |rest: &str| with("j", 1, &format!("{sink}{rest}"));
    let at = async |text: String| match place.submit(&text).await.expect_err("refused") {
        SubmitError::InvalidPipeline { path, line, reason } => (path, line, reason),
        SubmitError::UnknownComponent { path, line, reason, .. } => (path, line, reason),
        other => panic!("{other}"),
    };
    let (path, line, _) = at(wrong("paralellism: 2\n")).await;
    assert_eq!((path.as_str(), line), ("paralellism", Some(8)));
    let (path, line, _) = at(wrong("late_side_output: in\n")).await;
    assert_eq!((path.as_str(), line), ("late_side_output", Some(8)));
    let (path, line, reason) = at(wrong("map: {component: none@1.0.0}\n")).await;
    assert_eq!((path.as_str(), line), ("map.component", Some(8)));
    assert!(reason.contains("no component `none@1.0.0`; upload it first"), "{reason}");
    let (_, _, reason) = at(wrong("map: {component: old@1.0.0}\n")).await;
    assert!(reason.contains("was revoked"), "{reason}");
    *place.runner.check.lock().unwrap() =
        Err(StartError::Invalid { path: "source.log".into(), reason: "there is no stream `in`".into() });
    let (path, line, reason) = at(wrong("")).await;
    assert_eq!((path.as_str(), line, reason.as_str()), ("source.log", Some(3), "there is no stream `in`"));
    *place.runner.check.lock().unwrap() = Err(StartError::Platform { reason: "no threads".into() });
    assert!(matches!(place.submit(&wrong("")).await, Err(SubmitError::Unavailable { .. })));
    assert_eq!(place.coordinator.list(&ann(), &place.acme, None, 10).await.expect("listed"), [], "nothing was written");
}

#[tokio::test]
async fn a_component_without_a_version_is_held_to_the_one_of_its_submission() {
    let place = Place::new().await;
    let rest = "sink: {type: upsert_store, table: t, key: [k]}\nmap: {component: known}\n";
    let job = place.submit(&with("j", 1, rest)).await.expect("accepted");
    assert_eq!((job.components[0].path.as_str(), job.components[0].version.as_str()), ("map", "1.1.0"));
}

#[tokio::test]
async fn a_job_that_the_platform_fails_starts_again_and_not_for_ever() {
    let mut place = Place::new().await;
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    for _ in 0..4 {
        let reason = "no memory".to_owned();
        place.start().await.end.send(RunEnd::PlatformFault { reason }).unwrap();
    }
    let failed = place.until("clicks", JobState::Failed).await;
    let reason = failed.reason.expect("a reason");
    assert_eq!(reason, "the platform failed the job 4 times in a row, the last time: no memory");
    assert!(place.starts.try_recv().is_err());
}

#[tokio::test]
async fn a_start_that_fails_is_tried_again_if_the_platform_failed_it() {
    let mut place = Place::new().await;
    place.runner.refusals.lock().unwrap().push_back(StartError::Platform { reason: "no threads".into() });
    place.submit(&pipeline("a", 1)).await.expect("accepted");
    assert_eq!(place.start().await.key.name.as_str(), "a");
    let invalid = StartError::Invalid { path: "source.log".into(), reason: "was deleted".into() };
    place.runner.refusals.lock().unwrap().push_back(invalid);
    place.submit(&pipeline("b", 1)).await.expect("accepted");
    let failed = place.until("b", JobState::Failed).await;
    assert_eq!(failed.reason.as_deref(), Some("source.log: was deleted"));
}

#[tokio::test]
async fn a_tenants_own_fault_ends_its_job() {
    let mut place = Place::new().await;
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    place.start().await.end.send(RunEnd::TenantFault { reason: "the stream is gone".into() }).unwrap();
    let failed = place.until("clicks", JobState::Failed).await;
    assert_eq!((failed.reason.as_deref(), failed.restarts), (Some("the stream is gone"), 0));
}

#[tokio::test]
async fn a_tenant_has_as_many_live_jobs_as_it_may() {
    let mut place = Place::new().await;
    for job in ["a", "b"] {
        place.submit(&pipeline(job, 1)).await.expect("room");
    }
    assert!(matches!(place.submit(&pipeline("c", 1)).await, Err(SubmitError::Quota { limit: 2 })));
    place.start().await.end.send(RunEnd::Finished).unwrap();
    let over = place.starts.recv().await.expect("the other").key.name;
    let ended = if over.as_str() == "a" { "b" } else { "a" };
    place.until(ended, JobState::Finished).await;
    place.submit(&pipeline("c", 1)).await.expect("a place was left");
}

#[tokio::test]
async fn submissions_at_once_share_out_the_last_place() {
    let place = Place::new().await;
    let texts: Vec<String> = (0..8).map(|job| pipeline(&format!("job-{job}"), 1)).collect();
    let mut going = Vec::new();
    for text in texts {
        let (coordinator, acme) = (place.coordinator.clone(), place.acme.clone());
        going.push(tokio::spawn(async move { coordinator.submit(&ann(), &acme, &text).await }));
    }
    let mut accepted = 0;
    for submission in going {
        match submission.await.expect("no panic") {
            Ok(_) => accepted += 1,
            Err(SubmitError::Quota { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(accepted, 2);
}

#[tokio::test]
async fn a_process_that_starts_again_runs_its_jobs_again() {
    let mut place = Place::new().await;
    place.submit(&pipeline("a", 1)).await.expect("accepted");
    place.submit(&pipeline("b", 1)).await.expect("accepted");
    let first = place.start().await;
    let name = first.key.name.clone();
    let other = place.start().await;
    first.end.send(RunEnd::Finished).unwrap();
    place.until(name.as_str(), JobState::Finished).await;
    place.until(other.key.name.as_str(), JobState::Running).await;
    place.coordinator.rest().await;
    assert_eq!(place.job(other.key.name.as_str()).await.state, JobState::Running, "it stays live");
    assert!(place.starts.try_recv().is_err());
    let next = Place::coordinator(&place.store, &place.tenancy, &place.runner, &place.clock);
    assert_eq!(next.resume_all().await.expect("resumed"), 1);
    assert_eq!(place.start().await.key, other.key);
    assert_eq!(next.resume_all().await.expect("resumed"), 1, "again is no harm");
    assert!(place.starts.try_recv().is_err());
}

#[tokio::test]
async fn nobody_reaches_another_tenants_jobs() {
    let place = Place::new().await;
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    let stranger = caller(Role::TenantAdmin, Some("other"));
    assert!(matches!(
        place.coordinator.get(&stranger, &place.acme, "clicks").await,
        Err(JobError::Denied(Denied::NotFound { .. }))
    ));
    assert!(matches!(
        place.coordinator.submit(&stranger, &place.acme, &pipeline("x", 1)).await,
        Err(SubmitError::Denied(Denied::NotFound { .. }))
    ));
    let viewer = caller(Role::Viewer, Some("acme"));
    assert!(matches!(
        place.coordinator.cancel(&viewer, &place.acme, "clicks").await,
        Err(JobError::Denied(Denied::Forbidden { .. }))
    ));
    assert!(place.coordinator.get(&viewer, &place.acme, "clicks").await.is_ok());
}

#[tokio::test]
async fn submissions_and_cancellations_are_in_the_audit_trail() {
    let mut place = Place::new().await;
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    let _run = place.start().await;
    place.coordinator.cancel(&ann(), &place.acme, "clicks").await.expect("cancelled");
    let admin = caller(Role::TenantAdmin, Some("acme"));
    let trail = place.tenancy.audit_trail(&admin, Some(&place.acme), 0, 100).await.expect("the trail");
    let told: Vec<(&str, &str)> = trail.iter().map(|entry| (entry.action.as_str(), entry.target.as_str())).collect();
    assert_eq!(told[told.len() - 2..], [("job.submit", "clicks"), ("job.cancel", "clicks")]);
}

#[tokio::test]
async fn a_tenants_submissions_are_checked_one_after_the_other() {
    let place = Place::new().await;
    let closed = place.runner.gate.acquire_many(1_000).await.unwrap();
    let mut going = Vec::new();
    for job in 0..8 {
        let (coordinator, acme, text) =
            (place.coordinator.clone(), place.acme.clone(), pipeline(&format!("j-{job}"), 1));
        going.push(tokio::spawn(async move { coordinator.submit(&ann(), &acme, &text).await }));
    }
    while place.runner.checks.lock().unwrap().asked == 0 {
        tokio::task::yield_now().await;
    }
    // Who gives up does not let the next one in while its check goes on; and another tenant waits for nobody.
    going.remove(0).abort();
    let (other, bob) = ("other".parse().unwrap(), caller(Role::Developer, Some("other")));
    let (coordinator, text) = (place.coordinator.clone(), pipeline("theirs", 1));
    let theirs = tokio::spawn(async move { coordinator.submit(&bob, &other, &text).await });
    while place.runner.checks.lock().unwrap().asked < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(place.runner.checks.lock().unwrap().going, 2, "one of each tenant");
    drop(closed);
    theirs.await.expect("no panic").expect("accepted");
    for submission in going {
        let _ = submission.await.expect("no panic");
    }
    assert_eq!(place.runner.checks.lock().unwrap().most, 2);
}

#[tokio::test]
async fn what_the_quota_refuses_is_not_checked() {
    let place = Place::new().await;
    for job in ["a", "b"] {
        place.submit(&pipeline(job, 1)).await.expect("room");
    }
    assert!(matches!(place.submit(&pipeline("c", 1)).await, Err(SubmitError::Quota { limit: 2 })));
    assert_eq!(place.runner.checks.lock().unwrap().asked, 2);
}

#[tokio::test]
async fn a_status_is_asked_on_one_blocking_thread_for_a_whole_list() {
    let mut place = Place::new().await;
    let mut runs = Vec::new();
    for job in ["a", "b"] {
        place.submit(&pipeline(job, 1)).await.expect("room");
        runs.push(place.start().await);
        place.until(job, JobState::Running).await;
    }
    place.runner.asked_on.lock().unwrap().clear();
    assert_eq!(place.coordinator.list(&ann(), &place.acme, None, 10).await.expect("listed").len(), 2);
    let asked = place.runner.asked_on.lock().unwrap().clone();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0], asked[1], "once for both");
    assert_ne!(asked[0], std::thread::current().id(), "not on a thread that serves requests");
}

#[tokio::test]
async fn the_same_submission_again_starts_a_live_job_that_nobody_runs() {
    let mut place = Place::new().await;
    let text = pipeline("clicks", 1);
    place.submit(&text).await.expect("accepted");
    let _run = place.start().await;
    place.until("clicks", JobState::Running).await;
    // Its supervisor goes, as after a failure between the commit and the start.
    place.coordinator.rest().await;
    assert!(place.job("clicks").await.state.is_live());
    place.submit(&text).await.expect("the same");
    assert_eq!(place.start().await.key.name.as_str(), "clicks");
    place.submit(&text).await.expect("the same");
    assert!(place.starts.try_recv().is_err(), "it runs once");
}

#[tokio::test]
async fn nothing_is_kept_of_a_job_that_has_ended() {
    let mut place = Place::new().await;
    place.submit(&pipeline("clicks", 1)).await.expect("accepted");
    place.start().await.end.send(RunEnd::Finished).unwrap();
    place.until("clicks", JobState::Finished).await;
    while !place.coordinator.supervised().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(place.runner.forgotten.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn what_the_registry_fails_with_does_not_reach_the_tenant() {
    let place = Place::new().await;
    let rest = "sink: {type: upsert_store, table: t, key: [k]}\nmap: {component: down}\n";
    let refused = place.submit(&with("j", 1, rest)).await.expect_err("refused");
    assert!(matches!(refused, SubmitError::Unavailable { .. }));
    assert_eq!(refused.to_string(), "the registry cannot be read now; try again");
}

#[tokio::test]
async fn of_many_ended_jobs_those_that_ended_first_are_forgotten() {
    let mut place = Place::new().await;
    let pointers = CheckpointPointers::new(place.store.clone());
    let pointer = |job| CheckpointPlace { tenant: "acme", job, version: 1 };
    for (at, job) in (1..).zip(["d", "c", "b", "a"]) {
        place.clock.0.store(at, Ordering::SeqCst);
        place.submit(&pipeline(job, 1)).await.expect("room");
        pointers.claim(pointer(job), 1).await.expect("claimed");
        place.start().await.end.send(RunEnd::Finished).unwrap();
        place.until(job, JobState::Finished).await;
    }
    let names = async || -> Vec<String> {
        let listed = place.coordinator.list(&ann(), &place.acme, None, 10).await.expect("listed");
        listed.into_iter().map(|job| job.name).collect()
    };
    assert_eq!(names().await, ["a", "b", "c"], "`d` ended first");
    assert_eq!(pointers.read(pointer("d")).await, Ok(None), "its checkpoints are forgotten with it");
    assert_eq!(pointers.read(pointer("c")).await, Ok(Some(Vec::new())));
    place.submit(&pipeline("a", 2)).await.expect("a name that is kept takes no other's place");
    assert_eq!(names().await, ["a", "b", "c"]);
    place.submit(&pipeline("e", 1)).await.expect("room");
    assert_eq!(names().await, ["a", "b", "e"], "a live job is kept");
    // The text of a version is stored once.
    assert!(place.store.list("job-version", "", None, 10).await.expect("listed").is_empty());
}

#[tokio::test]
async fn a_tenant_whose_kept_jobs_all_run_is_refused_clearly() {
    let place = Place::new().await;
    let admin = caller(Role::PlatformAdmin, None);
    let many = "many".parse().unwrap();
    let limits = TenantLimits { jobs: 9, ..TenantLimits::default() };
    place.tenancy.create_tenant(&admin, &many, limits).await.unwrap();
    let eve = caller(Role::Developer, Some("many"));
    for job in ["a", "b", "c"] {
        place.coordinator.submit(&eve, &many, &pipeline(job, 1)).await.expect("room");
    }
    let refused = place.coordinator.submit(&eve, &many, &pipeline("d", 1)).await.expect_err("refused");
    assert!(refused.to_string().starts_with("the tenant has 3 jobs that run, as many as are kept"), "{refused}");
}
