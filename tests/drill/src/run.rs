//! A drill, done: launches, input, kills, and the wait for the jobs' end.
//!
//! Whatever is asked of a platform that dies meanwhile is asked again of the next one; appends are numbered, so none is
//! done twice. Invariant: a process that ended without being told to is a difference, never an excuse.

mod client;

use std::thread;
use std::time::{Duration, Instant};

use crate::compare::differences;
use crate::damage::{damage, lose};
use crate::outcome::Outcome;
use crate::plan::{Delivery, JobPlan, Plan, Step};
use crate::reference::References;
use crate::report::Report;
use crate::site::{Site, Template};

/// How long everything after a step may take. What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the platform's log says of a checkpoint that it does not use.
const SKIPPED: &str = "is damaged";

/// Does a drill and says what differs from an undisturbed run.
pub fn drill(plan: &Plan, references: &References<'_>) -> Report {
    let mut site = references.template().site();
    let mut drill = Drill::of(plan, &mut site);
    let found = references.of(&plan.jobs).and_then(|expected| Ok((expected, drill.run()?)));
    let (kills, struck, damaged) = (drill.kills, drill.struck, drill.damaged);
    let skipped = site.said().matches(SKIPPED).count();
    let differences = match found {
        Ok((expected, found)) => {
            let both = plan.jobs.iter().zip(expected.iter().zip(&found));
            both.flat_map(|(job, (expected, found))| differences(&compared(plan, job), expected, found)).collect()
        }
        Err(failure) => vec![failure],
    };
    let kept = (!differences.is_empty()).then(|| site.keep());
    Report { plan: plan.clone(), differences, kills, struck, damaged, skipped, kept }
}

/// How a job's output is compared: where a checkpoint was damaged, what was committed since the one before comes again.
fn compared(plan: &Plan, job: &JobPlan) -> JobPlan {
    let delivery = if plan.damages { Delivery::AtLeastOnce } else { job.delivery };
    JobPlan { delivery, ..*job }
}

/// Does a plan without kills.
///
/// # Errors
/// If a job does not come to its end.
pub(crate) fn undisturbed(template: &Template, plan: &Plan) -> Result<Vec<Outcome>, String> {
    let mut site = template.site();
    let done = Drill::of(plan, &mut site).run();
    done.map_err(|failure| format!("undisturbed: {failure}\n{}", site.said()))
}

/// Why a process may end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Armed {
    /// To leave behind what the next one comes upon.
    Ahead,
    /// At the point that the drill is about.
    AtPoint,
}

/// A drill that is being done.
struct Drill<'a> {
    plan: &'a Plan,
    site: &'a mut Site,
    /// How many processes were launched.
    processes: u64,
    kills: u64,
    /// What the process that runs is to die at, as long as it has not.
    armed: Option<Armed>,
    /// Whether a process died at the point that the drill is directed to.
    struck: bool,
    /// How many checkpoints were damaged.
    damaged: u64,
    deadline: Instant,
}

impl<'a> Drill<'a> {
    fn of(plan: &'a Plan, site: &'a mut Site) -> Self {
        Self { plan, site, processes: 0, kills: 0, armed: None, struck: false, damaged: 0, deadline: deadline() }
    }

    fn run(&mut self) -> Result<Vec<Outcome>, String> {
        self.start()?;
        self.prepare()?;
        for step in &self.plan.steps {
            self.deadline = deadline();
            self.step(*step)?;
        }
        self.deadline = deadline();
        for job in &self.plan.jobs {
            self.finished(job)?;
        }
        self.plan.jobs.iter().map(|job| self.outcome(job)).collect()
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::Append(piece) => self.append(piece),
            Step::Seal => self.seal(),
            Step::Wait(ms) => {
                pause(ms);
                Ok(())
            }
            Step::Kill => self.kill().and_then(|()| self.start()),
            Step::KillAndLose => {
                self.kill()?;
                lose(&self.site.data())?;
                self.start()
            }
            Step::KillAndDamage(kind) => {
                self.kill()?;
                self.damaged += damage(&self.site.data(), kind)?;
                self.start()
            }
            Step::KillTwice(ms) => {
                self.kill()?;
                self.launch();
                pause(ms);
                self.kill()?;
                self.start()
            }
        }
    }

    /// Kills what runs. One that is gone already died at its point, or is a difference.
    fn kill(&mut self) -> Result<(), String> {
        if self.site.ends_within(Duration::ZERO) {
            self.note_death()?;
        } else {
            self.kills += 1;
        }
        self.site.kill();
        Ok(())
    }

    fn launch(&mut self) {
        let directed = self.plan.directed.as_ref();
        let ahead = directed.and_then(|directed| directed.ahead.as_ref()).filter(|_| self.processes == 0);
        let at_point = directed.filter(|directed| directed.process == self.processes);
        let (armed, fault) = match (ahead, at_point) {
            (Some(ahead), _) => (Some(Armed::Ahead), Some(ahead.clone())),
            (None, Some(directed)) => (Some(Armed::AtPoint), Some(format!("{}:{}", directed.point, directed.count))),
            (None, None) => (None, None),
        };
        self.armed = armed;
        self.processes += 1;
        self.site.launch(fault.as_deref());
    }

    /// Launches processes until one listens: the first may be the one that dies.
    fn start(&mut self) -> Result<(), String> {
        loop {
            self.launch();
            if self.site.listens() {
                return Ok(());
            }
            if !self.site.ends_within(Duration::ZERO) {
                return Err("the platform does not come to listen".to_owned());
            }
            self.note_death()?;
        }
    }

    /// The process is gone and nobody killed it: it died at its point, or something is wrong.
    fn note_death(&mut self) -> Result<(), String> {
        if let Some(armed) = self.armed.take() {
            self.struck |= armed == Armed::AtPoint;
            self.kills += 1;
            return Ok(());
        }
        let said = self.site.said();
        let last: Vec<&str> = said.lines().rev().take(12).collect();
        Err(format!("the platform ended by itself; its last words, newest first:\n{}", last.join("\n")))
    }

    /// Whether time is up.
    fn is_late(&self) -> bool {
        now() > self.deadline
    }
}

fn deadline() -> Instant {
    now() + PATIENCE
}

#[allow(clippy::disallowed_methods, reason = "a drill that hangs has to end")]
fn now() -> Instant {
    Instant::now()
}

#[allow(
    clippy::disallowed_methods,
    reason = "when a process is killed is drawn; who got no answer asks again after a moment"
)]
fn pause(ms: u64) {
    thread::sleep(Duration::from_millis(ms));
}
