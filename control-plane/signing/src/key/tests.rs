//! Keys as text, their names, and points that are no keys.

use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

/// RFC 8032, 7.1: seed, public key, message, signature of TEST 2.
const RFC: [&str; 4] = [
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
];

#[test]
fn a_key_signs_as_rfc_8032_says() {
    let [seed, public, message, signature] = RFC.map(bytes);
    let key = SecretKey::from_bytes(&seed.try_into().unwrap());
    assert_eq!(key.public(), PublicKey::from_bytes(&public.try_into().unwrap()).unwrap());
    assert_eq!(key.sign(&message).to_vec(), signature);
    assert!(key.public().has_signed(&message, &signature.try_into().unwrap()));
}

#[test]
fn a_key_comes_back_from_its_text() {
    let key = SecretKey::generate().unwrap();
    let again: SecretKey = format!("{}\n", *key.to_text()).parse().unwrap();
    assert_eq!(again.public(), key.public());
    let public: PublicKey = format!("{}\n", key.public()).parse().unwrap();
    assert_eq!(public, key.public());
    assert_ne!(SecretKey::generate().unwrap().public(), key.public());
}

#[test]
fn the_text_and_the_name_of_a_key_never_change() {
    let key = SecretKey::from_bytes(&[7; 32]);
    assert_eq!(*key.to_text(), "tidegate-secret-key:v1:BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=");
    assert_eq!(key.public().to_string(), "tidegate-public-key:v1:6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=");
    assert_eq!(key.public().id().as_str(), "ed25519:fe812c12f3ab4ce6ac5db69ac352f906");
}

#[test]
fn a_secret_key_is_not_shown() {
    let key = SecretKey::from_bytes(&[7; 32]);
    let shown = format!("{key:?}");
    assert!(!shown.contains("BwcHBw") && !shown.contains("7, 7"), "{shown}");
    assert!(shown.contains(key.public().id().as_str()), "{shown}");
}

#[test]
fn the_other_half_of_a_key_is_said_to_be_that() {
    let key = SecretKey::from_bytes(&[7; 32]);
    assert_eq!(key.to_text().parse::<PublicKey>().unwrap_err(), KeyError::SecretGiven);
    assert_eq!(key.public().to_string().parse::<SecretKey>().unwrap_err(), KeyError::PublicGiven);
}

#[test]
fn what_is_no_key_is_refused() {
    let good = SecretKey::from_bytes(&[7; 32]).public().to_string();
    let cut = &good[..good.len() - 4];
    let other_version = good.replace(":v1:", ":v2:");
    let trailing_bits = good.replace("0iw=", "0ix=");
    let unpadded = good.trim_end_matches('=');
    let two = format!("{good} {good}");
    for text in ["", "ssh-ed25519 AAAA", cut, &other_version, &trailing_bits, unpadded, &two] {
        assert!(text.parse::<PublicKey>().is_err(), "{text}");
    }
}

/// The eight points of low order (two of them in both encodings), and points in a second encoding. Under a weak key one signature would
/// be valid for almost every message.
#[test]
fn points_of_low_order_and_second_encodings_are_no_keys() {
    for hex in [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        // The same points, with y + p, or with the sign of a zero.
        "0100000000000000000000000000000000000000000000000000000000000080",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        // y = 3 is a point of large order; this is y = 3 + p.
        "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ] {
        let key: [u8; KEY_BYTES] = bytes(hex).try_into().unwrap();
        assert_eq!(PublicKey::from_bytes(&key), Err(KeyError::Unusable), "{hex}");
    }
    let mut three = [0; KEY_BYTES];
    three[0] = 3;
    assert!(PublicKey::from_bytes(&three).is_ok(), "the canonical encoding of the last one is a key");
}
