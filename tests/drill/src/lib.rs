//! Recovery drills: a real platform is killed while its jobs run, started again on its data, and what its jobs give in the end
//! is held against a run that nobody disturbed.
//!
//! A drill follows from its seed: which jobs run, how their input comes, when the process is killed. `plan` draws it, `run`
//! does it, `outcome` collects what came out, `compare` says what differs. Invariant: a drill judges the platform only by
//! what a tenant can see, and what two undisturbed runs may differ in is left out by name, in `workload`.

mod compare;
mod damage;
mod events;
mod outcome;
mod plan;
mod reference;
mod report;
mod run;
mod site;
mod workload;

pub use plan::{Damage, Delivery, Directed, JobPlan, Plan, Step};
pub use reference::References;
pub use report::{Report, Summary};
pub use run::drill;
pub use site::Template;
pub use workload::{Workload, workloads};
