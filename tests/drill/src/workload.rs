//! The jobs of the drills: pipelines, their input, and how what comes out of them is compared.
//!
//! One partition where it matters what is late, since only then an undisturbed run is the only one there is
//! (docs/semantics.md, "After a failure"). Of several partitions or streams nothing comes late, and `left_out` names what
//! still depends on how they interleave.

mod list;

use tidegate_e2e::Chance;

/// A job that drills run.
#[derive(Debug, Clone, Copy)]
pub struct Workload {
    /// The job's name; its streams and tables begin with it.
    pub name: &'static str,
    pub(crate) pipeline: &'static str,
    pub(crate) streams: &'static [Stream],
    pub(crate) outputs: &'static [Output],
    /// Members of records that depend on how partitions or streams interleave.
    pub(crate) left_out: &'static [&'static str],
    /// Counts of the account that are above zero in any run; a drill without them would show nothing.
    pub(crate) counts: &'static [&'static str],
}

/// An input stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    pub(crate) name: &'static str,
    pub(crate) partitions: u64,
    /// The lines of a partition, from a seed.
    pub(crate) make: fn(seed: u64, partition: u64) -> Vec<String>,
}

/// Where something comes out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Output {
    /// A table: final rows.
    Table(&'static str),
    /// A stream of a sink.
    Results {
        stream: &'static str,
        /// The members that make a record's key.
        key: &'static [&'static str],
        /// Whether records of a key have one order, whatever interleaves.
        in_order: bool,
    },
    /// A stream of what was too late.
    Late(&'static str),
    /// A stream of what was rejected.
    Dead(&'static str),
}

impl Output {
    /// The stream or table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Table(name) | Self::Late(name) | Self::Dead(name) | Self::Results { stream: name, .. } => name,
        }
    }
}

impl Workload {
    /// Whether it has a sink that may commit with its checkpoints.
    pub(crate) fn may_commit(&self) -> bool {
        self.pipeline.contains("$LOG")
    }

    /// The lines of each partition of a stream.
    pub(crate) fn input(&self, stream: &Stream, seed: u64) -> Vec<Vec<String>> {
        let add = |hash: u64, byte: u8| hash.wrapping_mul(31).wrapping_add(u64::from(byte));
        let name = stream.name.bytes().fold(seed, add);
        let of = |partition: u64| Chance::of_seed(name.wrapping_add(partition << 32)).number();
        (0..stream.partitions).map(|partition| (stream.make)(of(partition), partition)).collect()
    }
}

/// All of them.
pub fn workloads() -> &'static [Workload] {
    list::WORKLOADS
}
