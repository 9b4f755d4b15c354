//! The choice and the words, on facts alone.

use super::{Choice, Facts, choose};

fn bare() -> Facts {
    let debian_missing = vec!["rustc-web", "cargo-web", "rust-web-src", "lld"];
    Facts { debian_missing, ..Facts::default() }
}

fn rustup() -> Facts {
    Facts { rustc: Some("rustc 1.95.0".into()), has_rustup: true, ..bare() }
}

fn debian() -> Facts {
    Facts { debian_rustc: Some("rustc 1.96.0".into()), has_apt: true, debian_missing: Vec::new(), ..Facts::default() }
}

#[test]
fn takes_the_installed_target_first() {
    let both = Facts { rustc: Some("rustc 1.95.0".into()), has_target: true, ..debian() };
    assert_eq!(choose(&both, Choice::Any).unwrap().name, "rustc 1.95.0");
    assert_eq!(choose(&both, Choice::Debian).unwrap().name, "Debian's rustc 1.96.0");
}

#[test]
fn falls_back_to_debian_and_builds_the_standard_library() {
    let toolchain = choose(&Facts { rustc: Some("rustc 1.95.0".into()), ..debian() }, Choice::Any).unwrap();
    assert_eq!(toolchain.arguments, ["-Zbuild-std=std,panic_abort"]);
    assert!(choose(&debian(), Choice::Rustup).is_err(), "the user's choice stands");
}

#[test]
fn says_how_to_get_the_target() {
    let words = choose(&rustup(), Choice::Any).unwrap_err();
    assert_eq!(words, "rustc 1.95.0 lacks the target: run `rustup target add wasm32-unknown-unknown`");
}

#[test]
fn names_the_debian_packages_that_are_missing() {
    let half = Facts { has_apt: true, debian_missing: vec!["lld"], ..rustup() };
    let words = choose(&half, Choice::Any).unwrap_err();
    assert!(
        words.ends_with("; or, with Debian's packages: run `apt-get install --no-install-recommends lld`"),
        "{words}"
    );
}

#[test]
fn without_any_rust_says_where_to_get_it() {
    let words = choose(&bare(), Choice::Any).unwrap_err();
    assert!(words.starts_with("there is no rustc: install Rust with rustup"), "{words}");
}
