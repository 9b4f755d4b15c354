//! Fault points: named places before and after each write that a recovery depends on, at which a drill kills the process.
//!
//! Only builds with debug assertions have them; in a release build [`reach`] is empty and [`arm`] refuses. What is armed is one
//! for the whole process, as the death is: the one global of the host, and it decides about nothing else.

mod points;

pub use points::POINTS;

/// What cannot be armed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ArmError {
    /// No such point.
    #[error("there is no fault point `{0}`; there are {list}", list = POINTS.join(", "))]
    Unknown(String),
    /// Not `NAME` or `NAME:COUNT`.
    #[error("`{0}` is no fault: write NAME or NAME:COUNT, with a count from 1")]
    Malformed(String),
    /// Armed already.
    #[error("a fault is armed already")]
    Twice,
    /// A release build.
    #[error("this build has no fault points; only builds with debug assertions do")]
    Release,
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::{ArmError, POINTS};

    struct Armed {
        point: String,
        at: u64,
        reached: AtomicU64,
    }

    static ARMED: OnceLock<Armed> = OnceLock::new();

    pub(super) fn arm(fault: &str) -> Result<(), ArmError> {
        let malformed = || ArmError::Malformed(fault.to_owned());
        let (point, at) = match fault.split_once(':') {
            Some((point, at)) => (point, at.parse().ok().filter(|at| *at > 0).ok_or_else(malformed)?),
            None => (fault, 1),
        };
        if !POINTS.contains(&point) {
            return Err(ArmError::Unknown(point.to_owned()));
        }
        let armed = Armed { point: point.to_owned(), at, reached: AtomicU64::new(0) };
        ARMED.set(armed).map_err(|_| ArmError::Twice)
    }

    pub(super) fn reach(point: &str) {
        debug_assert!(POINTS.contains(&point), "`{point}` is not in the list of fault points");
        let Some(armed) = ARMED.get() else { return };
        if armed.point == point && armed.reached.fetch_add(1, Ordering::SeqCst) + 1 == armed.at {
            die();
        }
    }

    /// As `kill -9` does: nothing is flushed, no destructor runs.
    fn die() -> ! {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        std::process::abort()
    }
}

/// Arms a fault, `NAME` or `NAME:COUNT`: the process dies when that point is reached for the `COUNT`th time.
///
/// # Errors
/// If there is no such point, or one is armed already.
pub fn arm(fault: &str) -> Result<(), ArmError> {
    #[cfg(debug_assertions)]
    return armed::arm(fault);
    #[cfg(not(debug_assertions))]
    {
        let _ = fault;
        Err(ArmError::Release)
    }
}

/// A fault point: does nothing, unless this one is armed.
#[inline]
pub fn reach(point: &'static str) {
    #[cfg(debug_assertions)]
    armed::reach(point);
    #[cfg(not(debug_assertions))]
    let _ = point;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_points_that_are_there_can_be_armed() {
        assert_eq!(arm("no.such.point"), Err(ArmError::Unknown("no.such.point".into())));
        let first = POINTS[0];
        assert!(matches!(arm(&format!("{first}:0")), Err(ArmError::Malformed(_))));
    }

    #[test]
    fn names_are_in_order_and_come_before_or_after_something() {
        assert!(POINTS.is_sorted());
        assert!(POINTS.iter().all(|point| point.ends_with(".before") || point.ends_with(".after")));
    }
}
