//! The encoding that is signed, the envelope's bytes, and envelopes that are none.

use serde_json::{Value, json};

use super::*;
use crate::statement::{Claim, DeclaredLimits};

const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

fn envelope() -> Envelope {
    let claim = Claim {
        tenant: "acme".into(),
        name: "delays".into(),
        version: "1.2.0".into(),
        limits: DeclaredLimits { call_fuel: Some(80_000_000), memory_bytes: None },
        issued_at: 1_767_225_600_000,
        expires_at: 1_775_001_600_000,
    };
    sign(&SecretKey::from_bytes(&[7; 32]), &Statement::about(COMPONENT, claim).unwrap())
}

fn refused(document: &Value) -> Refusal {
    Envelope::parse(document.to_string().as_bytes()).unwrap_err()
}

#[test]
fn the_encoding_that_is_signed_is_that_of_the_dsse_protocol() {
    // The example of the protocol's own text.
    let encoded = pre_authentication_encoding("http://example.com/HelloWorld", b"hello world");
    assert_eq!(encoded, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
}

#[test]
fn an_envelope_never_changes_a_byte() {
    // A change here makes every signature that is out there invalid. The file was made by another implementation (OpenSSL).
    let expected = include_str!("golden.dsse.json");
    assert_eq!(String::from_utf8(envelope().to_json()).unwrap(), expected);
    assert_eq!(envelope(), Envelope::parse(expected.as_bytes()).unwrap());
}

#[test]
fn an_envelope_comes_back_from_its_json() {
    let mut envelope = envelope();
    envelope.countersign(&SecretKey::from_bytes(&[8; 32]));
    assert_eq!(Envelope::parse(&envelope.to_json()).unwrap(), envelope);
}

#[test]
fn an_envelope_of_more_than_64_kib_is_not_read() {
    let mut bytes = envelope().to_json();
    bytes.resize(MAX_ENVELOPE_BYTES, b' ');
    assert!(Envelope::parse(&bytes).is_ok(), "white space at the end is no content");
    bytes.push(b' ');
    assert_eq!(Envelope::parse(&bytes).unwrap_err().rule, "envelope-too-large");
}

#[test]
fn base64_has_one_form() {
    let good: Value = serde_json::from_slice(&envelope().to_json()).unwrap();
    let encoded = good["signatures"][0]["sig"].as_str().unwrap().to_owned();
    assert!(encoded.ends_with("==") && encoded.contains(['+', '/']), "it has all that is changed below: {encoded}");
    let last = encoded.len() - 3;
    let mut trailing_bits = encoded.clone().into_bytes();
    trailing_bits[last] += 1;
    for bad in [
        encoded.trim_end_matches('=').to_owned(),
        encoded.replace('+', "-").replace('/', "_"),
        String::from_utf8(trailing_bits).unwrap(),
        format!("{encoded}="),
        format!("{} {}", &encoded[..8], &encoded[8..]),
        format!("{encoded}\n"),
    ] {
        let mut document = good.clone();
        document["signatures"][0]["sig"] = json!(bad);
        let refusal = refused(&document);
        assert_eq!(
            (refusal.rule, refusal.place.as_str()),
            ("base64-not-canonical", "envelope.signatures[0].sig"),
            "{bad:?}"
        );
    }
    let mut document = good;
    document["payload"] = json!("e30");
    assert_eq!(refused(&document).place, "envelope.payload");
}

#[test]
fn an_envelope_of_another_shape_is_refused_at_its_place() {
    let good: Value = serde_json::from_slice(&envelope().to_json()).unwrap();
    let signature = good["signatures"][0].clone();
    let nine: Vec<Value> = vec![signature; 9];
    for (pointer, value, rule, place) in [
        ("/payloadType", json!("application/json"), "payload-type", "envelope.payloadType"),
        ("/payloadType", json!("Application/vnd.in-toto+json"), "payload-type", "envelope.payloadType"),
        ("/payloadType", json!(null), "envelope-malformed", "envelope.payloadType"),
        ("/payload", json!({}), "envelope-malformed", "envelope.payload"),
        ("/signatures", json!([]), "no-signature", "envelope.signatures"),
        ("/signatures", json!({}), "envelope-malformed", "envelope.signatures"),
        ("/signatures", json!(["x"]), "envelope-malformed", "envelope.signatures[0]"),
        ("/signatures", json!(nine), "too-many-signatures", "envelope.signatures"),
        ("/signatures/0", json!({"sig": "AAAA"}), "key-id-missing", "envelope.signatures[0].keyid"),
        ("/signatures/0/keyid", json!(""), "key-id-missing", "envelope.signatures[0].keyid"),
        ("/signatures/0/keyid", json!(null), "envelope-malformed", "envelope.signatures[0].keyid"),
        ("/signatures/0/sig", json!("AAAA"), "signature-malformed", "envelope.signatures[0].sig"),
        ("/signatures/0/sig", json!(""), "signature-malformed", "envelope.signatures[0].sig"),
    ] {
        let mut document = good.clone();
        *document.pointer_mut(pointer).unwrap() = value;
        let refusal = refused(&document);
        assert_eq!((refusal.rule, refusal.place.as_str()), (rule, place), "{document}");
    }
}

#[test]
fn fields_that_choose_an_algorithm_are_refused() {
    let good: Value = serde_json::from_slice(&envelope().to_json()).unwrap();
    for (parent, field) in [("", "alg"), ("", "header"), ("/signatures/0", "alg"), ("/signatures/0", "cert")] {
        let mut document = good.clone();
        document.pointer_mut(parent).unwrap()[field] = json!("none");
        assert_eq!(refused(&document).rule, "unknown-field", "{document}");
    }
}
