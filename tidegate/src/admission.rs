//! The registry's seam to admission, over the sandbox and the compiling child of this very program.
//!
//! Everything behind it blocks, so it runs on threads that may. Invariant: the child is the program that runs now, also when
//! its file was replaced meanwhile.

mod key;
mod turns;

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use bytes::Bytes;
use tidegate_admission::{AdmitError, Admitter, Candidate as Bare, CompileLimits, Compiler, Cost};
use tidegate_registry::{Admission, AdmissionError, Admitted, Candidate, ImageOf, WarmUp};
use tidegate_sandbox::{ComponentDigest, ImageKey, Sandbox};

pub(crate) use key::image_key;
use turns::Turns;

/// This program, whatever happened to its file.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Admission to a sandbox of this process.
pub(crate) struct HostAdmission {
    admitter: Arc<Admitter>,
    /// Of those that compile again.
    turns: Turns,
}

impl HostAdmission {
    /// Over the sandbox that jobs run in, and the key of its images' seals.
    pub(crate) fn new(sandbox: Sandbox, key: ImageKey) -> Self {
        let compiler = Compiler::new(THIS_PROGRAM.into(), CompileLimits::default());
        #[allow(clippy::disallowed_methods, reason = "this is where the stopwatch of trial calls comes from")]
        let started = Instant::now();
        let micros = move || u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        Self { admitter: Arc::new(Admitter::new(sandbox, key, compiler, Arc::new(micros))), turns: Turns::default() }
    }

    /// Does something with a candidate on a thread that may block.
    async fn with<T: Send + 'static>(
        &self,
        candidate: Candidate,
        work: impl FnOnce(&Admitter, &Bare<'_>) -> Result<T, AdmitError> + Send + 'static,
    ) -> Result<T, AdmissionError> {
        let digest: ComponentDigest = candidate
            .digest
            .parse()
            .map_err(|_| AdmissionError::Unavailable { reason: "the registry named no digest".to_owned() })?;
        let admitter = Arc::clone(&self.admitter);
        let done = tokio::task::spawn_blocking(move || {
            let bare = Bare {
                owner: candidate.tenant.as_str(),
                name: &format!("{}@{}", candidate.name, candidate.version),
                component: &candidate.component,
                digest,
                call_fuel: candidate.granted.call_fuel,
                memory_bytes: candidate.granted.memory_bytes,
            };
            work(&admitter, &bare)
        });
        let done = done.await.map_err(|error| AdmissionError::Unavailable { reason: error.to_string() })?;
        done.map_err(|error| match error {
            AdmitError::Refused(refusal) => AdmissionError::Refused(refusal),
            AdmitError::Unavailable { reason } => AdmissionError::Unavailable { reason },
        })
    }
}

#[async_trait]
impl Admission for HostAdmission {
    async fn admit(&self, candidate: Candidate) -> Result<Admitted, AdmissionError> {
        let admission = self.with(candidate, |admitter, bare| admitter.admit(bare)).await?;
        Ok(Admitted {
            image: admission.image.into(),
            hooks: admission.hooks,
            imports: admission.imports,
            warm_up: admission.costs.into_iter().map(warm_up).collect(),
            remarks: admission.remarks,
        })
    }

    async fn recompile(&self, candidate: Candidate) -> Result<Bytes, AdmissionError> {
        // After an update all jobs come at once; they wait here, where that takes no thread.
        let _turn = self.turns.take(&candidate.tenant).await;
        Ok(self.with(candidate, |admitter, bare| admitter.recompile(bare)).await?.into())
    }

    fn fits(&self, of: ImageOf<'_>, image: &[u8]) -> bool {
        of.digest.parse().is_ok_and(|digest| self.admitter.fits(digest, of.size, image))
    }
}

fn warm_up(cost: Cost) -> WarmUp {
    WarmUp { hook: cost.hook.to_owned(), function: cost.function.to_owned(), fuel: cost.fuel, micros: cost.micros }
}
