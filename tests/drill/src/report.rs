//! What drills found, for a person to read.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use tidegate_faults::POINTS;

use crate::plan::Plan;

/// What came of a drill.
#[derive(Debug)]
pub struct Report {
    /// The drill.
    pub plan: Plan,
    /// What differs from an undisturbed run; none if all is well.
    pub differences: Vec<String>,
    /// How often the process was killed.
    pub kills: u64,
    /// Whether it died at the point that it was directed to.
    pub struck: bool,
    /// How many checkpoints the drill damaged.
    pub damaged: u64,
    /// How many checkpoints the platform's log names as damaged.
    pub skipped: usize,
    /// Where everything is kept that somebody needs to look into a difference.
    pub kept: Option<PathBuf>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, differences, kills, kept, .. } = self;
        let jobs: Vec<String> = plan
            .jobs
            .iter()
            .map(|job| {
                format!(
                    "{} ({:?}, parallelism {}, every {} ms)",
                    job.workload.name, job.delivery, job.parallelism, job.interval
                )
            })
            .collect();
        writeln!(f, "{}: {} differences after {kills} kills; {}", plan.replay(), differences.len(), jobs.join(", "))?;
        if let Some(directed) = &plan.directed {
            writeln!(f, "  directed at {}:{} in process {}", directed.point, directed.count, directed.process)?;
        }
        differences.iter().try_for_each(|difference| writeln!(f, "  {difference}"))?;
        kept.as_ref().map_or(Ok(()), |kept| writeln!(f, "  kept: {}", kept.display()))
    }
}

/// What all drills together found.
#[derive(Debug, Default)]
pub struct Summary {
    drills: u64,
    kills: u64,
    damaged: u64,
    skipped: usize,
    differing: Vec<String>,
    /// For each point that a drill was directed to: how often the process died there, and how many drills differed.
    points: BTreeMap<String, (u64, u64)>,
}

impl Summary {
    /// Adds a drill.
    pub fn add(&mut self, report: &Report) {
        self.drills += 1;
        self.kills += report.kills;
        self.damaged += report.damaged;
        self.skipped += report.skipped;
        if !report.differences.is_empty() {
            self.differing.push(report.plan.replay());
        }
        if let Some(directed) = &report.plan.directed {
            let (struck, differing) = self.points.entry(directed.point.clone()).or_default();
            *struck += u64::from(report.struck);
            *differing += u64::from(!report.differences.is_empty());
        }
    }

    /// The points that drills were directed to and that no process came to.
    pub fn not_reached(&self) -> Vec<&str> {
        self.points.iter().filter(|(_, (struck, _))| *struck == 0).map(|(point, _)| point.as_str()).collect()
    }

    /// Whether no drill differed.
    pub fn is_clean(&self) -> bool {
        self.differing.is_empty()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.points.is_empty() {
            writeln!(f, "{:<32} {:>7} {:>10}", "point", "killed", "differing")?;
        }
        for point in POINTS {
            if let Some((struck, differing)) = self.points.get(*point) {
                let note = if *struck == 0 { "  not reached" } else { "" };
                writeln!(f, "{point:<32} {struck:>7} {differing:>10}{note}")?;
            }
        }
        let Self { drills, kills, damaged, skipped, differing, .. } = self;
        writeln!(f, "{damaged} checkpoints damaged; the platform's log names damage {skipped} times")?;
        write!(f, "{drills} drills, {kills} kills, {} with differences", differing.len())?;
        differing.iter().try_for_each(|replay| write!(f, "\n  {replay}"))
    }
}
