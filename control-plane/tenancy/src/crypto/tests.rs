//! No algorithm but one, by the provider itself: whatever stands above it.

use super::*;

const OTHERS: [Algorithm; 11] = [
    Algorithm::HS256,
    Algorithm::HS384,
    Algorithm::HS512,
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
];

#[test]
fn signs_and_verifies_with_ed25519_only() {
    let seed = [7; 32];
    let public = SigningKey::from_bytes(&seed).verifying_key().to_bytes();
    let (private, public) = (EncodingKey::from_ed_der(&seed), DecodingKey::from_ed_der(&public));
    let signature = new_signer(&Algorithm::EdDSA, &private).expect("ours").try_sign(b"message").expect("a signature");
    let verifier = new_verifier(&Algorithm::EdDSA, &public).expect("ours");
    assert!(verifier.verify(b"message", &signature).is_ok());
    assert!(verifier.verify(b"messagf", &signature).is_err());
    assert!(verifier.verify(b"message", &signature[..63].to_vec()).is_err());
    for other in OTHERS {
        assert!(new_signer(&other, &private).is_err(), "{other:?}");
        assert!(new_verifier(&other, &public).is_err(), "{other:?}");
    }
}

#[test]
fn takes_keys_of_its_own_family_and_length_only() {
    let secret = EncodingKey::from_secret(&[7; 32]).expect("a secret");
    assert!(new_signer(&Algorithm::EdDSA, &secret).is_err());
    let secret = DecodingKey::from_secret(&[7; 32]).expect("a secret");
    assert!(new_verifier(&Algorithm::EdDSA, &secret).is_err());
    for length in [0, 31, 33, 64] {
        assert!(new_signer(&Algorithm::EdDSA, &EncodingKey::from_ed_der(&vec![7; length])).is_err(), "{length}");
        assert!(new_verifier(&Algorithm::EdDSA, &DecodingKey::from_ed_der(&vec![7; length])).is_err(), "{length}");
    }
}

#[test]
fn refuses_a_key_of_small_order() {
    // The neutral element as a public key: a signature of zeros with R = A would verify everything leniently.
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut signature = vec![0; 64];
    signature[0] = 1;
    let verifier = new_verifier(&Algorithm::EdDSA, &DecodingKey::from_ed_der(&neutral));
    assert!(verifier.is_ok_and(|verifier| verifier.verify(b"anything", &signature).is_err()));
}

#[test]
fn is_the_provider_of_the_process() {
    assert!(install());
    assert!(install(), "a second time too");
}
