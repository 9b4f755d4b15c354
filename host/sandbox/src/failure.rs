//! What wasmtime's errors mean: the guest's own doing, the backstop, or the host's.
//!
//! Invariant: only what another run would repeat becomes a [`GuestFailure`]. Everything else is `Interrupted` or `Platform`.

use tidegate_types::hooks::{GuestFailure, HookError, StateError};
use wasmtime::{PoolConcurrencyLimitError, Trap, WasmBacktrace};

use crate::config::MESSAGE_BYTES;
use crate::lent::StateFailure;
use crate::memory::Refused;
use crate::text;

/// The code of a trap.
pub(crate) const TRAP: &str = "trap";
/// The code of a call that used up its fuel.
pub(crate) const OUT_OF_FUEL: &str = "out-of-fuel";
/// The code of a fault that the guest returned.
pub(crate) const FAULT: &str = "fault";
/// The code of an answer that breaks the contract.
pub(crate) const MALFORMED: &str = "malformed-result";

/// Frames of a trap's stack that a detail names.
const FRAMES: usize = 6;
/// The longest name of a function in a detail, bytes.
const FRAME_NAME_BYTES: usize = 96;

/// The budget of a call that failed, and what it had used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spent {
    pub(crate) fuel_budget: u64,
    pub(crate) fuel_used: u64,
    pub(crate) answer_bytes: usize,
    pub(crate) backstop_millis: u64,
}

/// Sorts an error of a call of `function`.
pub(crate) fn sort(error: &wasmtime::Error, function: &str, spent: Spent) -> HookError {
    if let Some(refused) = error.downcast_ref::<Refused>() {
        return HookError::Platform { detail: refused.to_string() };
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        return HookError::Platform { detail: error.root_cause().to_string() };
    }
    if let Some(failure) = error.downcast_ref::<StateFailure>() {
        return of_state(failure, error, function, spent);
    }
    let (code, detail) = match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => return HookError::Interrupted { millis: spent.backstop_millis },
        Some(Trap::OutOfFuel) => {
            (OUT_OF_FUEL, format!("`{function}` used up its budget of {} fuel{}", spent.fuel_budget, stack(error)))
        }
        Some(trap) => (TRAP, format!("`{function}`: {}{}", trap_text(*trap), stack(error))),
        // Within guest code, the host only fails while it reads what the guest passes to it.
        None if in_guest(error) => {
            (TRAP, format!("`{function}`: {}{}", passed_text(error, spent.answer_bytes), stack(error)))
        }
        None => (MALFORMED, lift_text(error, function, spent.answer_bytes)),
    };
    GuestFailure { code, detail, fuel_used: spent.fuel_used }.into()
}

/// A failure of the state that a call was lent: the guest's misuse, or the host's.
fn of_state(failure: &StateFailure, error: &wasmtime::Error, function: &str, spent: Spent) -> HookError {
    match &failure.error {
        StateError::Misuse(_) => {
            let detail = format!("`{function}`: {failure}{}", stack(error));
            GuestFailure { code: MALFORMED, detail, fuel_used: spent.fuel_used }.into()
        }
        StateError::Platform { .. } => HookError::Platform { detail: failure.to_string() },
    }
}

/// A fault as a failure.
pub(crate) fn fault(message: &str, stack: Option<&str>, function: &str, fuel_used: u64) -> GuestFailure {
    let mut detail = format!("`{function}`: {}", text::lines(message, MESSAGE_BYTES));
    if let Some(stack) = stack.filter(|stack| !stack.is_empty()) {
        detail.push('\n');
        detail.push_str(&text::lines(stack, MESSAGE_BYTES));
    }
    GuestFailure { code: FAULT, detail, fuel_used }
}

/// The trap in a tenant's words where wasmtime's are not.
fn trap_text(trap: Trap) -> String {
    match trap {
        Trap::StackOverflow => "the stack overflowed (too deep a recursion?)".into(),
        Trap::UnreachableCodeReached => {
            "`unreachable` was executed (a panic, an abort or an uncaught exception)".into()
        }
        other => {
            let text = other.to_string();
            text.strip_prefix("wasm trap: ").map_or_else(|| text.clone(), str::to_owned)
        }
    }
}

fn in_guest(error: &wasmtime::Error) -> bool {
    error.downcast_ref::<WasmBacktrace>().is_some_and(|backtrace| !backtrace.frames().is_empty())
}

fn passed_text(error: &wasmtime::Error, answer_bytes: usize) -> String {
    match cause(error) {
        Cause::TooLarge => {
            format!("what it passed to the host is larger than the {answer_bytes} bytes allowed for this call")
        }
        Cause::Other(text) => format!("what it passed to the host is malformed: {text}"),
    }
}

/// Other errors without a trap arise where the host reads what the guest returned.
fn lift_text(error: &wasmtime::Error, function: &str, answer_bytes: usize) -> String {
    match cause(error) {
        Cause::TooLarge => {
            format!("`{function}`: the answer is larger than the {answer_bytes} bytes allowed for this call")
        }
        Cause::Other(text) => format!("`{function}`: {text}"),
    }
}

enum Cause {
    TooLarge,
    Other(String),
}

fn cause(error: &wasmtime::Error) -> Cause {
    let cause = error.root_cause().to_string();
    // wasmtime's error for this is not public; a test holds its text.
    if cause.contains("fuel allocated for hostcalls has been exhausted") {
        return Cause::TooLarge;
    }
    Cause::Other(text::line(&cause, MESSAGE_BYTES))
}

/// The innermost functions, as ` (in a < b < c)`, where their names are known.
fn stack(error: &wasmtime::Error) -> String {
    let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() else {
        return String::new();
    };
    let names: Vec<String> = backtrace
        .frames()
        .iter()
        .filter_map(|frame| frame.func_name())
        .take(FRAMES)
        .map(|name| text::line(&format!("{:#}", rustc_demangle::demangle(name)), FRAME_NAME_BYTES))
        .collect();
    if names.is_empty() { String::new() } else { format!(" (in {})", names.join(" < ")) }
}
