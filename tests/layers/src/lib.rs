//! Holds the table of docs/architecture.md, "Layers": which crate may import which, who may use a heavy crate, and which
//! crates do no I/O.
//!
//! The rules are data (`table`), the workspace is data (`graph`, `sources`), and every check is a pure function from both to
//! a list of violations (`rules`). A violation says which rule it breaks and where that rule is written.

mod graph;
mod rules;
mod sources;
mod table;

pub use graph::{Graph, MetadataError, Package};
pub use rules::{Violation, check_graph, check_sources};
pub use sources::{SourceError, SourceFile, source_files, std_modules};
pub use table::{HEAVY, Heavy, LAYERS, Layer, PURE};
