//! What an attacker has: a writer of envelopes that knows no rules, with an encoding and a signer of its own.
//!
//! Invariant: nothing of the crate under test makes the bytes here, except where a test begins with an honest envelope.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Value, json};
use tidegate_signing::{
    Claim, DeclaredLimits, Expectation, PublicKey, SecretKey, Statement, TrustedKey, Verified, sign, verify,
};

pub(crate) const NOW: i64 = 1_767_225_600_000;
pub(crate) const HOUR: i64 = 3_600_000;
pub(crate) const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
/// The tenant's key, another tenant's, and one that nobody knows.
pub(crate) const ACME: u8 = 1;
pub(crate) const GLOBEX: u8 = 2;
pub(crate) const STRANGER: u8 = 3;

/// A component of a few bytes: its preamble, and an empty custom section.
pub(crate) const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0\0\x02\x01x";

pub(crate) fn public(seed: u8) -> PublicKey {
    SecretKey::from_bytes(&[seed; 32]).public()
}

pub(crate) fn trusted(seed: u8, tenant: &str) -> TrustedKey {
    TrustedKey { key: public(seed), tenant: tenant.into(), not_after: None, revoked: false }
}

/// `acme`'s honest statement about the component.
pub(crate) fn statement() -> Statement {
    let claim = Claim {
        tenant: "acme".into(),
        name: "delays".into(),
        version: "1.2.0".into(),
        limits: DeclaredLimits::default(),
        issued_at: NOW - HOUR,
        expires_at: NOW + HOUR,
    };
    Statement::about(COMPONENT, claim).expect("it is sound")
}

/// `acme`'s honest envelope.
pub(crate) fn honest() -> Vec<u8> {
    sign(&SecretKey::from_bytes(&[ACME; 32]), &statement()).to_json()
}

/// The payload of the honest envelope.
pub(crate) fn payload() -> Vec<u8> {
    let envelope: Value = serde_json::from_slice(&honest()).expect("JSON");
    STANDARD.decode(envelope["payload"].as_str().expect("a text")).expect("base64")
}

/// A key's signature over these bytes as this type.
pub(crate) fn signature(seed: u8, payload_type: &str, payload: &[u8]) -> [u8; 64] {
    let mut message = Vec::new();
    message.extend(format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).bytes());
    message.extend(payload);
    SigningKey::from_bytes(&[seed; 32]).sign(&message).to_bytes()
}

/// An envelope with these signatures, as (key id, bytes).
pub(crate) fn envelope(payload_type: &str, payload: &[u8], signatures: &[(&str, &[u8])]) -> Vec<u8> {
    let signatures: Vec<Value> =
        signatures.iter().map(|(id, bytes)| json!({"keyid": id, "sig": STANDARD.encode(bytes)})).collect();
    json!({"payload": STANDARD.encode(payload), "payloadType": payload_type, "signatures": signatures})
        .to_string()
        .into_bytes()
}

/// This payload, well signed by a key.
pub(crate) fn signed_by(seed: u8, payload: &[u8]) -> Vec<u8> {
    envelope(PAYLOAD_TYPE, payload, &[(public(seed).id().as_str(), &signature(seed, PAYLOAD_TYPE, payload))])
}

/// As the registry asks: the tenant `acme`, which has one key; `globex`'s is known too.
pub(crate) fn ask(envelope: &[u8], component: &[u8]) -> Result<Verified, &'static str> {
    let keys = [trusted(ACME, "acme"), trusted(GLOBEX, "globex")];
    let expect = Expectation { tenant: "acme", name: Some("delays"), version: Some("1.2.0"), now: NOW, keys: &keys };
    verify(envelope, component, &expect).map_err(|refusal| {
        assert!(!refusal.place.is_empty() && !refusal.reason.is_empty() && !refusal.mend.is_empty(), "{refusal}");
        assert!(!refusal.to_string().contains(char::is_control), "{refusal:?}");
        refusal.rule
    })
}
