//! Reading cargo's list of artifacts.

use std::path::PathBuf;

use super::{modules, package_name};

#[test]
fn finds_the_library_among_other_lines() {
    let list = r#"
a build script says hello
{"reason":"compiler-artifact","package_id":"registry+x#serde@1.0.0","target":{"crate_types":["lib"]},"filenames":["/t/libserde.rlib"]}
{"reason":"build-script-executed","package_id":"registry+x#serde@1.0.0","linked_libs":[]}
{"reason":"compiler-artifact","package_id":"path+file:///hooks/x#ads@0.1.0","target":{"crate_types":["cdylib","rlib"]},"filenames":["/t/ads.wasm","/t/libads.rlib"]}
{"reason":"build-finished","success":true}
"#;
    let found = modules(list);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [("ads".to_owned(), PathBuf::from("/t/ads.wasm"))]);
}

#[test]
fn a_package_is_named_by_its_id() {
    assert_eq!(package_name("path+file:///hooks/flight-delays#1.0.0"), "flight-delays");
    assert_eq!(package_name("path+file:///hooks/flight-delays-rust#flight-delays@1.0.0"), "flight-delays");
}
