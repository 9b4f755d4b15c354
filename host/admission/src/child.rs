//! The child: it reads a component on standard input, and writes an image or a refusal on standard output.
//!
//! Invariant: before it reads the first byte, its limits stand and its system calls are filtered. What a stranger's component
//! could make of the compiler then has no file, no network, no other process, and ends with the limits at the latest.

mod filter;
mod limits;

pub(crate) use limits::PROCESSOR_SECONDS;

use std::io::{self, Read, Write};

use tidegate_sandbox::{ComponentDigest, Image, ImageCompiler, SandboxConfig};

use crate::answer::{self, Header, Outcome};
use crate::error::AdmitError;
use crate::refusal;

/// Compiles the component on `input` for sandboxes with the default limits, and writes the answer to `output`. To be called in a
/// process that does nothing else: its limits are those of the whole process and never rise again.
///
/// # Errors
/// If the limits or the filter cannot be set, or reading or writing fails. A component that is refused is an answer.
pub fn work(input: impl Read, mut output: impl Write) -> io::Result<()> {
    let config = SandboxConfig::default();
    limits::set()?;
    let compiler = ImageCompiler::new(&config).map_err(io::Error::other)?;
    // No stranger's byte is read without it.
    filter::apply().map_err(io::Error::other)?;
    let component = read(input, config.scan.component_bytes)?;
    let outcome = compiler.compile("component", &component);
    let (outcome, image) = match outcome {
        Ok(image) => compiled(image),
        Err(error) => (refused(refusal::of_sandbox(error)), Vec::new()),
    };
    let digest = ComponentDigest::of(&component).to_string();
    let header = Header { digest, stamp: compiler.stamp().to_string(), confined: true, outcome };
    output.write_all(&answer::write(&header, &image))?;
    output.flush()
}

/// All of the input, and one byte beyond the limit at most: the scan refuses what is too large.
fn read(input: impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut component = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    input.take(most).read_to_end(&mut component)?;
    Ok(component)
}

fn compiled(image: Image) -> (Outcome, Vec<u8>) {
    let outcome = Outcome::Compiled {
        image_bytes: u64::try_from(image.bytes.len()).unwrap_or(u64::MAX),
        hooks: image.hooks.iter().map(|hook| hook.name().to_owned()).collect(),
        imports: image.imports,
    };
    (outcome, image.bytes)
}

fn refused(error: AdmitError) -> Outcome {
    match error {
        AdmitError::Refused(refusal) => Outcome::Refused {
            rule: refusal.rule.to_owned(),
            place: refusal.place,
            reason: refusal.reason,
            mend: refusal.mend,
        },
        AdmitError::Unavailable { reason } => Outcome::Failed { reason },
    }
}
