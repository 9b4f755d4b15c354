//! Key files: who may read them, rotation, and what is refused.

use std::fs::Permissions;

use tempfile::TempDir;

use super::*;

fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path().join("token-keys");
    (folder, path)
}

fn ids(dir: &Path) -> Vec<String> {
    TokenKeys::load_or_create(dir).expect("keys").ids().into_iter().map(str::to_owned).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn makes_a_key_once_that_only_its_owner_reads() {
    let (_folder, dir) = folder();
    let made = ids(&dir);
    assert_eq!(made.len(), 1);
    assert_eq!(ids(&dir), made, "the same key again");
    assert_eq!(mode(&dir), 0o700);
    assert_eq!(mode(&file(&dir, 1)), 0o600);
    assert_eq!(fs::read_dir(&dir).expect("the folder").count(), 1, "nothing is left beside it");
}

#[test]
fn rotation_signs_with_the_newest_and_keeps_the_older() {
    let (_folder, dir) = folder();
    let first = ids(&dir).remove(0);
    let second = TokenKeys::rotate(&dir).expect("a key");
    assert_ne!(first, second);
    let keys = TokenKeys::load_or_create(&dir).expect("keys");
    assert_eq!(keys.ids(), [first.as_str(), second.as_str()]);
    assert_eq!(keys.signing().0, second);
    assert!(keys.verifying(&first).is_some() && keys.verifying("token:0").is_none());

    let said = TokenKeys::remove(&dir, &second).expect_err("it signs").to_string();
    assert!(said.contains(&second) && said.contains("rotate first"), "{said}");
    TokenKeys::remove(&dir, &first).expect("it is removed");
    assert_eq!(ids(&dir), [second.as_str()]);
    assert!(TokenKeys::remove(&dir, &first).is_err(), "it is gone");
    let third = TokenKeys::rotate(&dir).expect("a key");
    assert_eq!(ids(&dir), [second, third], "numbers go on after a removal");
}

#[test]
fn of_several_that_start_at_once_all_have_the_same_key() {
    for _ in 0..20 {
        let (_folder, dir) = folder();
        let start = |dir: PathBuf| {
            std::thread::Builder::new().name("starts".into()).spawn(move || ids(&dir)).expect("a thread")
        };
        let started: Vec<_> = (0..4).map(|_| start(dir.clone())).collect();
        let seen: Vec<Vec<String>> = started.into_iter().map(|thread| thread.join().expect("keys")).collect();
        assert!(seen.iter().all(|ids| ids.len() == 1 && *ids == seen[0]), "{seen:?}");
    }
}

#[test]
fn refuses_a_key_that_others_may_read() {
    let (_folder, dir) = folder();
    ids(&dir);
    for exposed in [0o640, 0o604, 0o660, 0o644] {
        fs::set_permissions(file(&dir, 1), Permissions::from_mode(exposed)).expect("the mode is set");
        let error = TokenKeys::load_or_create(&dir).expect_err("it is exposed");
        assert!(matches!(error, TokenKeyError::Exposed { mode, .. } if mode == exposed), "{error:?}");
    }
}

#[test]
fn refuses_a_file_that_is_no_key_and_never_replaces_it() {
    let (_folder, dir) = folder();
    ids(&dir);
    let path = file(&dir, 1);
    let good = fs::read_to_string(&path).expect("the key");
    let long = format!("{}{}", good.trim_end(), "A".repeat(2_000));
    for broken in [
        "",
        "tidegate-token-key:v2:AAAA",
        "tidegate-token-key:v1:AAAA\n",
        "tidegate-token-key:v1:%\n",
        &good[..40],
        &long,
    ] {
        fs::write(&path, broken).expect("the file is written");
        let error = TokenKeys::load_or_create(&dir).expect_err("it is no key");
        assert!(matches!(error, TokenKeyError::Malformed { .. }), "{broken:?}: {error:?}");
        assert!(!error.to_string().contains("AAAA"), "a secret is in no error");
        assert_eq!(fs::read_to_string(&path).expect("the file"), broken);
    }
    fs::write(&path, good).expect("the file is written");
    assert_eq!(ids(&dir).len(), 1);
}

#[test]
fn names_the_folder_that_can_not_be_made() {
    let (folder, _) = folder();
    let occupied = folder.path().join("a-file");
    fs::write(&occupied, "").expect("a file");
    for dir in [occupied.join("token-keys"), PathBuf::from("/proc/token-keys")] {
        let error = TokenKeys::load_or_create(&dir).expect_err("it can not be made");
        assert!(matches!(&error, TokenKeyError::Io { .. }) && error.to_string().contains("token-keys"), "{error:?}");
    }
}

#[test]
fn shows_no_secret() {
    let (_folder, dir) = folder();
    let keys = TokenKeys::load_or_create(&dir).expect("keys");
    let text = fs::read_to_string(file(&dir, 1)).expect("the key");
    let secret = text.trim_end().rsplit(':').next().expect("its last part");
    assert!(!format!("{keys:?}").contains(secret));
    assert!(format!("{keys:?}").contains(keys.ids()[0]));
}
