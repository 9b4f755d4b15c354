//! The parent's side of compiling: one child for each component, watched.
//!
//! Invariant: whatever the child does (crash, loop, flood, silence, a wrong answer), `compile` returns within the wall-clock
//! limit, the child is gone and reaped, and what was read of it is bounded.

mod ending;
mod process;

use std::path::PathBuf;
use std::time::Duration;

use tidegate_sandbox::{ComponentDigest, Stamp};
use tidegate_signing::Refusal;

use crate::answer::{Answer, Outcome};
use crate::error::AdmitError;
use crate::places::{Place, Places};
use crate::refusal::by;
use crate::rule::Rule;
use process::Ended;

/// Limits that the parent holds a child to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileLimits {
    /// Wall-clock time of one compile.
    pub wall: Duration,
    /// Bytes of an answer: a header and an image.
    pub answer_bytes: u64,
    /// Children at once; of one owner, one.
    pub at_once: usize,
    /// Uploads that wait for a place, of all owners and of one; more are told to try again. Each holds a thread meanwhile.
    pub waiting: usize,
    /// See `waiting`.
    pub waiting_of_owner: usize,
    /// How long an upload waits for a place.
    pub patience: Duration,
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self {
            // The processor time is what judges a component. This is for a child that hangs, and so far above it that a busy
            // machine refuses nobody: a Python component took 315 s at a load of 10 for each processor.
            wall: Duration::from_secs(600),
            // The largest that a language toolchain makes of 19 MB has 43 MB.
            answer_bytes: 256 * 1024 * 1024,
            // Compiling yields to jobs; two owners' components compile side by side.
            at_once: 2,
            waiting: 64,
            waiting_of_owner: 2,
            patience: Duration::from_secs(60),
        }
    }
}

/// Starts children and takes their answers.
#[derive(Debug)]
pub struct Compiler {
    program: PathBuf,
    limits: CompileLimits,
    places: Places,
}

/// What a child made.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) image: Vec<u8>,
    pub(crate) imports: Vec<String>,
}

impl Compiler {
    /// A compiler whose children are `program` with the one argument `compile-worker`.
    #[must_use]
    pub fn new(program: PathBuf, limits: CompileLimits) -> Self {
        let places = Places::new(limits.at_once, limits.waiting, limits.waiting_of_owner);
        Self { program, limits, places }
    }

    /// A place for an upload of this owner, if it gets one in time.
    pub(crate) fn place(&self, owner: &str) -> Result<Place<'_>, AdmitError> {
        let busy = || AdmitError::unavailable("too many components are being compiled: try again in a minute");
        self.places.take(owner, Some(self.limits.patience)).ok_or_else(busy)
    }

    /// A place for what was admitted before, however long it takes: a job that waits is better than one that fails.
    pub(crate) fn patient_place(&self, owner: &str) -> Result<Place<'_>, AdmitError> {
        self.places.take(owner, None).ok_or_else(|| AdmitError::unavailable("no place to compile in"))
    }

    /// Compiles a component in a place of its owner's. The child must say that it compiled just these bytes, with this stamp.
    pub(crate) fn compile(
        &self,
        _in: &Place<'_>,
        component: &[u8],
        digest: ComponentDigest,
        stamp: Stamp,
    ) -> Result<Compiled, AdmitError> {
        let ended = process::run(&self.program, component, &self.limits)
            .map_err(|error| AdmitError::unavailable(format!("no process to compile in: {error}")))?;
        match ended {
            Ended::Answered(answer) => checked(answer, digest, stamp),
            Ended::OutOfTime => Err(limit(format!("compiling took more than {} s", self.limits.wall.as_secs())).into()),
            Ended::TooMuch => {
                Err(limit(format!("its machine code has more than {} bytes", self.limits.answer_bytes)).into())
            }
            Ended::Died { status, said } => Err(ending::of(status, &said)),
        }
    }
}

/// A limit of compiling that the component exceeded.
pub(crate) fn limit(reason: String) -> Refusal {
    let mend = "split large functions, link fewer libraries, or build it optimised for size";
    by(Rule::CompileLimit, "component", reason, mend)
}

fn checked(answer: Answer, digest: ComponentDigest, stamp: Stamp) -> Result<Compiled, AdmitError> {
    let Answer { header, image } = answer;
    if header.digest != digest.to_string() {
        return Err(AdmitError::unavailable("the compiling process has read other bytes than it was given"));
    }
    if header.stamp != stamp.to_string() {
        return Err(AdmitError::unavailable(
            "the compiling process is of another version of the host: restart the host",
        ));
    }
    if !header.confined {
        return Err(AdmitError::unavailable(
            "the compiling process runs without a filter of system calls: let the kernel or the container allow seccomp",
        ));
    }
    match header.outcome {
        Outcome::Compiled { imports, .. } => Ok(Compiled { image, imports }),
        Outcome::Failed { reason } => Err(AdmitError::Unavailable { reason }),
        Outcome::Refused { rule, place, reason, mend } => {
            let rule = Rule::of_code(&rule).unwrap_or(Rule::CompileFailed);
            Err(by(rule, place, reason, mend).into())
        }
    }
}
