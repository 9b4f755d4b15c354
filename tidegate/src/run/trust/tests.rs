//! What flags about signatures mean together.

use std::ffi::OsString;

use super::*;
use crate::cli::{Asked, Command, parse};

fn trust(flags: &str, components: &[&str]) -> Result<Trust, String> {
    let args = format!("tidegate run p.yaml --input a {flags}");
    let asked = parse(args.split_whitespace().map(OsString::from)).map_err(|failure| failure.message.unwrap())?;
    let Asked::For(Command::Run(args)) = asked else { panic!("not a run") };
    let file = |name: &&str| {
        (ComponentRef { name: (*name).into(), version: Some("1.0.0".into()) }, PathBuf::from(format!("{name}.wasm")))
    };
    Trust::of(&args, &components.iter().map(file).collect()).map_err(|failure| {
        assert_eq!(failure.status, 2);
        failure.message.unwrap()
    })
}

/// A folder with a public key, and its path.
fn key() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("acme.pub");
    std::fs::write(&path, tidegate_signing::SecretKey::from_bytes(&[7; 32]).public().to_string()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn a_component_needs_one_of_the_two_flags_and_both_are_named() {
    let message = trust("", &["a"]).unwrap_err();
    assert!(message.contains("--trust FILE.pub") && message.contains("--allow-unsigned"), "{message}");
    assert!(matches!(trust("--allow-unsigned", &["a"]), Ok(Trust::Unsigned)));
    assert!(matches!(trust("", &[]), Ok(Trust::Unsigned)), "without components nothing is asked");
}

#[test]
fn to_trust_a_key_and_to_take_all_is_a_contradiction() {
    let message = trust("--trust k.pub --allow-unsigned", &["a"]).unwrap_err();
    assert!(message.contains("cannot be used with"), "{message}");
}

#[test]
fn a_tenant_or_a_signature_without_a_key_is_refused() {
    for flag in ["--tenant acme", "--signature a=b"] {
        let message = trust(flag, &["a"]).unwrap_err();
        assert!(message.contains("--trust"), "{message}");
        let message = trust(&format!("{flag} --allow-unsigned"), &["a"]).unwrap_err();
        assert!(message.contains("cannot be used with"), "{message}");
    }
}

#[test]
fn an_envelope_is_beside_its_component_or_where_a_flag_says() {
    let (_folder, key) = key();
    let trust = trust(&format!("--trust {key} --signature b@1.0.0=sigs/b.json"), &["a", "b"]).unwrap();
    assert_eq!(trust.envelopes(), [Path::new("a.wasm.dsse.json"), Path::new("sigs/b.json")]);
}

#[test]
fn a_signature_that_serves_no_component_is_refused() {
    let (_folder, key) = key();
    for flag in ["c=x", "a@2.0.0=x"] {
        let message = trust(&format!("--trust {key} --signature {flag}"), &["a"]).unwrap_err();
        assert!(message.contains("the pipeline has no component of that name"), "{message}");
    }
    let message = trust(&format!("--trust {key} --signature a"), &["a"]).unwrap_err();
    assert!(message.contains("--signature a: write NAME=FILE.dsse.json"), "{message}");
    let message = trust(&format!("--trust {key} --signature a=x --signature a=y"), &["a"]).unwrap_err();
    assert!(message.contains("given more than once"), "{message}");
}
