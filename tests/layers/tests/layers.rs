//! The workspace as it stands keeps the table of layers. `make layers` runs this.

use std::path::Path;

use tidegate_layers::{Graph, PURE, check_graph, check_sources, source_files};

fn workspace() -> Graph {
    Graph::read(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("cargo describes its own workspace")
}

fn report(violations: &[tidegate_layers::Violation]) -> String {
    violations.iter().map(|violation| format!("\n  {violation}")).collect()
}

#[test]
fn every_crate_imports_only_what_its_layer_allows() {
    let violations = check_graph(&workspace());
    assert!(violations.is_empty(), "{} broken rules:{}", violations.len(), report(&violations));
}

#[test]
fn pure_crates_touch_nothing_outside_and_only_the_binary_reads_the_environment() {
    let mut violations = Vec::new();
    for (name, package) in &workspace().packages {
        let files = source_files(&package.folder).expect("a crate's sources can be read");
        assert!(!files.is_empty() || !PURE.contains(&name.as_str()), "no source file of {name} was found");
        violations.extend(check_sources(name, &files));
    }
    assert!(violations.is_empty(), "{} broken rules:{}", violations.len(), report(&violations));
}
