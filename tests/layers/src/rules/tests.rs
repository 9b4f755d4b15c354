//! Each rule, broken on purpose: a check that cannot fail holds nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::graph::{Graph, Package};
use crate::rules::{check_graph, check_sources};
use crate::sources::{SourceFile, std_modules, without_comments};
use crate::table::LAYERS;

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

/// A workspace of every crate in the table, without any dependency.
fn lawful() -> Graph {
    let packages = LAYERS.iter().map(|layer| (layer.name.to_owned(), Package::default())).collect();
    Graph { packages }
}

fn with(name: &str, package: Package) -> Vec<String> {
    let mut graph = lawful();
    graph.packages.insert(name.to_owned(), package);
    check_graph(&graph).iter().map(ToString::to_string).collect()
}

fn direct(list: &[&str]) -> Package {
    Package { direct: names(list), reached: names(list), ..Package::default() }
}

fn complaints(name: &str, code: &str) -> Vec<String> {
    let file = SourceFile { path: PathBuf::from("src/some.rs"), code: without_comments(code) };
    check_sources(name, &[file]).iter().map(ToString::to_string).collect()
}

#[test]
fn accepts_a_workspace_that_keeps_the_table() {
    assert_eq!(check_graph(&lawful()), []);
    assert_eq!(with("tidegate-dataflow", direct(&["tidegate-types", "tidegate-windows"])), Vec::<String>::new());
}

#[test]
fn refuses_an_import_to_the_right() {
    let found = with("tidegate-types", direct(&["tidegate-windows"]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("tidegate-types: imports tidegate-windows, but may import no crate"), "{found:?}");
    assert!(found[0].contains("docs/architecture.md"), "{found:?}");
}

#[test]
fn refuses_the_sandbox_below_dataflow() {
    let found = with("tidegate-dataflow", direct(&["tidegate-sandbox"]));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn refuses_wasmtime_outside_the_sandbox() {
    let found = with("tidegate-formats", direct(&["wasmtime"]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("depends on wasmtime, which only tidegate-sandbox may"), "{found:?}");
}

#[test]
fn refuses_a_heavy_crate_that_comes_in_by_a_third_party() {
    let found = with("tidegate-windows", Package { reached: names(&["tokio"]), ..Package::default() });
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("has tokio somewhere below it"), "{found:?}");
}

#[test]
fn refuses_a_crate_without_a_row_and_a_row_without_a_crate() {
    let mut graph = lawful();
    graph.packages.remove("tidegate-worker");
    graph.packages.insert("tidegate-new".to_owned(), Package::default());
    let found: Vec<_> = check_graph(&graph).into_iter().map(|violation| violation.package).collect();
    assert_eq!(found, ["tidegate-new", "tidegate-worker"]);
}

#[test]
fn refuses_files_threads_and_clocks_in_a_pure_crate() {
    assert_eq!(complaints("tidegate-windows", "use std::fs::File;").len(), 1);
    assert_eq!(complaints("tidegate-windows", "use std::{collections::{BTreeMap, BTreeSet}, thread};").len(), 1);
    assert_eq!(complaints("tidegate-types", "let now = Instant::now();").len(), 1);
    assert_eq!(complaints("tidegate-pipeline", "// std::fs is not used\nuse std::fmt;"), Vec::<String>::new());
    assert_eq!(complaints("tidegate-connectors", "use std::fs::File;"), Vec::<String>::new());
}

#[test]
fn refuses_the_environment_outside_the_binary() {
    assert_eq!(complaints("tidegate-sandbox", "std::env::var(\"HOME\")").len(), 1);
    assert_eq!(complaints("tidegate-sandbox", "std::env::consts::ARCH"), Vec::<String>::new());
    assert_eq!(complaints("tidegate", "std::env::var(\"HOME\")"), Vec::<String>::new());
}

#[test]
fn refuses_a_concrete_connector_below_the_composition_root() {
    assert_eq!(complaints("tidegate-dataflow", "use tidegate_connectors::open_files;").len(), 1);
    assert_eq!(complaints("tidegate-dataflow", "use tidegate_connectors::SourceBatch;"), Vec::<String>::new());
    assert_eq!(complaints("tidegate", "use tidegate_connectors::open_files;"), Vec::<String>::new());
}

#[test]
fn finds_modules_of_std_in_paths_and_groups() {
    let found = std_modules("use std::{fs, io::{self, Write}};\nstd::net::TcpStream::connect");
    assert_eq!(found, names(&["fs", "io", "net"]));
}

#[test]
fn dev_dependencies_count_as_direct_but_not_as_reached() {
    let json = br#"{
        "packages": [
            {"id": "a", "name": "tidegate-a", "manifest_path": "/w/a/Cargo.toml", "dependencies": [{"name": "tool"}, {"name": "lib"}]},
            {"id": "tool", "name": "tool", "manifest_path": "/r/tool/Cargo.toml", "dependencies": []},
            {"id": "lib", "name": "lib", "manifest_path": "/r/lib/Cargo.toml", "dependencies": [{"name": "deep"}]},
            {"id": "deep", "name": "deep", "manifest_path": "/r/deep/Cargo.toml", "dependencies": []}
        ],
        "workspace_members": ["a"],
        "resolve": {"nodes": [
            {"id": "a", "deps": [{"pkg": "tool", "dep_kinds": [{"kind": "dev"}]}, {"pkg": "lib", "dep_kinds": [{"kind": null}]}]},
            {"id": "lib", "deps": [{"pkg": "deep", "dep_kinds": [{"kind": "build"}]}]},
            {"id": "tool", "deps": []},
            {"id": "deep", "deps": []}
        ]}
    }"#;
    let graph = Graph::from_json(json).expect("this is what cargo prints");
    let expected: BTreeMap<_, _> =
        [("tidegate-a".to_owned(), (names(&["lib", "tool"]), names(&["deep", "lib"])))].into();
    let found: BTreeMap<_, _> =
        graph.packages.into_iter().map(|(name, package)| (name, (package.direct, package.reached))).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_connector_is_named_by_whole_words() {
    let file = |code: &str| SourceFile { path: "src/lib.rs".into(), code: code.to_owned() };
    assert!(check_sources("tidegate-log-rocksdb", &[file("options.set_max_open_files(256);")]).is_empty());
    assert_eq!(check_sources("tidegate-worker", &[file("let source = open_files(config);")]).len(), 1);
    assert_eq!(check_sources("tidegate-worker", &[file("use tidegate_connectors::LogSource;")]).len(), 1);
}
