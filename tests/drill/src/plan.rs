//! What a drill does: drawn from a seed, so that a drill can be done again.

use tidegate_e2e::Chance;

use crate::workload::{Workload, workloads};

/// How many different inputs a workload has. Few, so that their undisturbed runs are done once.
const INPUTS: u64 = 4;

/// How a job's streams of results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Delivery {
    /// `log`: everything at least once.
    AtLeastOnce,
    /// `transactional_log`: everything once.
    Once,
}

/// A job of a drill.
#[derive(Debug, Clone, Copy)]
pub struct JobPlan {
    /// What it is.
    pub workload: &'static Workload,
    /// The seed of its input.
    pub input: u64,
    /// How it writes to streams.
    pub delivery: Delivery,
    /// How many tasks share its work.
    pub parallelism: u64,
    /// Between two checkpoints, ms.
    pub interval: u64,
}

/// Something that a drill does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Appends this piece of every partition of every input.
    Append(u64),
    /// Lets so many ms pass.
    Wait(u64),
    /// Kills the process and starts it again.
    Kill,
    /// Kills the process, then the next one so many ms after its launch, and starts it again.
    KillTwice(u64),
    /// Kills the process and starts it again without the local files of its jobs' state: all comes from the store.
    KillAndLose,
    /// Kills the process, damages the newest checkpoint of every job that has three, and starts it again.
    KillAndDamage(Damage),
    /// Ends the input.
    Seal,
}

/// What happens to a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Half of its manifest is gone.
    CutManifest,
    /// Its manifest is gone.
    NoManifest,
    /// A byte of its manifest is another.
    OtherByteInManifest,
    /// A file of its state is gone.
    NoFile,
    /// A byte of a file of its state is another, and no local copy is left.
    OtherByteInFile,
}

/// A kill at a named point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directed {
    /// The point.
    pub point: String,
    /// At which of its visits, from 1.
    pub count: u64,
    /// In which process of the drill, from 0. A restore happens in the second one first.
    pub process: u64,
    /// Where the first process dies, `NAME:COUNT`, so that a later one comes to the point.
    pub ahead: Option<String>,
}

/// A drill.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What it follows from.
    pub seed: u64,
    /// What runs.
    pub jobs: Vec<JobPlan>,
    /// In how many pieces the input comes.
    pub pieces: u64,
    /// What is done, in this order.
    pub steps: Vec<Step>,
    /// The kill that is not drawn.
    pub directed: Option<Directed>,
    /// Whether a checkpoint is damaged. What was committed since the one before it is then there again
    /// (docs/checkpoints.md).
    pub damages: bool,
}

impl Plan {
    /// A drill of one to six kills at random moments.
    pub fn random(seed: u64) -> Self {
        let mut chance = Chance::of_seed(seed);
        let jobs = jobs(&mut chance);
        let pieces = 4 + chance.below(16);
        let kills = 1 + chance.below(6);
        let mut steps = input(&mut chance, pieces);
        for _ in 0..kills {
            // Not before the first piece.
            let place = 1 + small(chance.below(long(steps.len())));
            let kill = match chance.below(20) {
                0..5 => Step::KillTwice(chance.below(400)),
                5..8 => Step::KillAndLose,
                _ => Step::Kill,
            };
            let wait = moment(&mut chance);
            steps.splice(place..place, [Step::Wait(wait), kill]);
        }
        Self { seed, jobs, pieces, steps, directed: None, damages: false }
    }

    /// A drill of kills at random moments, at one of which the newest checkpoints are damaged.
    pub fn damaging(seed: u64) -> Self {
        use Damage::{CutManifest, NoFile, NoManifest, OtherByteInFile, OtherByteInManifest};
        let plan = Self::random(seed);
        let damages = [CutManifest, NoManifest, OtherByteInManifest, NoFile, OtherByteInFile];
        let damage = damages[small(seed % long(damages.len()))];
        // Often enough that there are three by then.
        let jobs = plan.jobs.iter().map(|job| JobPlan { interval: 50, ..*job }).collect();
        let mut steps = plan.steps;
        let place = steps.iter().position(|step| *step == Step::Append(plan.pieces - 1)).unwrap_or(steps.len());
        steps.splice(place..place, [Step::Wait(300), Step::KillAndDamage(damage)]);
        Self { jobs, steps, damages: true, ..plan }
    }

    /// A drill of one kill at a named point.
    pub fn directed(seed: u64, directed: Directed) -> Self {
        let mut chance = Chance::of_seed(seed);
        let jobs = jobs_for_points(&mut chance);
        let pieces = 4;
        let mut steps = Vec::new();
        for piece in 0..pieces {
            // Long enough for a checkpoint or two.
            steps.extend([Step::Append(piece), Step::Wait(200 + chance.below(200))]);
            if piece == 1 && directed.process > 0 && directed.ahead.is_none() {
                steps.push(Step::Kill);
            }
        }
        steps.push(Step::Seal);
        Self { seed, jobs, pieces, steps, directed: Some(directed), damages: false }
    }

    /// The same jobs with nothing to disturb them.
    pub(crate) fn undisturbed(jobs: &[JobPlan]) -> Self {
        let quiet =
            |job: &JobPlan| JobPlan { delivery: Delivery::AtLeastOnce, parallelism: 1, interval: 3_600_000, ..*job };
        let steps = vec![Step::Append(0), Step::Seal];
        Self { seed: 0, jobs: jobs.iter().map(quiet).collect(), pieces: 1, steps, directed: None, damages: false }
    }

    /// The words that replay it.
    pub fn replay(&self) -> String {
        match &self.directed {
            None if self.damages => format!("make drill DAMAGE=yes SEED={}", self.seed),
            None => format!("make drill SEED={}", self.seed),
            Some(Directed { point, .. }) => format!("make drill FAULT={point} SEED={}", self.seed),
        }
    }
}

/// The input's pieces with pauses between, and its end.
fn input(chance: &mut Chance, pieces: u64) -> Vec<Step> {
    let mut steps = Vec::new();
    for piece in 0..pieces {
        steps.extend([Step::Append(piece), Step::Wait(moment(chance) / 2)]);
    }
    steps.push(Step::Seal);
    steps
}

/// A wait, ms: mostly short, so that much falls into the work on a piece, into its checkpoint, or into a start.
fn moment(chance: &mut Chance) -> u64 {
    let most = [20, 100, 500][small(chance.below(3))];
    chance.below(most)
}

/// Two or three different jobs.
fn jobs(chance: &mut Chance) -> Vec<JobPlan> {
    let mut left: Vec<&'static Workload> = workloads().iter().collect();
    let number = 2 + chance.below(2);
    (0..number)
        .map(|_| {
            let workload = left.remove(small(chance.below(long(left.len()))));
            job(chance, workload)
        })
        .collect()
}

/// Jobs that together come to every point: a table, transactions, side outputs, several tasks.
fn jobs_for_points(chance: &mut Chance) -> Vec<JobPlan> {
    let named = |name: &str| workloads().iter().find(|workload| workload.name == name).expect("it is in the list");
    let second = named(["sessions", "processor", "join", "chain"][small(chance.below(4))]);
    let once = JobPlan { delivery: Delivery::Once, interval: 150, ..job(chance, named("campaign")) };
    vec![once, JobPlan { parallelism: 2, interval: 150, ..job(chance, second) }]
}

fn job(chance: &mut Chance, workload: &'static Workload) -> JobPlan {
    let once = workload.may_commit() && chance.of_thousand(600);
    JobPlan {
        workload,
        input: chance.below(INPUTS),
        delivery: if once { Delivery::Once } else { Delivery::AtLeastOnce },
        parallelism: 1 + chance.below(2),
        interval: [50, 100, 200, 500][small(chance.below(4))],
    }
}

fn small(number: u64) -> usize {
    usize::try_from(number).expect("a small number")
}

fn long(number: usize) -> u64 {
    u64::try_from(number).expect("a length fits 64 bits")
}
