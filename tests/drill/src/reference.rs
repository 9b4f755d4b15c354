//! What jobs give when nobody disturbs them, done once for each input.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::outcome::Outcome;
use crate::plan::{JobPlan, Plan};
use crate::run::undisturbed;
use crate::site::Template;

/// A workload and the seed of its input.
type Which = (&'static str, u64);

/// Outcomes of undisturbed runs.
pub struct References<'a> {
    template: &'a Template,
    known: Mutex<BTreeMap<Which, Arc<Outcome>>>,
}

impl<'a> References<'a> {
    /// None yet; they are made when they are asked for.
    pub fn new(template: &'a Template) -> Self {
        Self { template, known: Mutex::default() }
    }

    /// Where platforms come from.
    pub(crate) fn template(&self) -> &'a Template {
        self.template
    }

    /// The outcome of each of these jobs: one task, a stream written at least once (which, undisturbed, is once).
    ///
    /// # Errors
    /// If a job does not come to its end, or shows nothing of what it is there for.
    pub(crate) fn of(&self, jobs: &[JobPlan]) -> Result<Vec<Arc<Outcome>>, String> {
        let which = |job: &JobPlan| (job.workload.name, job.input);
        let missing: Vec<JobPlan> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            jobs.iter().filter(|job| !known.contains_key(&which(job))).copied().collect()
        };
        // Two drills may do the same one at once; both come to the same.
        let done =
            if missing.is_empty() { Vec::new() } else { undisturbed(self.template, &Plan::undisturbed(&missing))? };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (job, outcome) in missing.iter().zip(done) {
            for count in job.workload.counts {
                let shown = outcome.account[*count].as_u64().is_some_and(|number| number > 0);
                if !shown {
                    return Err(format!("{} has no {count}: {}", job.workload.name, outcome.account));
                }
            }
            known.insert(which(job), Arc::new(outcome));
        }
        Ok(jobs.iter().filter_map(|job| known.get(&which(job)).map(Arc::clone)).collect())
    }
}
