//! What the documents refer to exists: pages and headings behind links, files behind paths, `make` targets.

use std::fs;
use std::path::Path;

use tidegate_docs::{Page, blocks, code_spans, links, pages, root, slugs};

/// The top folders and files whose paths are checked where a code span names one.
const ROOTS: [&str; 11] = [
    ".ci/",
    "changelog/",
    "deploy/",
    "docs/",
    "guest-examples/",
    "host/",
    "sdk/",
    "tests/",
    "tidegate/",
    "wit/",
    "deny.toml",
];

fn all_pages() -> Vec<Page> {
    pages(&root()).expect("the repository's documents can be read")
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} references lead nowhere:\n  {}", wrong.len(), wrong.join("\n  "));
}

#[test]
fn every_relative_link_leads_to_a_page_and_its_heading() {
    let mut wrong = Vec::new();
    for page in all_pages() {
        for (line, target) in links(&page.text).into_iter().filter(|(_, target)| !target.contains("://")) {
            if let Err(reason) = follow(&page, target) {
                wrong.push(format!("{}:{line}: ({target}): {reason}", page.path.display()));
            }
        }
    }
    assert_none(&wrong);
}

fn follow(page: &Page, target: &str) -> Result<(), String> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() {
        root().join(&page.path)
    } else {
        root().join(page.path.parent().unwrap_or(Path::new(""))).join(file)
    };
    if !path.exists() {
        return Err("no such file".to_owned());
    }
    if anchor.is_empty() {
        return Ok(());
    }
    let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
    if slugs(&text).iter().any(|slug| slug == anchor) { Ok(()) } else { Err("no such heading".to_owned()) }
}

#[test]
fn every_path_that_is_named_exists() {
    let mut wrong = Vec::new();
    for page in all_pages() {
        for (line, span) in code_spans(&page.text) {
            let is_path = ROOTS.iter().any(|root| span.starts_with(root)) && !span.contains([' ', '<', '…']);
            let missing = expand(span).into_iter().filter(|path| is_path && !exists(path));
            wrong.extend(missing.map(|path| format!("{}:{line}: `{path}`", page.path.display())));
        }
    }
    assert_none(&wrong);
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn expand(span: &str) -> Vec<String> {
    let Some((head, rest)) = span.split_once('{') else { return vec![span.to_owned()] };
    let Some((names, tail)) = rest.split_once('}') else { return vec![span.to_owned()] };
    names.split(',').map(|name| format!("{head}{name}{tail}")).collect()
}

/// A `*` stands for what a folder holds: the folder must be there. A `:line` is left out.
fn exists(path: &str) -> bool {
    let path = path.split_once(':').map_or(path, |(path, _)| path);
    let path = path.split_once('*').map_or(path, |(folder, _)| folder);
    root().join(path).exists()
}

#[test]
fn every_make_target_that_is_named_exists() {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("there is a Makefile");
    let exists = |target: &str| makefile.lines().any(|line| line.starts_with(&format!("{target}:")));
    let mut wrong = Vec::new();
    for page in all_pages() {
        let spans = code_spans(&page.text).into_iter().map(|(line, span)| (line, span.to_owned()));
        let lines = blocks(&page.text)
            .into_iter()
            .filter(|block| block.language == "sh")
            .flat_map(|block| block.text.lines().map(|text| (block.line, text.to_owned())).collect::<Vec<_>>());
        for (line, command) in spans.chain(lines) {
            let targets = targets_of(&command).into_iter().filter(|target| !exists(target));
            wrong.extend(targets.map(|target| format!("{}:{line}: make {target}", page.path.display())));
        }
    }
    assert_none(&wrong);
}

/// The targets of a `make` command: its words up to a comment, settings left out.
fn targets_of(command: &str) -> Vec<String> {
    let command = command.split('#').next().unwrap_or_default();
    let mut words = command.split_whitespace().skip_while(|word| word.contains('='));
    if words.next() != Some("make") {
        return Vec::new();
    }
    words.filter(|word| !word.contains('=') && !word.starts_with('-')).map(str::to_owned).collect()
}
