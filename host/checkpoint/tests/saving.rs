//! Checkpoints over a store that fails, is slow and loses answers.

#[path = "saving/chance.rs"]
mod chance;
#[path = "saving/damage.rs"]
mod damage;
#[path = "saving/faulty.rs"]
mod faulty;
#[path = "saving/job.rs"]
mod job;
#[path = "saving/plain.rs"]
mod plain;
#[path = "saving/random.rs"]
mod random;
