//! The Rust files of a crate that are shipped, and the modules of the standard library that they name.
//!
//! This reads text, not syntax: comments are left out, `std::name` and `std::{name, …}` are found. It catches slips, not
//! disguises.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A file and its text without line comments.
#[derive(Debug, Clone)]
pub struct SourceFile {
    pub path: PathBuf,
    pub code: String,
}

#[derive(Debug, thiserror::Error)]
#[error("could not read {path}")]
pub struct SourceError {
    pub path: PathBuf,
    pub source: io::Error,
}

/// Every `.rs` file under `folder/src`, tests left out, in order of path.
pub fn source_files(folder: &Path) -> Result<Vec<SourceFile>, SourceError> {
    let mut files = Vec::new();
    let mut waiting = vec![folder.join("src")];
    while let Some(path) = waiting.pop() {
        let at = |source| SourceError { path: path.clone(), source };
        for entry in fs::read_dir(&path).map_err(at)? {
            let entry = entry.map_err(at)?.path();
            if entry.is_dir() {
                waiting.push(entry);
            } else if is_shipped(&entry) {
                let text = fs::read_to_string(&entry).map_err(|source| SourceError { path: entry.clone(), source })?;
                files.push(SourceFile { code: without_comments(&text), path: entry });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn is_shipped(path: &Path) -> bool {
    // A contract suite is a test that several crates run.
    let of_tests = path.iter().any(|part| part == "tests" || part == "tests.rs" || part == "contract");
    !of_tests && path.extension().is_some_and(|extension| extension == "rs")
}

/// The text without `//` comments. (`//` in a string literal cuts the line short; nothing here looks for strings.)
pub(crate) fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The modules of `std` that `code` names, as in `std::fs::read` or `use std::{fs, io::Write}`.
pub fn std_modules(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("std::") {
        let rest = &code[at + "std::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(names_of_group(group)),
            None => found.extend(leading_name(rest)),
        }
    }
    found
}

/// The first name of each entry of a `use` group, read up to its closing brace.
fn names_of_group(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0_u32;
    let mut at_entry = true;
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => at_entry = true,
            letter if at_entry && !letter.is_whitespace() => {
                names.extend(leading_name(&group[at..]));
                at_entry = false;
            }
            _ => {}
        }
    }
    names
}

fn leading_name(text: &str) -> Option<String> {
    let name: String = text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
    (!name.is_empty()).then_some(name)
}
