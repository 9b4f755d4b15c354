//! The steps of admission behind the signature, in their order: scan, imports, compile (all in the child), seal, load, try.

use std::fmt;

use tidegate_sandbox::{Component, ComponentDigest, ImageError, ImageKey, Sandbox};

use crate::compiler::{Compiled, Compiler};
use crate::error::AdmitError;
use crate::places::Place;
use crate::refusal;
use crate::trial::{self, Cost, Granted, Micros};

/// A component to admit. Its digest is the caller's, taken over this very buffer.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Whose it is.
    pub owner: &'a str,
    /// `name@version`, for messages.
    pub name: &'a str,
    /// Its exact bytes.
    pub component: &'a [u8],
    /// Their digest.
    pub digest: ComponentDigest,
    /// Fuel of one call.
    pub call_fuel: u64,
    /// Bytes of all memories of its owner's instances.
    pub memory_bytes: u64,
}

/// What came of it.
pub struct Admission {
    /// The sealed image.
    pub image: Vec<u8>,
    /// The hooks' names.
    pub hooks: Vec<String>,
    /// The interfaces that it imports.
    pub imports: Vec<String>,
    /// What trial calls cost.
    pub costs: Vec<Cost>,
    /// What the tenant should know.
    pub remarks: Vec<String>,
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { image, hooks, imports, costs, remarks } = self;
        let image = format!("{} bytes", image.len());
        let mut shown = f.debug_struct("Admission");
        shown.field("image", &image).field("hooks", hooks).field("imports", imports);
        shown.field("costs", costs).field("remarks", remarks).finish()
    }
}

/// Admits components to one sandbox.
pub struct Admitter {
    sandbox: Sandbox,
    key: ImageKey,
    compiler: Compiler,
    micros: Micros,
}

impl Admitter {
    /// Over a sandbox with the default limits, the key of the host's seals, and a compiler.
    #[must_use]
    pub fn new(sandbox: Sandbox, key: ImageKey, compiler: Compiler, micros: Micros) -> Self {
        Self { sandbox, key, compiler, micros }
    }

    /// Compiles, seals, loads and tries out a component. It blocks: call it on a thread with 2 MiB of stack.
    ///
    /// # Errors
    /// A refusal, or that the host could not find out.
    pub fn admit(&self, candidate: &Candidate<'_>) -> Result<Admission, AdmitError> {
        self.fits_in(candidate)?;
        // Held over the trial too: a stranger's calls have no more threads than its compiles.
        let place = self.compiler.place(candidate.owner)?;
        let (image, imports) = self.image(candidate, &place)?;
        let size = size(candidate);
        let component = self.load(candidate.name, candidate.digest, size, &image).map_err(refusal::of_image)?;
        let granted = Granted { call_fuel: candidate.call_fuel, memory_bytes: candidate.memory_bytes };
        let trial = trial::run(&component, granted, &self.micros)?;
        drop(place);
        let hooks = component.hooks().iter().map(|hook| hook.name().to_owned()).collect();
        Ok(Admission { image, hooks, imports, costs: trial.costs, remarks: trial.remarks })
    }

    /// Compiles and seals a component that was admitted before. It waits for a place as long as it takes.
    ///
    /// # Errors
    /// As [`Admitter::admit`]: this version of the host may admit less than an older one.
    pub fn recompile(&self, candidate: &Candidate<'_>) -> Result<Vec<u8>, AdmitError> {
        self.fits_in(candidate)?;
        let place = self.compiler.patient_place(candidate.owner)?;
        let (image, _) = self.image(candidate, &place)?;
        self.load(candidate.name, candidate.digest, size(candidate), &image).map_err(refusal::of_image)?;
        Ok(image)
    }

    /// Whether a sealed image is this host's, of this component, and still of use.
    #[must_use]
    pub fn fits(&self, digest: ComponentDigest, size: u64, sealed: &[u8]) -> bool {
        self.sandbox.check_image(&self.key, digest, size, sealed).is_ok()
    }

    /// Loads a sealed image.
    ///
    /// # Errors
    /// See [`ImageError`].
    pub fn load(&self, name: &str, digest: ComponentDigest, size: u64, sealed: &[u8]) -> Result<Component, ImageError> {
        self.sandbox.load_image(name, digest, size, sealed, &self.key)
    }

    fn fits_in(&self, candidate: &Candidate<'_>) -> Result<(), AdmitError> {
        let (size, most) = (candidate.component.len(), self.sandbox.config().scan.component_bytes);
        if size > most { Err(refusal::too_large(size, most).into()) } else { Ok(()) }
    }

    fn image(&self, candidate: &Candidate<'_>, place: &Place<'_>) -> Result<(Vec<u8>, Vec<String>), AdmitError> {
        let Candidate { component, digest, .. } = *candidate;
        let Compiled { image, imports } = self.compiler.compile(place, component, digest, self.sandbox.stamp())?;
        Ok((self.sandbox.seal(&self.key, digest, size(candidate), &image), imports))
    }
}

fn size(candidate: &Candidate<'_>) -> u64 {
    u64::try_from(candidate.component.len()).unwrap_or(u64::MAX)
}
