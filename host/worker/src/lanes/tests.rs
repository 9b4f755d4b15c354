//! Lanes share the tasks of one tenant's jobs, and end with nothing left behind.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tidegate_dataflow::task::{Progress, Task, TaskError};
use tidegate_types::EventTime;

use super::*;
use crate::run::RunError;
use crate::state::{Early, RunControl, RunState};

/// Far longer than anything here takes. What does not come by then does not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A task of one closure.
struct Does<F>(F);

impl<F: FnMut() -> Result<Progress, TaskError> + Send> Task for Does<F> {
    fn step(&mut self, _now: Option<EventTime>) -> Result<Progress, TaskError> {
        (self.0)()
    }
}

fn does(step: impl FnMut() -> Result<Progress, TaskError> + Send + 'static) -> Box<dyn Task> {
    Box::new(Does(step))
}

/// Waits for its queue for ever.
fn patient() -> Box<dyn Task> {
    does(|| Ok(Progress::Waiting { until: None }))
}

/// Always has something to do.
fn spins(steps: &Arc<AtomicU64>) -> Box<dyn Task> {
    let steps = Arc::clone(steps);
    does(move || {
        steps.fetch_add(1, Ordering::Relaxed);
        Ok(Progress::Worked)
    })
}

/// Works so often, then has finished.
fn works(times: u64, steps: &Arc<AtomicU64>) -> Box<dyn Task> {
    let steps = Arc::clone(steps);
    does(move || {
        let done = steps.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(if done == times { Progress::Finished } else { Progress::Worked })
    })
}

/// A step that ends only when it is told so, as a hook that spins until its fuel is used up. Says when it has begun.
fn stuck(begun: Sender<()>, until: Receiver<()>) -> Box<dyn Task> {
    let until = Mutex::new(until);
    does(move || {
        let _ = begun.send(());
        let _ = until.lock().unwrap_or_else(PoisonError::into_inner).recv();
        Ok(Progress::Finished)
    })
}

fn lanes(count: u32) -> Lanes {
    Lanes::start("test-", NonZeroU32::new(count).expect("not zero"), None).expect("threads")
}

/// Puts one job onto lanes, each task in a group of its own.
fn job(lanes: &Lanes, tasks: Vec<Box<dyn Task>>) -> Arc<RunState> {
    let state = RunState::new(lanes.job_signal(), None);
    let slot = |task| vec![Slot { task, member: state.member(), outlives: false }];
    lanes.add(tasks.into_iter().map(slot).collect());
    state
}

/// Waits for a job's end, and gives it up if it does not come.
fn ended(state: &Arc<RunState>) -> Option<Option<Early>> {
    let (tell, told) = channel();
    let state = Arc::clone(state);
    let wait = move || drop(tell.send(state.wait()));
    std::thread::Builder::new().name("waits".into()).spawn(wait).expect("a thread");
    told.recv_timeout(PATIENCE).ok()
}

#[test]
fn a_job_ends_when_its_tasks_have_finished() {
    let lanes = lanes(2);
    let (a, b) = (Arc::default(), Arc::default());
    let state = job(&lanes, vec![works(3, &a), works(5, &b)]);
    assert!(matches!(ended(&state), Some(None)));
    assert_eq!((a.load(Ordering::Relaxed), b.load(Ordering::Relaxed), lanes.tasks()), (3, 5, 0));
}

#[test]
fn a_job_that_fails_leaves_its_neighbours_on_the_same_lane_running() {
    let lanes = lanes(1);
    let (before, after) = (Arc::default(), Arc::default());
    let neighbour = job(&lanes, vec![spins(&before)]);
    let panics = job(&lanes, vec![patient(), does(|| panic!("a defect, planted by this test"))]);
    assert!(matches!(ended(&panics), Some(Some(Early::Failed(RunError::Panicked)))));
    let error = || TaskError::Operator(tidegate_dataflow::OperatorError::Paused { operator: "map".into(), stops: 3 });
    let fails = job(&lanes, vec![patient(), does(move || Err(error()))]);
    assert!(matches!(ended(&fails), Some(Some(Early::Failed(RunError::Task(_))))));

    let seen = before.load(Ordering::Relaxed);
    let next = job(&lanes, vec![works(1000, &after)]);
    assert!(matches!(ended(&next), Some(None)), "the lane takes new jobs after others failed on it");
    assert!(before.load(Ordering::Relaxed) >= seen + 999, "the neighbour was stepped in turn");
    RunControl { run: Arc::clone(&neighbour) }.stop();
    assert!(matches!(ended(&neighbour), Some(Some(Early::Stopped))));
    assert_eq!(lanes.tasks(), 0);
}

#[test]
fn jobs_of_one_lane_take_turns_step_by_step() {
    let lanes = lanes(1);
    let (greedy, modest) = (Arc::default(), Arc::default());
    let spinning = job(&lanes, vec![spins(&greedy)]);
    let state = job(&lanes, vec![works(10_000, &modest)]);
    assert!(matches!(ended(&state), Some(None)));
    drop(lanes);
    assert!(matches!(ended(&spinning), Some(Some(Early::Stopped))));
    assert!(greedy.load(Ordering::Relaxed) >= 9_999, "one step each in turn");
}

#[test]
fn a_tenant_whose_hook_never_returns_delays_only_its_own_jobs() {
    let (mine, others) = (lanes(1), lanes(1));
    let ((begun, has_begun), (end, until)) = (channel(), channel());
    let attacker = job(&mine, vec![stuck(begun, until)]);
    has_begun.recv_timeout(PATIENCE).expect("the step has begun");
    // While that step goes on, another tenant's job runs from its start to its end,
    let steps = Arc::default();
    let neighbour = job(&others, vec![works(100_000, &steps)]);
    assert!(matches!(ended(&neighbour), Some(None)));
    // and a job of the same tenant, on the same lane, has not been stepped once.
    let own_steps = Arc::default();
    let own = job(&mine, vec![works(1, &own_steps)]);
    assert_eq!(own_steps.load(Ordering::Relaxed), 0);
    end.send(()).expect("the step waits");
    assert!(matches!(ended(&attacker), Some(None)));
    assert!(matches!(ended(&own), Some(None)));
}

#[test]
fn jobs_are_spread_over_the_lanes() {
    let lanes = lanes(3);
    let state = job(&lanes, vec![patient(), patient(), patient()]);
    let loads: Vec<usize> = lanes.lanes.iter().map(|lane| lane.inbox.load()).collect();
    assert_eq!(loads, [1, 1, 1]);
    drop(lanes);
    assert!(matches!(ended(&state), Some(Some(Early::Stopped))));
}

#[test]
fn a_stop_lets_the_sinks_go_on_to_their_end() {
    let lanes = lanes(1);
    let state = RunState::new(lanes.job_signal(), None);
    let flushed = Arc::new(AtomicU64::new(0));
    let ending = Arc::clone(&state);
    let flush = Arc::clone(&flushed);
    // A sink that has three things left to write when the job ends.
    let sink = does(move || {
        if !ending.is_ending() {
            return Ok(Progress::Waiting { until: None });
        }
        Ok(if flush.fetch_add(1, Ordering::Relaxed) == 2 { Progress::Finished } else { Progress::Worked })
    });
    let slot = |task, outlives| Slot { task, member: state.member(), outlives };
    lanes.add(vec![vec![slot(patient(), false), slot(sink, true)]]);
    RunControl { run: Arc::clone(&state) }.stop();
    assert!(matches!(ended(&state), Some(Some(Early::Stopped))));
    assert_eq!(flushed.load(Ordering::Relaxed), 3);
}

#[test]
fn a_run_that_has_ended_is_not_stopped_any_more() {
    let lanes = lanes(1);
    let state = job(&lanes, vec![works(1, &Arc::default())]);
    assert!(matches!(ended(&state), Some(None)));
    RunControl { run: Arc::clone(&state) }.stop();
    assert!(matches!(ended(&state), Some(None)));
}
