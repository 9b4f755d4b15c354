//! The process operator by itself: scripted hooks, each sentence of its contract as a case, and a naive model.

mod bench;
mod cases;
mod cuts;
mod hook;
mod memory;
mod model;
mod random;
mod script;
mod timers;
mod values;
