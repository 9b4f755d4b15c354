//! Files of keys: their modes, and what is not written over or read.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn key() -> SecretKey {
    SecretKey::from_bytes(&[7; 32])
}

#[test]
fn a_pair_comes_back_and_only_its_owner_may_read_the_secret() {
    let folder = tempfile::tempdir().unwrap();
    let pair = Pair::named(&folder.path().join("acme"));
    pair.write(&key()).unwrap();
    assert!(pair.secret.ends_with("acme.key") && pair.public.ends_with("acme.pub"));
    assert_eq!(fs::metadata(&pair.secret).unwrap().mode() & 0o777, 0o600);
    assert_eq!(read_secret("--key", &pair.secret).unwrap().public(), key().public());
    assert_eq!(read_public("--trust", &pair.public).unwrap(), key().public());
}

#[test]
fn a_key_is_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    for taken in ["acme.key", "acme.pub"] {
        let path = folder.path().join(taken);
        fs::write(&path, "precious").unwrap();
        let failure = Pair::named(&folder.path().join("acme")).write(&key()).unwrap_err();
        assert!(failure.status == 2 && failure.message.unwrap().contains(taken));
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was left behind");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_secret_key_that_others_may_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pair = Pair::named(&folder.path().join("acme"));
    pair.write(&key()).unwrap();
    for mode in [0o640, 0o604, 0o620] {
        fs::set_permissions(&pair.secret, fs::Permissions::from_mode(mode)).unwrap();
        let message = read_secret("--key", &pair.secret).unwrap_err().message.unwrap();
        assert!(message.contains("others may read or change it") && message.contains("chmod 600"), "{message}");
    }
    fs::set_permissions(&pair.secret, fs::Permissions::from_mode(0o400)).unwrap();
    assert!(read_secret("--key", &pair.secret).is_ok());
}

#[test]
fn the_other_half_is_refused_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let pair = Pair::named(&folder.path().join("acme"));
    pair.write(&key()).unwrap();
    let message = read_public("--trust", &pair.secret).unwrap_err().message.unwrap();
    assert!(message.starts_with("--trust ") && message.contains("this is a secret key"), "{message}");
    fs::set_permissions(&pair.public, fs::Permissions::from_mode(0o600)).unwrap();
    let message = read_secret("--key", &pair.public).unwrap_err().message.unwrap();
    assert!(message.contains("this is a public key"), "{message}");
}

#[test]
fn an_envelope_stands_beside_its_component() {
    assert_eq!(envelope_of(Path::new("out/delays.wasm")), Path::new("out/delays.wasm.dsse.json"));
}
