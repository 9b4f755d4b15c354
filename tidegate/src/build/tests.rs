//! From a folder to a component, and every way in which that fails.

use std::fs;
use std::path::{Path, PathBuf};

use super::toolchain::Choice;
use super::{BuildArgs, BuildError, build, report};
use crate::failure::Failure;

fn args(folder: &Path) -> BuildArgs {
    BuildArgs {
        folder: folder.to_owned(),
        output: None,
        package: None,
        toolchain: Choice::Any,
        target_dir: None,
        locked: false,
    }
}

fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Where .ci/build-guests.sh compiles, so that nothing is compiled twice.
#[expect(clippy::disallowed_methods, reason = "a test finds the compiler's cache as the scripts do")]
fn guest_target() -> Option<PathBuf> {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/tidegate/guests"));
    std::env::var_os("TIDEGATE_GUEST_TARGET_DIR").map(PathBuf::from).or_else(home)
}

#[test]
fn builds_the_flights_example_and_says_what_is_in_it() {
    let out = tempfile::tempdir().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest-examples/flight-delays-rust");
    let output = Some(out.path().join("new/delays.wasm"));
    let built = build(&BuildArgs { output, target_dir: guest_target(), locked: true, ..args(&folder) }).unwrap();
    assert_eq!(built.facts.hooks, ["mapper", "aggregator"]);
    assert_eq!(built.facts.imports, ["tidegate:job/log@0.1.0", "tidegate:job/types@0.1.0"]);
    assert_eq!(fs::read(&built.path).unwrap().len(), built.facts.size);
    assert_eq!(fs::read_dir(out.path().join("new")).unwrap().count(), 1, "nothing but the component");
    let mut text = Vec::new();
    report::write(&mut text, &built).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("hooks      mapper, aggregator") && text.contains("--component flight-delays="), "{text}");
}

#[test]
fn says_that_a_path_is_no_folder() {
    let error = build(&args(Path::new("no/such/hook"))).unwrap_err();
    assert!(error.to_string().starts_with("no/such/hook: not a folder"), "{error}");
    assert_eq!(Failure::from(error).status, 2);
}

#[test]
fn says_that_a_folder_has_no_source() {
    let folder = folder_with(&[("notes.txt", "")]);
    assert!(matches!(build(&args(folder.path())), Err(BuildError::NoLanguage(_))));
}

#[test]
fn names_a_language_that_is_to_come() {
    for (marker, language) in [("pyproject.toml", "Python"), ("package.json", "JavaScript"), ("go.mod", "Go")] {
        let folder = folder_with(&[(marker, "")]);
        let error = build(&args(folder.path())).unwrap_err().to_string();
        assert!(error.contains(&format!("hooks in {language} cannot be built yet ({marker} found)")), "{error}");
    }
}

#[test]
fn a_rust_folder_may_hold_other_languages() {
    let folder = folder_with(&[("Cargo.toml", "not toml"), ("package.json", "{}")]);
    let built = build(&BuildArgs { target_dir: guest_target(), ..args(folder.path()) });
    assert!(matches!(built, Err(BuildError::Compile(_) | BuildError::NoToolchain(_))));
}

#[test]
fn refuses_a_library_without_hooks_and_one_that_is_no_cdylib() {
    let manifest = "[workspace]\n[package]\nname = \"bare\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let plain = folder_with(&[("Cargo.toml", manifest), ("src/lib.rs", "")]);
    let target = tempfile::tempdir().unwrap();
    let into = |folder: &Path| BuildArgs { target_dir: Some(target.path().to_owned()), ..args(folder) };
    let error = build(&into(plain.path())).unwrap_err();
    assert!(error.to_string().contains("crate-type = [\"cdylib\", \"rlib\"]"), "{error}");
    let cdylib = format!("{manifest}[lib]\ncrate-type = [\"cdylib\"]\n");
    let hookless = folder_with(&[("Cargo.toml", &cdylib), ("src/lib.rs", "")]);
    let error = build(&into(hookless.path())).unwrap_err();
    assert!(error.to_string().starts_with("bare: it exports no hook"), "{error}");
    assert!(!hookless.path().join("target").exists(), "nothing is written");
}
