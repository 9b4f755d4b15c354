//! The known ways to have a verifier accept what nobody signed, each tried here and each refused by its rule.

mod forge;

use serde_json::{Value, json};
use tidegate_signing::{Expectation, PublicKey, Statement, TrustedKey, verify};

use forge::{
    ACME, COMPONENT, GLOBEX, HOUR, NOW, PAYLOAD_TYPE, STRANGER, ask, envelope, honest, payload, public, signature,
    signed_by, statement, trusted,
};

/// The order of the curve's group, little endian.
const GROUP_ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("JSON is text")
}

/// The honest payload with a change, signed by the tenant's own key.
fn restated(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut document: Value = serde_json::from_slice(&payload()).expect("JSON");
    change(&mut document);
    signed_by(ACME, document.to_string().as_bytes())
}

#[test]
fn the_honest_envelope_is_accepted() {
    assert_eq!(ask(&honest(), COMPONENT).unwrap().statement, statement());
    assert!(ask(&signed_by(ACME, &payload()), COMPONENT).is_ok(), "the forge writes what is accepted, if it is honest");
}

#[test]
fn truncated_and_extended_bytes_are_refused() {
    for length in 0..COMPONENT.len() {
        assert_eq!(ask(&honest(), &COMPONENT[..length]), Err("digest-mismatch"), "{length} bytes");
    }
    for tail in [b"\0".as_slice(), b"\0\x02\x01x", b"\n"] {
        assert_eq!(ask(&honest(), &[COMPONENT, tail].concat()), Err("digest-mismatch"), "{tail:?}");
    }
}

#[test]
fn every_changed_bit_of_the_component_is_refused() {
    for at in 0..COMPONENT.len() {
        for bit in 0..8 {
            let mut changed = COMPONENT.to_vec();
            changed[at] ^= 1 << bit;
            assert_eq!(ask(&honest(), &changed), Err("digest-mismatch"), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn every_changed_bit_of_the_envelope_is_refused() {
    let envelope = honest();
    let end = envelope.len() - 1;
    assert_eq!(envelope[end], b'\n', "the last byte is white space, which is no content");
    for at in 0..end {
        for bit in 0..8 {
            let mut changed = envelope.clone();
            changed[at] ^= 1 << bit;
            assert!(ask(&changed, COMPONENT).is_err(), "bit {bit} of byte {at}: {}", String::from_utf8_lossy(&changed));
        }
    }
}

#[test]
fn every_cut_of_the_envelope_is_refused() {
    let envelope = honest();
    for end in 0..envelope.len() - 1 {
        assert_eq!(ask(&envelope[..end], COMPONENT), Err("envelope-malformed"), "{end} bytes");
    }
    assert_eq!(ask(&[envelope.clone(), envelope].concat(), COMPONENT), Err("envelope-malformed"));
}

#[test]
fn a_module_relabelled_as_a_component_is_refused() {
    let module = [b"\0asm\x01\0\0\0", &COMPONENT[8..]].concat();
    // The label is changed after signing, one way and the other.
    let for_module = restated(|document| document["subject"][0]["digest"]["sha256"] = sha256(&module));
    assert_eq!(ask(&for_module, COMPONENT), Err("digest-mismatch"));
    assert_eq!(ask(&honest(), &module), Err("digest-mismatch"));
    // The module itself is signed as a component.
    assert_eq!(ask(&for_module, &module), Err("not-a-component"));
}

#[test]
fn a_signature_for_other_bytes_is_refused() {
    let other = [COMPONENT, b"\0\x02\x01y"].concat();
    let for_other = restated(|document| {
        document["subject"][0]["digest"]["sha256"] = sha256(&other);
        document["predicate"]["size"] = json!(other.len());
    });
    assert!(ask(&for_other, &other).is_ok());
    assert_eq!(ask(&for_other, COMPONENT), Err("digest-mismatch"));
    assert_eq!(ask(&honest(), &other), Err("digest-mismatch"));
    // Both signatures in one envelope: the second is over another payload.
    let [first, second] = [payload(), text_of(&payload()).replace("delays", "others").into_bytes()]
        .map(|payload| signature(ACME, PAYLOAD_TYPE, &payload));
    let id = public(ACME).id().to_string();
    for (one, two) in [(first, second), (second, first)] {
        let both = envelope(PAYLOAD_TYPE, &payload(), &[(&id, &one), (&id, &two)]);
        assert_eq!(ask(&both, COMPONENT), Err("signature-invalid"));
    }
}

#[test]
fn another_tenants_key_is_refused() {
    assert_eq!(ask(&signed_by(GLOBEX, &payload()), COMPONENT), Err("key-of-another-tenant"));
    assert_eq!(ask(&signed_by(STRANGER, &payload()), COMPONENT), Err("key-not-trusted"));
    // The tenant's own key signs for another tenant.
    assert_eq!(ask(&restated(|it| it["predicate"]["tenant"] = json!("globex")), COMPONENT), Err("tenant-mismatch"));
}

#[test]
fn another_keys_signature_under_this_keys_name_is_refused() {
    for forger in [GLOBEX, STRANGER] {
        let forged = signature(forger, PAYLOAD_TYPE, &payload());
        let envelope = envelope(PAYLOAD_TYPE, &payload(), &[(public(ACME).id().as_str(), &forged)]);
        assert_eq!(ask(&envelope, COMPONENT), Err("signature-invalid"));
    }
}

#[test]
fn the_name_of_a_key_must_be_whole() {
    let good = signature(ACME, PAYLOAD_TYPE, &payload());
    let id = public(ACME).id().to_string();
    let upper = id.to_uppercase();
    for name in ["ed25519", &id[..id.len() - 1], &id["ed25519:".len()..], &upper, &format!("{id} "), "*"] {
        assert_eq!(ask(&envelope(PAYLOAD_TYPE, &payload(), &[(name, &good)]), COMPONENT), Err("key-not-trusted"));
    }
    let without = text_of(&honest()).replace(&format!(r#""keyid":"{id}","#), "");
    assert_eq!(ask(without.as_bytes(), COMPONENT), Err("key-id-missing"));
}

#[test]
fn a_stranger_beside_a_trusted_key_changes_nothing() {
    let [ours, strange] = [ACME, STRANGER].map(|key| signature(key, PAYLOAD_TYPE, &payload()));
    let [our_id, strange_id] = [ACME, STRANGER].map(|key| public(key).id().to_string());
    for list in [[(our_id.as_str(), ours), (&strange_id, strange)], [(&strange_id, [0; 64]), (&our_id, ours)]] {
        let list = list.map(|(id, bytes)| (id, bytes.to_vec()));
        let list: Vec<(&str, &[u8])> = list.iter().map(|(id, bytes)| (*id, bytes.as_slice())).collect();
        assert!(ask(&envelope(PAYLOAD_TYPE, &payload(), &list), COMPONENT).is_ok());
    }
    let false_one = envelope(PAYLOAD_TYPE, &payload(), &[(&strange_id, &strange), (&our_id, &strange)]);
    assert_eq!(ask(&false_one, COMPONENT), Err("signature-invalid"));
}

#[test]
fn an_expired_statement_and_an_older_version_are_refused() {
    let [old, future] = [-2, 2].map(|hours| {
        let shift = hours * HOUR;
        restated(|it| {
            it["predicate"]["issued_at"] = json!(statement().issued_at + shift);
            it["predicate"]["expires_at"] = json!(statement().expires_at + shift);
        })
    });
    assert_eq!(ask(&old, COMPONENT), Err("expired"));
    assert_eq!(ask(&future, COMPONENT), Err("not-yet-valid"));
    assert_eq!(ask(&restated(|it| it["predicate"]["version"] = json!("1.1.0")), COMPONENT), Err("version-mismatch"));
    let endless = restated(|it| it["predicate"]["expires_at"] = json!(i64::MAX));
    assert_eq!(ask(&endless, COMPONENT), Err("lifetime-invalid"));
    let without = restated(|it| drop(it["predicate"].as_object_mut().expect("an object").remove("expires_at")));
    assert_eq!(ask(&without, COMPONENT), Err("statement-malformed"));
}

#[test]
fn a_revoked_and_an_expired_key_are_refused() {
    let ask = |change: &dyn Fn(&mut TrustedKey)| {
        let mut keys = [trusted(ACME, "acme")];
        change(&mut keys[0]);
        let expect = Expectation { tenant: "acme", name: None, version: None, now: NOW, keys: &keys };
        verify(&honest(), COMPONENT, &expect).map_err(|refusal| refusal.rule)
    };
    assert!(ask(&|_| ()).is_ok());
    assert_eq!(ask(&|key| key.revoked = true), Err("key-revoked"));
    assert_eq!(ask(&|key| key.not_after = Some(NOW - 1)), Err("key-expired"));
}

#[test]
fn an_empty_list_of_signatures_is_refused() {
    assert_eq!(ask(&envelope(PAYLOAD_TYPE, &payload(), &[]), COMPONENT), Err("no-signature"));
    let without = json!({"payload": "e30=", "payloadType": PAYLOAD_TYPE}).to_string();
    assert_eq!(ask(without.as_bytes(), COMPONENT), Err("envelope-malformed"));
}

#[test]
fn the_envelope_chooses_no_algorithm() {
    let honest = text_of(&honest());
    for (from, to) in [
        (r#"{"payload""#, r#"{"alg":"none","payload""#),
        (r#"{"keyid""#, r#"{"alg":"none","keyid""#),
        (r#"{"keyid""#, r#"{"sig-alg":"HS256","keyid""#),
        (r#"{"keyid""#, r#"{"publicKey":"AAAA","keyid""#),
    ] {
        let changed = honest.replacen(from, to, 1);
        assert_ne!(changed, honest);
        assert_eq!(ask(changed.as_bytes(), COMPONENT), Err("unknown-field"), "{to}");
    }
}

#[test]
fn a_field_twice_is_refused_in_envelope_and_payload() {
    let honest = text_of(&honest());
    for (from, to) in [
        (r#"{"payload""#, r#"{"payload":"e30=","payload""#),
        (r#"{"payload""#, r#"{"payl\u006fad":"e30=","payload""#),
        (r#""signatures""#, r#""signatures":[],"signatures""#),
        (r#"{"keyid""#, r#"{"keyid":"x","keyid""#),
    ] {
        let changed = honest.replacen(from, to, 1);
        assert_ne!(changed, honest);
        assert_eq!(ask(changed.as_bytes(), COMPONENT), Err("duplicate-field"), "{to}");
    }
    let payload = text_of(&payload());
    for (from, to) in [
        (r#""tenant":"acme""#, r#""tenant":"globex","tenant":"acme""#),
        (r#""tenant":"acme""#, r#""tenant":"acme","tenant":"globex""#),
        (r#""sha256":"#, r#""sha256":"x","sha256":"#),
    ] {
        let changed = payload.replacen(from, to, 1);
        assert_ne!(changed, payload);
        assert_eq!(ask(&signed_by(ACME, changed.as_bytes()), COMPONENT), Err("duplicate-field"), "{to}");
    }
}

#[test]
fn another_type_of_payload_is_refused() {
    for other in ["application/json", "application/vnd.in-toto+json;v=1", ""] {
        // Signed as what it says it is.
        let signature = signature(ACME, other, &payload());
        let envelope = envelope(other, &payload(), &[(public(ACME).id().as_str(), &signature)]);
        assert_eq!(ask(&envelope, COMPONENT), Err("payload-type"), "{other}");
    }
    // Signed as something else, and relabelled.
    let signature = signature(ACME, "application/json", &payload());
    let relabelled = envelope(PAYLOAD_TYPE, &payload(), &[(public(ACME).id().as_str(), &signature)]);
    assert_eq!(ask(&relabelled, COMPONENT), Err("signature-invalid"));
    // A statement of another kind, by the tenant's own key.
    let other = restated(|it| it["predicateType"] = json!("https://slsa.dev/provenance/v1"));
    assert_eq!(ask(&other, COMPONENT), Err("predicate-type"));
}

#[test]
fn a_signature_over_the_bare_payload_is_refused() {
    use ed25519_dalek::{Signer, SigningKey};
    let bare = SigningKey::from_bytes(&[ACME; 32]).sign(&payload()).to_bytes();
    let envelope = envelope(PAYLOAD_TYPE, &payload(), &[(public(ACME).id().as_str(), &bare)]);
    assert_eq!(ask(&envelope, COMPONENT), Err("signature-invalid"));
}

#[test]
fn a_malleated_signature_is_refused() {
    let mut malleated = signature(ACME, PAYLOAD_TYPE, &payload());
    // s + l: the same point, another text.
    let mut carry = 0;
    for (byte, order) in malleated[32..].iter_mut().zip(GROUP_ORDER) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        let [low, high] = sum.to_le_bytes();
        (*byte, carry) = (low, u16::from(high));
    }
    assert_eq!(carry, 0, "s + l still has 32 bytes");
    let envelope = envelope(PAYLOAD_TYPE, &payload(), &[(public(ACME).id().as_str(), &malleated)]);
    assert_eq!(ask(&envelope, COMPONENT), Err("signature-invalid"));
}

#[test]
fn a_key_of_low_order_and_a_point_of_low_order_are_refused() {
    // Under the neutral point as the key, R = neutral and s = 0 would be a signature of every message.
    let mut neutral = [0; 32];
    neutral[0] = 1;
    assert!(PublicKey::from_bytes(&neutral).is_err());
    let text = "tidegate-public-key:v1:AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    assert!(text.parse::<PublicKey>().is_err());
    let mut signature = [0; 64];
    signature[0] = 1;
    let envelope = envelope(PAYLOAD_TYPE, &payload(), &[(public(ACME).id().as_str(), &signature)]);
    assert_eq!(ask(&envelope, COMPONENT), Err("signature-invalid"));
}

#[test]
fn other_contracts_and_names_are_refused() {
    for (pointer, value, rule) in [
        ("/predicate/world", json!("tidegate:job@9.0"), "world-unsupported"),
        ("/predicate/world", json!("wasi:cli@0.2"), "world-unsupported"),
        ("/subject/0/name", json!("other"), "name-mismatch"),
        ("/predicate/size", json!(COMPONENT.len() + 1), "size-mismatch"),
        ("/_type", json!("https://in-toto.io/Link/v1"), "statement-type"),
    ] {
        let changed = restated(|document| *document.pointer_mut(pointer).expect("it is there") = value);
        assert_eq!(ask(&changed, COMPONENT), Err(rule), "{pointer}");
    }
}

fn sha256(bytes: &[u8]) -> Value {
    let digest = tidegate_signing::digest(bytes);
    assert_ne!(digest, Statement { ..statement() }.digest);
    json!(digest)
}
