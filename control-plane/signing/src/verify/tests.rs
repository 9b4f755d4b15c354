//! Whose signature counts, in which order things are looked at, and versions that only rise.

use super::*;
use crate::envelope::sign;
use crate::key::SecretKey;
use crate::statement::{Claim, DeclaredLimits};

const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
const NOW: i64 = 1_767_225_600_000;
const HOUR: i64 = 3_600_000;

fn key(seed: u8) -> SecretKey {
    SecretKey::from_bytes(&[seed; 32])
}

fn trusted(seed: u8, tenant: &str) -> TrustedKey {
    TrustedKey { key: key(seed).public(), tenant: tenant.into(), not_after: None, revoked: false }
}

fn statement() -> Statement {
    let claim = Claim {
        tenant: "acme".into(),
        name: "delays".into(),
        version: "1.2.0".into(),
        limits: DeclaredLimits::default(),
        issued_at: NOW,
        expires_at: NOW + HOUR,
    };
    Statement::about(COMPONENT, claim).unwrap()
}

fn expect(keys: &[TrustedKey]) -> Expectation<'_> {
    Expectation { tenant: "acme", name: Some("delays"), version: Some("1.2.0"), now: NOW, keys }
}

fn rule(envelope: &Envelope, keys: &[TrustedKey]) -> &'static str {
    verify(&envelope.to_json(), COMPONENT, &expect(keys)).map_or_else(|refusal| refusal.rule, |_| "none")
}

#[test]
fn what_a_trusted_key_signed_is_verified() {
    let verified = verify(&sign(&key(1), &statement()).to_json(), COMPONENT, &expect(&[trusted(1, "acme")])).unwrap();
    assert_eq!(verified, Verified { statement: statement(), key_id: key(1).public().id().clone() });
}

#[test]
fn a_key_that_does_not_count_is_named_with_the_reason() {
    let envelope = sign(&key(1), &statement());
    assert_eq!(rule(&envelope, &[]), "key-not-trusted");
    assert_eq!(rule(&envelope, &[trusted(2, "acme")]), "key-not-trusted");
    assert_eq!(rule(&envelope, &[trusted(1, "globex")]), "key-of-another-tenant");
    assert_eq!(rule(&envelope, &[TrustedKey { revoked: true, ..trusted(1, "acme") }]), "key-revoked");
    assert_eq!(rule(&envelope, &[TrustedKey { not_after: Some(NOW), ..trusted(1, "acme") }]), "key-expired");
    assert_eq!(rule(&envelope, &[TrustedKey { not_after: Some(NOW + 1), ..trusted(1, "acme") }]), "none");
    // Registered by two tenants: it counts for its own.
    assert_eq!(rule(&envelope, &[trusted(1, "globex"), trusted(1, "acme")]), "none");
}

#[test]
fn of_two_signatures_one_by_a_key_that_counts_is_enough() {
    let mut envelope = sign(&key(1), &statement());
    envelope.countersign(&key(2));
    for keys in [
        vec![trusted(1, "acme")],
        vec![trusted(2, "acme")],
        vec![TrustedKey { revoked: true, ..trusted(1, "acme") }, trusted(2, "acme")],
        vec![trusted(1, "globex"), trusted(2, "acme")],
    ] {
        assert_eq!(rule(&envelope, &keys), "none", "{keys:?}");
    }
    assert_eq!(rule(&envelope, &[trusted(3, "acme")]), "key-not-trusted");
    assert_eq!(rule(&envelope, &[trusted(1, "globex"), trusted(2, "globex")]), "key-of-another-tenant");
}

#[test]
fn a_false_signature_of_a_known_key_spoils_the_envelope() {
    let mut envelope = sign(&key(1), &statement());
    envelope.countersign(&key(2));
    envelope.signatures[1].signature = envelope.signatures[0].signature;
    assert_eq!(rule(&envelope, &[trusted(1, "acme"), trusted(2, "acme")]), "signature-invalid");
    assert_eq!(rule(&envelope, &[trusted(1, "acme")]), "none", "a stranger's signature is not looked at");
}

#[test]
fn the_payload_is_not_read_before_its_signature_is_checked() {
    let mut envelope = sign(&key(1), &statement());
    envelope.payload = b"{ no JSON".to_vec();
    assert_eq!(rule(&envelope, &[trusted(1, "acme")]), "signature-invalid");
    assert_eq!(rule(&envelope, &[trusted(2, "acme")]), "key-not-trusted");
    envelope.signatures.clear();
    envelope.countersign(&key(1));
    assert_eq!(rule(&envelope, &[trusted(1, "acme")]), "statement-malformed");
}

#[test]
fn what_is_said_must_be_what_is_expected() {
    let refused = |change: &dyn Fn(&mut Statement)| {
        let mut statement = statement();
        change(&mut statement);
        rule(&sign(&key(1), &statement), &[trusted(1, "acme")])
    };
    assert_eq!(refused(&|_| ()), "none");
    assert_eq!(refused(&|it| it.tenant = "globex".into()), "tenant-mismatch");
    assert_eq!(refused(&|it| it.name = "Delays".into()), "name-mismatch");
    assert_eq!(refused(&|it| it.version = "1.1.9".into()), "version-mismatch");
    assert_eq!(refused(&|it| it.world = "tidegate:job@0.2".into()), "world-unsupported");
    assert_eq!(refused(&|it| it.size = 9), "size-mismatch");
    assert_eq!(refused(&|it| it.digest = "0".repeat(64)), "digest-mismatch");
    assert_eq!(refused(&|it| it.expires_at = it.issued_at), "lifetime-invalid");
    assert_eq!(refused(&|it| it.expires_at = i64::MAX), "lifetime-invalid");
    assert_eq!(refused(&|it| it.issued_at = NOW + CLOCK_SKEW_MS), "none");
    assert_eq!(refused(&|it| it.issued_at = NOW + CLOCK_SKEW_MS + 1), "not-yet-valid");
    assert_eq!(refused(&|it| (it.issued_at, it.expires_at) = (NOW - HOUR, NOW + 1)), "none");
    assert_eq!(refused(&|it| (it.issued_at, it.expires_at) = (NOW - HOUR, NOW)), "expired");
}

#[test]
fn a_refusal_says_the_times_as_people_write_them() {
    let old = Statement { issued_at: NOW - HOUR, expires_at: NOW - 1, ..statement() };
    let refusal = verify(&sign(&key(1), &old).to_json(), COMPONENT, &expect(&[trusted(1, "acme")])).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "expired: statement.predicate.expires_at: it counted until 2025-12-31T23:59:59Z, and it is 2026-01-01T00:00:00Z; \
         sign the component again"
    );
}

#[test]
fn where_keys_alone_decide_the_tenant_is_not_asked_for() {
    let envelope = sign(&key(1), &statement()).to_json();
    let keys = [key(1).public()];
    let expect = AnyTenant { name: Some("delays"), version: None, now: NOW, keys: &keys };
    assert_eq!(verify_any_tenant(&envelope, COMPONENT, &expect).unwrap().statement.tenant, "acme");
    let refused = |expect: &AnyTenant<'_>| verify_any_tenant(&envelope, COMPONENT, expect).unwrap_err().rule;
    assert_eq!(refused(&AnyTenant { name: Some("other"), ..expect }), "name-mismatch");
    assert_eq!(refused(&AnyTenant { keys: &[], ..expect }), "key-not-trusted");
    assert_eq!(refused(&AnyTenant { now: NOW + HOUR, ..expect }), "expired");
}

#[test]
fn a_version_must_be_higher_than_all_before_it() {
    let version = |text: &str| text.parse::<Version>().unwrap();
    assert_eq!(require_newer(&version("0.0.1"), None), Ok(()));
    assert_eq!(require_newer(&version("1.10.0"), Some(&version("1.9.0"))), Ok(()));
    for offered in ["1.9.0", "1.8.99", "0.10.0"] {
        let refusal = require_newer(&version(offered), Some(&version("1.9.0"))).unwrap_err();
        assert_eq!(refusal.rule, "version-not-newer", "{offered}");
    }
}
