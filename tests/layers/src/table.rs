//! The rules themselves, as docs/architecture.md, "Layers", has them. A change here is a change there.

/// One crate's row: the crates of this workspace that it may import. Everything else is forbidden to it.
#[derive(Debug, Clone, Copy)]
pub struct Layer {
    pub name: &'static str,
    /// `None`: everything (the composition root and the tests).
    pub may_import: Option<&'static [&'static str]>,
}

/// A dependency that is quarantined: large to build, or a border of its own.
#[derive(Debug, Clone, Copy)]
pub struct Heavy {
    pub name: &'static str,
    /// The crates that may name it in their manifest.
    pub users: &'static [&'static str],
    /// The crates that may have it anywhere below them. `None`: all (a build tool, which macros bring along).
    pub reached_by: Option<&'static [&'static str]>,
}

const fn row(name: &'static str, may_import: &'static [&'static str]) -> Layer {
    Layer { name, may_import: Some(may_import) }
}

const fn free(name: &'static str) -> Layer {
    Layer { name, may_import: None }
}

/// Imports go up this list only.
pub const LAYERS: &[Layer] = &[
    row("tidegate-types", &[]),
    row("tidegate-pipeline", &["tidegate-types"]),
    row("tidegate-windows", &["tidegate-types", "tidegate-pipeline"]),
    row("tidegate-formats", &["tidegate-types"]),
    row("tidegate-sandbox", &["tidegate-types", "tidegate-formats"]),
    row("tidegate-admission", &["tidegate-types", "tidegate-sandbox", "tidegate-signing"]),
    row("tidegate-faults", &[]),
    row("tidegate-state", &["tidegate-types"]),
    row("tidegate-state-rocksdb", &["tidegate-types", "tidegate-state"]),
    row("tidegate-checkpoint", &["tidegate-types", "tidegate-state", "tidegate-faults"]),
    row("tidegate-log", &["tidegate-types"]),
    row("tidegate-log-rocksdb", &["tidegate-types", "tidegate-log", "tidegate-faults"]),
    row("tidegate-connectors", &["tidegate-types", "tidegate-formats", "tidegate-log"]),
    row("tidegate-sink-sqlite", &["tidegate-types", "tidegate-formats", "tidegate-connectors"]),
    row(
        "tidegate-dataflow",
        &[
            "tidegate-types",
            "tidegate-pipeline",
            "tidegate-windows",
            "tidegate-formats",
            "tidegate-connectors",
            "tidegate-state",
            "tidegate-faults",
        ],
    ),
    row(
        "tidegate-worker",
        &[
            "tidegate-types",
            "tidegate-formats",
            "tidegate-connectors",
            "tidegate-dataflow",
            "tidegate-state",
            "tidegate-checkpoint",
            "tidegate-faults",
        ],
    ),
    row("tidegate-signing", &[]),
    row("tidegate-store", &["tidegate-types"]),
    row("tidegate-store-sql", &["tidegate-store"]),
    row("tidegate-tenancy", &["tidegate-types", "tidegate-signing", "tidegate-store"]),
    row("tidegate-registry", &["tidegate-types", "tidegate-signing", "tidegate-store", "tidegate-tenancy"]),
    row(
        "tidegate-coordinator",
        &["tidegate-types", "tidegate-pipeline", "tidegate-store", "tidegate-tenancy", "tidegate-registry"],
    ),
    row(
        "tidegate-api",
        &[
            "tidegate-types",
            "tidegate-log",
            "tidegate-signing",
            "tidegate-store",
            "tidegate-tenancy",
            "tidegate-registry",
            "tidegate-coordinator",
        ],
    ),
    free("tidegate"),
    row("tidegate-sdk-macros", &[]),
    row("tidegate-sdk", &["tidegate-sdk-macros"]),
    row("tidegate-componentize", &[]),
    free("tidegate-conformance"),
    free("tidegate-isolation"),
    free("tidegate-e2e"),
    free("tidegate-bench"),
    free("tidegate-docs"),
    free("tidegate-drill"),
    free("tidegate-mutants"),
    row("tidegate-layers", &[]),
];

const SANDBOX_AND_ABOVE: [&str; 7] = [
    "tidegate-sandbox",
    "tidegate-admission",
    "tidegate",
    "tidegate-conformance",
    "tidegate-isolation",
    "tidegate-e2e",
    "tidegate-bench",
];

/// The first makes components; the others hold the contract's text and make guests for their tests.
const WIT_TOOLS: &[&str] = &["tidegate-componentize", "tidegate-sdk", "tidegate-isolation"];

/// Those that wait for something without a thread of their own. The host's crates are stepped and do not, but for the one that
/// speaks with the object store, whose client is made so; a thread of the worker's waits for it.
const WAITING: &[&str] = &[
    "tidegate-checkpoint",
    "tidegate-store",
    "tidegate-store-sql",
    "tidegate-tenancy",
    "tidegate-registry",
    "tidegate-coordinator",
    "tidegate-api",
    "tidegate",
];

/// The same, and what stands above or tests them.
const WAITING_AND_ABOVE: &[&str] = &[
    "tidegate-checkpoint",
    "tidegate-worker",
    "tidegate-store",
    "tidegate-store-sql",
    "tidegate-tenancy",
    "tidegate-registry",
    "tidegate-coordinator",
    "tidegate-api",
    "tidegate",
    "tidegate-isolation",
];

/// Who may use a heavy crate. `deny.toml` says the same of direct users to cargo-deny.
pub const HEAVY: &[Heavy] = &[
    Heavy { name: "wasmtime", users: &["tidegate-sandbox"], reached_by: Some(&SANDBOX_AND_ABOVE) },
    Heavy { name: "wit-component", users: WIT_TOOLS, reached_by: None },
    Heavy { name: "tokio", users: WAITING, reached_by: Some(WAITING_AND_ABOVE) },
    Heavy { name: "axum", users: &["tidegate-api", "tidegate"], reached_by: Some(&["tidegate-api", "tidegate"]) },
    Heavy {
        name: "rocksdb",
        users: &["tidegate-log-rocksdb", "tidegate-state-rocksdb"],
        reached_by: Some(&["tidegate-log-rocksdb", "tidegate-state-rocksdb", "tidegate"]),
    },
    Heavy {
        name: "rusqlite",
        users: &["tidegate-sink-sqlite", "tidegate-e2e"],
        reached_by: Some(&["tidegate-sink-sqlite", "tidegate-e2e", "tidegate"]),
    },
    Heavy { name: "sqlx", users: &["tidegate-store-sql"], reached_by: Some(&["tidegate-store-sql", "tidegate"]) },
    Heavy { name: "quinn", users: &[], reached_by: Some(&[]) },
];

/// Crates that decide and compute only: no files, no network, no threads, no clock, no environment.
pub const PURE: &[&str] = &["tidegate-types", "tidegate-pipeline", "tidegate-windows"];

/// Modules of the standard library that a pure crate does not touch.
pub(crate) const IMPURE_MODULES: &[&str] = &["env", "fs", "net", "os", "process", "thread"];

/// Calls that read the clock.
pub(crate) const CLOCK_CALLS: &[&str] = &["Instant::now", "SystemTime::now"];

/// The one crate of the product that reads the environment. (Tests may.)
pub(crate) const ENVIRONMENT_READER: &str = "tidegate";

/// The crate of sources and sinks, and what it has beyond traits. Only the composition root and tests name these.
pub(crate) const CONNECTORS: &str = "tidegate-connectors";
pub(crate) const CONCRETE_CONNECTORS: &[&str] = &[
    "open_files",
    "FileResultSink",
    "FileSideSink",
    "FileSourceConfig",
    "LogResultSink",
    "LogSideSink",
    "LogSource",
    "tidegate_connectors::files",
    "tidegate_connectors::log",
];
