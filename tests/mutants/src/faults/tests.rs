//! The list fits the engine as it stands.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;

const FAULT: Fault =
    Fault { name: "f", section: "1", breaks: "a thing", file: "a.rs", find: "x + 1", replace: "x + 2" };

#[test]
fn plants_where_its_text_stands_once() {
    assert_eq!(FAULT.plant("let y = x + 1;"), Ok("let y = x + 2;".to_owned()));
}

#[test]
fn names_a_fault_whose_place_is_gone_or_not_unique() {
    for (text, times) in [("let y = x;", 0), ("x + 1; x + 1", 2)] {
        let error = FAULT.plant(text).unwrap_err();
        assert_eq!(error.times, times);
        assert!(error.to_string().contains("`f`"), "{error}");
    }
}

#[test]
fn every_fault_has_its_place_in_the_engine() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut wrong = Vec::new();
    for fault in all() {
        let text = fs::read_to_string(root.join(fault.file)).unwrap_or_default();
        wrong.extend(fault.plant(&text).err().map(|misfit| misfit.to_string()));
    }
    assert!(wrong.is_empty(), "{} faults do not fit:\n  {}", wrong.len(), wrong.join("\n  "));
}

#[test]
fn names_are_unique_and_fit_a_table() {
    let faults = all();
    let names: BTreeSet<&str> = faults.iter().map(|fault| fault.name).collect();
    assert_eq!(names.len(), faults.len());
    for fault in faults {
        assert!(fault.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", fault.name);
        assert!(!fault.breaks.contains(['|', '\n']) && fault.find != fault.replace, "{}", fault.name);
    }
}
