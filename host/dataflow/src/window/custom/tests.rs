//! Custom windows with a scripted hook: assignment, decisions, emission, and random jobs against a plain model.
//!
//! Every job runs at several batch sizes and parallelisms, and all of them must give the same.

mod assign;
mod decide;
mod emit;
mod job;
mod model;
mod order;
mod random;
pub(in crate::window) mod script;
