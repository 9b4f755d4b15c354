//! Guests in WebAssembly text, for tests: honest ones to compare with, and attackers.
//!
//! A guest is written as a few functions of a core module; [`guest`] puts the memory, the allocator and the contract's types
//! around them. Attacks that the component format itself carries are whole components in text, see [`component`].

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

pub mod admit;
pub mod aggregator;
pub mod bomb;
pub mod host;
pub mod mapper;
pub mod measure;
pub mod processor;
pub mod windower;

/// The contract.
const WIT: &str = include_str!("../../../wit/job.wit");

/// What every guest has around its functions: a memory of 2 pages (the first for constants and answers, arguments from the
/// second on), and an allocator that never frees. `$top` is the allocator's next byte; set it back to reuse memory.
const FRAME: &str = r#"
  (memory (export "memory") 2)
  (global $top (mut i32) (i32.const 65536))
  (func $alloc (param $align i32) (param $size i32) (result i32)
    (local $at i32) (local $end i32)
    (local.set $at (i32.and (i32.add (global.get $top) (i32.sub (local.get $align) (i32.const 1)))
                            (i32.sub (i32.const 0) (local.get $align))))
    (local.set $end (i32.add (local.get $at) (local.get $size)))
    (if (i32.gt_u (local.get $end) (i32.mul (memory.size) (i32.const 65536)))
      (then (if (i32.eq (memory.grow (i32.add (i32.shr_u (local.get $size) (i32.const 16)) (i32.const 1))) (i32.const -1))
        (then unreachable))))
    (global.set $top (local.get $end))
    (local.get $at))"#;

/// The allocator as the contract's types need it.
const REALLOC: &str = r#"
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (call $alloc (local.get 2) (local.get 3)))"#;

/// A component of `world` from the functions of a core module, with the usual memory and allocator.
///
/// # Panics
/// If the text or the functions' types are wrong: a mistake in the test.
#[must_use]
pub fn guest(world: &str, functions: &str) -> Vec<u8> {
    core(world, &format!("(module {FRAME} {REALLOC} {functions})"))
}

/// As [`guest`], with an allocator of its own (`cabi_realloc` is among the functions).
///
/// # Panics
/// As [`guest`].
#[must_use]
pub fn guest_with_allocator(world: &str, functions: &str) -> Vec<u8> {
    core(world, &format!("(module {FRAME} {functions})"))
}

/// A component of `world` from a whole core module.
///
/// # Panics
/// As [`guest`].
#[must_use]
pub fn core(world: &str, module: &str) -> Vec<u8> {
    let mut module =
        wat::parse_str(module).unwrap_or_else(|error| panic!("the guest's text is wrong: {error}\n{module}"));
    let mut resolve = Resolve::default();
    let package = resolve.push_str("job.wit", WIT).expect("the contract parses");
    let world = resolve.select_world(&[package], Some(world)).expect("the contract has this world");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false)
        .expect("the types are embedded");
    let mut encoder = ComponentEncoder::default();
    encoder.validate(true);
    encoder.module(&module).expect("the module has the world's functions");
    encoder.encode().unwrap_or_else(|error| panic!("the module is no guest: {error:#}"))
}

/// A component written whole.
///
/// # Panics
/// If the text is wrong.
#[must_use]
pub fn component(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("the component's text is wrong: {error}"))
}
