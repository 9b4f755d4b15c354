//! What the end of a child without an answer means: the component's doing, or the host's.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::limit;
use crate::child::PROCESSOR_SECONDS;
use crate::error::AdmitError;
use crate::refusal::by;
use crate::rule::Rule;

/// What the standard library writes before it aborts a process that got no memory.
const NO_MEMORY: &str = "memory allocation of";

/// Why there is no answer. `said`: the beginning of what the child wrote to standard error.
pub(super) fn of(status: ExitStatus, said: &str) -> AdmitError {
    let Some(signal) = status.signal() else {
        // It ends by itself only where the host's machine failed it: limits not set, pipes closed.
        return AdmitError::unavailable(format!("the compiling process ended with {status}: {}", said.trim()));
    };
    if signal == libc::SIGABRT && said.contains(NO_MEMORY) {
        return limit("compiling needs more memory than it may use".to_owned()).into();
    }
    if signal == libc::SIGXCPU {
        return limit(format!("compiling takes more than {PROCESSOR_SECONDS} s of processor time")).into();
    }
    let reason = format!("the compiler was ended by signal {signal}; this is a fault of the host, please report it");
    by(Rule::CompileFailed, "component", reason, "build it with another version or other options of its compiler")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(error: &AdmitError) -> Option<&'static str> {
        match error {
            AdmitError::Refused(refusal) => Some(refusal.rule),
            AdmitError::Unavailable { .. } => None,
        }
    }

    #[test]
    fn an_end_by_a_limit_refuses_and_an_end_by_itself_does_not() {
        let by_signal = ExitStatus::from_raw;
        assert_eq!(rule(&of(by_signal(libc::SIGXCPU), "")), Some("compile-limit"));
        assert_eq!(rule(&of(by_signal(libc::SIGABRT), "memory allocation of 12 bytes failed")), Some("compile-limit"));
        assert_eq!(
            rule(&of(by_signal(libc::SIGABRT), "thread 'tidegate' has overflowed its stack")),
            Some("compile-failed")
        );
        assert_eq!(rule(&of(by_signal(libc::SIGSEGV), "")), Some("compile-failed"));
        assert_eq!(rule(&of(ExitStatus::from_raw(1 << 8), "no limits")), None);
    }
}
