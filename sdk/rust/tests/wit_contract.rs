//! The published contract does not change.
//!
//! `wit/published/job.wit` is the contract as it was published, printed from its parsed form without comments. Every interface and
//! world in it must still be in `wit/` and print to the same text. So new interfaces, new worlds and better documentation are
//! allowed; changed types, functions and worlds are not: components that are out there were built against them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use wit_component::WitPrinter;
use wit_parser::Resolve;

const HOW_TO: &str = "\
A published interface never changes. To evolve the contract:
  - put the new ability into an interface of its own (`processor`, `mapper2`) and a world that exports it, in wit/;
  - leave the published ones as they are, so that components built against them go on running.
What is new is published with: PUBLISH_WIT=1 cargo test -p tidegate-sdk --test wit_contract
which only ever adds to wit/published/job.wit.";

/// Interfaces and worlds, each with its text.
type Items = BTreeMap<String, String>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit")
}

/// The package in normal form: parsed, without comments, printed.
fn print(folder: &Path) -> String {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(folder).expect("the contract parses");
    let mut printer = WitPrinter::default();
    printer.emit_docs(false).print(&resolve, package, &[]).expect("the contract prints");
    printer.output.to_string()
}

/// Cuts a printed package into its interfaces and worlds: each begins at the margin and ends with `}` at the margin.
fn items(text: &str) -> Items {
    let mut items = Items::new();
    let mut current: Option<(String, String)> = None;
    for line in text.lines() {
        let head = ["interface ", "world "].iter().any(|word| line.starts_with(word));
        if head {
            current = Some((line.trim_end_matches(" {").to_owned(), String::new()));
        }
        if let Some((_, body)) = &mut current {
            body.push_str(line);
            body.push('\n');
        }
        if line == "}" {
            items.extend(current.take());
        }
    }
    items
}

/// What of `published` is gone from `current`, or says something else there.
fn broken(published: &Items, current: &Items) -> Vec<String> {
    let report = |(name, text): (&String, &String)| match current.get(name) {
        None => Some(format!("{name} is gone")),
        Some(now) if now != text => Some(format!("{name} changed:\n--- published\n{text}--- now\n{now}")),
        Some(_) => None,
    };
    published.iter().filter_map(report).collect()
}

#[expect(clippy::disallowed_methods, reason = "how the test is asked to publish")]
fn is_asked_to_publish() -> bool {
    std::env::var_os("PUBLISH_WIT").is_some()
}

#[test]
fn a_published_interface_keeps_its_text() {
    let golden = folder().join("published/job.wit");
    let current = print(&folder());
    let published = items(&fs::read_to_string(&golden).unwrap_or_default());
    let broken = broken(&published, &items(&current));
    assert!(broken.is_empty(), "{}\n\n{HOW_TO}", broken.join("\n"));
    if is_asked_to_publish() {
        fs::create_dir_all(folder().join("published")).unwrap();
        fs::write(&golden, &current).unwrap();
    } else {
        let unpublished: Vec<_> = items(&current).into_keys().filter(|name| !published.contains_key(name)).collect();
        assert!(unpublished.is_empty(), "not published yet: {}\n\n{HOW_TO}", unpublished.join(", "));
    }
}

#[test]
fn a_new_interface_is_no_change_and_an_altered_one_is() {
    let published = items("interface a {\n  f: func();\n}\n\nworld w {\n  export a;\n}\n");
    let grown = items("interface a {\n  f: func();\n}\n\ninterface b {\n}\n\nworld w {\n  export a;\n}\n");
    let altered = items("interface a {\n  f: func(x: u32);\n}\n");
    assert_eq!(broken(&published, &grown), Vec::<String>::new());
    let found = broken(&published, &altered);
    assert!(found[0].starts_with("interface a changed") && found[1] == "world w is gone", "{found:?}");
}

#[test]
fn comments_are_not_part_of_the_contract() {
    let text = print(&folder());
    assert!(!text.contains("///") && text.contains("interface mapper {"), "{text}");
}
