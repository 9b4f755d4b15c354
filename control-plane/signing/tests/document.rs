//! docs/security/signing.md says what is so: it names every rule, in the order of checking, and every test it names exists.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_signing::Rule;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page() -> String {
    fs::read_to_string(folder().join("../../docs/security/signing.md")).expect("there is a page")
}

/// What stands between backquotes, blocks of code left out.
fn spans(page: &str) -> Vec<String> {
    let outside = page.split("```").step_by(2).collect::<String>();
    outside.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn sources(folder: PathBuf) -> String {
    let mut waiting = vec![folder];
    let mut text = String::new();
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text += &fs::read_to_string(path).expect("a source file");
        }
    }
    text
}

#[test]
fn the_page_names_every_rule_in_the_order_of_checking() {
    let spans = spans(&page());
    let first = |rule: &Rule| spans.iter().position(|span| span == rule.code());
    let missing: Vec<&str> = Rule::ALL.iter().filter(|rule| first(rule).is_none()).map(|rule| rule.code()).collect();
    assert!(missing.is_empty(), "docs/security/signing.md says nothing of {missing:?}");
    for pair in Rule::ALL.windows(2) {
        assert!(first(&pair[0]) < first(&pair[1]), "{} stands before {}", pair[1].code(), pair[0].code());
    }
}

#[test]
fn every_test_that_the_page_names_exists() {
    // What holds where signatures are used is tested there.
    let registry = folder().join("../registry/tests");
    let sources = [folder().join("src"), folder().join("tests"), registry].map(sources).concat();
    let spans = spans(&page());
    let is_test = |span: &&String| {
        span.matches('_').count() >= 2 && span.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let named: Vec<&String> = spans.iter().filter(is_test).collect();
    assert!(named.len() >= 20, "only {} tests are named", named.len());
    let missing: Vec<_> = named.iter().filter(|name| !sources.contains(&format!("fn {name}("))).collect();
    assert!(missing.is_empty(), "no such tests: {missing:?}");
}
