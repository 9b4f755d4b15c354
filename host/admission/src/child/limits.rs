//! The limits that the kernel holds the child to, each with its reason.

use std::io;

use rustix::process::{Resource, Rlimit, nice, setrlimit};

/// Address space, bytes. A Python component of 19 MB takes 418 MiB and a JavaScript one of 12.5 MB 507 MiB to compile.
const ADDRESS_SPACE: u64 = 1024 * 1024 * 1024;
/// Processor time, seconds. The largest component that a language toolchain makes takes 8 to 19 s.
pub(crate) const PROCESSOR_SECONDS: u64 = 40;
/// Descriptors: the three that it is born with. No file and no socket can be opened.
const DESCRIPTORS: u64 = 3;
/// How much it yields to jobs: on a busy processor it gets half of what a job gets.
const NICE: i32 = 3;

/// Sets them for this process, for good.
pub(super) fn set() -> io::Result<()> {
    let at_most = |resource, limit| {
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) }).map_err(io::Error::from)
    };
    at_most(Resource::As, ADDRESS_SPACE)?;
    // The first second over ends it with a signal that says so; the next one kills it.
    setrlimit(
        Resource::Cpu,
        Rlimit { current: Some(PROCESSOR_SECONDS), maximum: Some(PROCESSOR_SECONDS.saturating_add(1)) },
    )?;
    at_most(Resource::Core, 0)?;
    at_most(Resource::Fsize, 0)?;
    at_most(Resource::Nofile, DESCRIPTORS)?;
    // Where the kernel does not let it, it competes as others do.
    let _ = nice(NICE);
    Ok(())
}
