//! The checks: pure functions from the workspace and the table to violations.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use crate::graph::{Graph, Package};
use crate::sources::{SourceFile, std_modules};
use crate::table::{
    CLOCK_CALLS, CONCRETE_CONNECTORS, CONNECTORS, ENVIRONMENT_READER, HEAVY, Heavy, IMPURE_MODULES, LAYERS, Layer, PURE,
};

/// Where the rules are written for people.
const WRITTEN: &str = "docs/architecture.md, \"Layers\"; as data in tests/layers/src/table.rs";

/// One broken rule: who, what, and where the rule stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub package: String,
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (the rule: {WRITTEN})", self.package, self.what)
    }
}

/// Checks imports between crates, heavy crates, and that table and workspace name the same crates.
pub fn check_graph(graph: &Graph) -> Vec<Violation> {
    let mut violations = check_table(graph);
    for (name, package) in &graph.packages {
        let layer = LAYERS.iter().find(|layer| layer.name == name);
        let found = layer.into_iter().flat_map(|layer| check_imports(layer, package, graph));
        violations.extend(found.chain(check_heavy(name, package)).map(|what| violation(name, what)));
    }
    violations
}

/// Checks that pure crates touch nothing outside themselves, that the environment is read in one crate only, and that no
/// crate below the composition root names a concrete connector.
pub fn check_sources(name: &str, files: &[SourceFile]) -> Vec<Violation> {
    let pure = PURE.contains(&name);
    let has_layer = LAYERS.iter().any(|layer| layer.name == name && layer.may_import.is_some());
    let mut violations = Vec::new();
    for file in files {
        if has_layer && name != CONNECTORS {
            violations.extend(concrete_connectors(name, file));
        }
        let modules = std_modules(&file.code);
        let path = file.path.display();
        if pure {
            let touched = touched_outside(&modules, &file.code);
            violations.extend(touched.into_iter().map(|what| {
                violation(name, format!("{path} uses {what}; this crate computes only: hand the value in from outside"))
            }));
        } else if has_layer && name != ENVIRONMENT_READER && modules.contains("env") && reads_variables(&file.code) {
            let what = format!("{path} reads the environment; only `{ENVIRONMENT_READER}` does: pass it as a setting");
            violations.push(violation(name, what));
        }
    }
    violations
}

fn concrete_connectors(name: &str, file: &SourceFile) -> Option<Violation> {
    let named = CONCRETE_CONNECTORS.iter().find(|connector| has_word(&file.code, connector))?;
    let path = file.path.display();
    Some(violation(name, format!("{path} names {named}; use the traits, and let `{ENVIRONMENT_READER}` choose")))
}

/// Whether the name stands in the code, not as a part of a longer one.
fn has_word(code: &str, name: &str) -> bool {
    let in_a_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name)
        .any(|(place, _)| !code[..place].ends_with(in_a_word) && !code[place + name.len()..].starts_with(in_a_word))
}

fn violation(package: &str, what: String) -> Violation {
    Violation { package: package.to_owned(), what }
}

fn check_table(graph: &Graph) -> Vec<Violation> {
    let rows: BTreeSet<&str> = LAYERS.iter().map(|layer| layer.name).collect();
    let crates: BTreeSet<&str> = graph.packages.keys().map(String::as_str).collect();
    let unknown =
        crates.difference(&rows).map(|name| violation(name, "has no row in the table of layers: add one".into()));
    let stale =
        rows.difference(&crates).map(|name| violation(name, "has a row but is no crate: remove the row".into()));
    unknown.chain(stale).collect()
}

fn check_imports(layer: &Layer, package: &Package, graph: &Graph) -> Vec<String> {
    let Some(may_import) = layer.may_import else { return Vec::new() };
    let ours = package.direct.iter().filter(|name| graph.packages.contains_key(*name));
    let forbidden = ours.filter(|name| !may_import.contains(&name.as_str()));
    let allowed = if may_import.is_empty() { "no crate of this workspace".to_owned() } else { may_import.join(", ") };
    forbidden.map(|name| format!("imports {name}, but may import {allowed}")).collect()
}

fn check_heavy(name: &str, package: &Package) -> Vec<String> {
    HEAVY.iter().filter_map(|heavy| misuse(heavy, name, package)).collect()
}

fn misuse(heavy: &Heavy, name: &str, package: &Package) -> Option<String> {
    let Heavy { name: crate_name, users, reached_by } = heavy;
    if package.direct.contains(*crate_name) && !users.contains(&name) {
        return Some(format!("depends on {crate_name}, which only {} may", listed(users)));
    }
    let below = reached_by.filter(|reached_by| package.reached.contains(*crate_name) && !reached_by.contains(&name));
    below.map(|reached_by| format!("has {crate_name} somewhere below it, which only {} may", listed(reached_by)))
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "a crate that an ADR names first".to_owned() } else { names.join(", ") }
}

fn touched_outside(modules: &BTreeSet<String>, code: &str) -> Vec<String> {
    let modules =
        IMPURE_MODULES.iter().filter(|module| modules.contains(**module)).map(|module| format!("std::{module}"));
    let calls = CLOCK_CALLS.iter().filter(|call| code.contains(**call)).map(|call| (*call).to_owned());
    modules.chain(calls).collect()
}

/// `std::env::consts` is no reading of the environment.
fn reads_variables(code: &str) -> bool {
    ["env::var", "env::current_dir", "env::temp_dir", "env::home_dir"].iter().any(|call| code.contains(call))
}
