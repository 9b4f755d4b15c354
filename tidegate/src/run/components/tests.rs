//! Which file serves which hook.

use super::*;

const PIPELINE: &str = "
job: j
version: 1
source: {log: l, timestamp_field: t, watermark: {strategy: ascending}}
map: {component: decode@1.2.0}
key_by: []
window: {type: tumbling, size: 1m}
aggregate:
  n: {fn: count}
  sketch: {component: sketch@2.0.0}
  other: {component: sketch}
sink: {type: log, log: out}
";

fn resolved(flags: &[&str]) -> Result<Vec<(String, String)>, String> {
    let parsed = tidegate_pipeline::parse(PIPELINE).unwrap();
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    match resolve(&parsed, &flags) {
        Ok(files) => Ok(files.iter().map(|(name, file)| (written(name), file.display().to_string())).collect()),
        Err(failure) => {
            assert_eq!(failure.status, 2);
            Err(failure.message.unwrap())
        }
    }
}

#[test]
fn a_name_without_a_version_serves_every_version() {
    let files = resolved(&["decode=a.wasm", "sketch=b=c.wasm"]).unwrap();
    let expected = [("decode@1.2.0", "a.wasm"), ("sketch", "b=c.wasm"), ("sketch@2.0.0", "b=c.wasm")];
    assert_eq!(files, expected.map(|(name, file)| (name.to_owned(), file.to_owned())));
}

#[test]
fn a_name_with_a_version_goes_first() {
    let files = resolved(&["decode=a.wasm", "sketch=b.wasm", "sketch@2.0.0=c.wasm"]).unwrap();
    assert_eq!(
        files[1..],
        [("sketch", "b.wasm"), ("sketch@2.0.0", "c.wasm")].map(|(n, f)| (n.to_owned(), f.to_owned()))
    );
}

#[test]
fn a_hook_without_a_file_is_named_with_its_line() {
    let message = resolved(&["decode=a.wasm"]).unwrap_err();
    assert!(
        message.starts_with("aggregate.sketch.component (line 10): no file is given for `sketch@2.0.0`"),
        "{message}"
    );
    assert!(message.ends_with("add --component sketch=FILE.wasm"), "{message}");
}

#[test]
fn a_flag_that_serves_no_hook_is_refused() {
    let message = resolved(&["decode=a.wasm", "sketch=b.wasm", "skech=c.wasm"]).unwrap_err();
    assert!(
        message.contains("--component skech: no hook of the pipeline uses it (it names `decode@1.2.0`"),
        "{message}"
    );
    let message = resolved(&["decode@1.3.0=a.wasm", "sketch=b.wasm"]).unwrap_err();
    assert!(message.contains("map.component"), "{message}");
}

#[test]
fn a_component_given_twice_is_refused() {
    let message = resolved(&["decode=a.wasm", "decode=b.wasm", "sketch=b.wasm"]).unwrap_err();
    assert!(message.contains("`decode@1.2.0` is given more than once"), "{message}");
}

#[test]
fn a_malformed_flag_is_refused() {
    for flag in ["decode", "=a.wasm", "decode=", "decode@=a.wasm"] {
        let message = resolved(&[flag]).unwrap_err();
        assert!(message.contains("write NAME=FILE.wasm"), "{message}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named_with_its_flag() {
    let files = BTreeMap::from([(ComponentRef { name: "a".into(), version: None }, PathBuf::from("none.wasm"))]);
    let failure = Components::load(&files, &Trust::Unsigned).err().unwrap();
    assert!(failure.status == 2 && failure.message.unwrap().starts_with("--component a=none.wasm: "));
}
