//! Joins event by event: each sentence of docs/semantics.md, 6, random inputs against a model of all pairs, outputs in
//! pieces, and a scripted hook.

mod bench;
mod cuts;
mod fields;
mod hook;
mod interval;
mod model;
mod pause;
mod random;
mod script;
mod window;
