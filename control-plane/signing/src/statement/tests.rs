//! The statement's bytes, and statements that are none.

use serde_json::{Value, json};

use super::*;

const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

fn claim() -> Claim {
    Claim {
        tenant: "acme".into(),
        name: "delays".into(),
        version: "1.2.0".into(),
        limits: DeclaredLimits { call_fuel: Some(80_000_000), memory_bytes: Some(64 << 20) },
        issued_at: 1_767_225_600_000,
        expires_at: 1_767_225_600_000 + 90 * DAY_MS,
    }
}

fn document() -> Value {
    serde_json::from_slice(&Statement::about(COMPONENT, claim()).unwrap().to_bytes()).unwrap()
}

fn parsed(document: &Value) -> Result<Statement, Refusal> {
    Statement::parse(document.to_string().as_bytes())
}

#[test]
fn a_statement_has_these_bytes() {
    let statement = Statement::about(COMPONENT, claim()).unwrap();
    let expected = concat!(
        r#"{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"delays","digest":{"sha256":"#,
        r#""24eaf3439a60c96764c4f2c92a0a81b52bd4fe5d5b91f090184a0f6486b1bf29"}}],"#,
        r#""predicateType":"https://tidegate.example/component/v1","predicate":{"tenant":"acme","version":"1.2.0","size":8,"#,
        r#""world":"tidegate:job@0.1","limits":{"call_fuel":80000000,"memory_bytes":67108864},"#,
        r#""issued_at":1767225600000,"expires_at":1775001600000}}"#,
    );
    assert_eq!(String::from_utf8(statement.to_bytes()).unwrap(), expected);
    assert_eq!(Statement::parse(expected.as_bytes()), Ok(statement));
}

#[test]
fn limits_may_be_left_out() {
    let statement =
        Statement::about(COMPONENT, Claim { limits: DeclaredLimits::default(), ..claim() }).expect("it is sound");
    assert!(String::from_utf8(statement.to_bytes()).unwrap().contains(r#""limits":{}"#));
    assert_eq!(Statement::parse(&statement.to_bytes()), Ok(statement));
}

#[test]
fn a_statement_of_another_shape_is_refused_at_its_place() {
    for (pointer, value, rule, place) in [
        ("/_type", json!("https://in-toto.io/Statement/v0.1"), "statement-type", "statement._type"),
        ("/predicateType", json!("https://slsa.dev/provenance/v1"), "predicate-type", "statement.predicateType"),
        ("/subject", json!([]), "statement-malformed", "statement.subject"),
        ("/subject/0/digest", json!({"sha1": "x"}), "statement-malformed", "statement.subject[0].digest.sha256"),
        ("/subject/0/digest/sha256", json!("AB"), "statement-malformed", "statement.subject[0].digest.sha256"),
        ("/subject/0/name", json!("../x"), "statement-malformed", "statement.subject[0].name"),
        ("/subject/0/name", json!("a/b"), "statement-malformed", "statement.subject[0].name"),
        ("/predicate/tenant", json!("Acme"), "statement-malformed", "statement.predicate.tenant"),
        ("/predicate/tenant", json!("x".repeat(64)), "statement-malformed", "statement.predicate.tenant"),
        ("/predicate/version", json!("1.02.0"), "statement-malformed", "statement.predicate.version"),
        ("/predicate/size", json!(-1), "statement-malformed", "statement.predicate.size"),
        ("/predicate/size", json!(8.0), "statement-malformed", "statement.predicate.size"),
        ("/predicate/limits", json!(null), "statement-malformed", "statement.predicate.limits"),
        ("/predicate/limits/call_fuel", json!(0), "statement-malformed", "statement.predicate.limits.call_fuel"),
        ("/predicate/limits/call_fuel", json!("9"), "statement-malformed", "statement.predicate.limits.call_fuel"),
        ("/predicate/expires_at", json!("never"), "statement-malformed", "statement.predicate.expires_at"),
        ("/predicate/issued_at", json!(-1), "statement-malformed", "statement.predicate.issued_at"),
        ("/predicate", json!([]), "statement-malformed", "statement.predicate"),
    ] {
        let mut document = document();
        *document.pointer_mut(pointer).unwrap() = value;
        let refusal = parsed(&document).unwrap_err();
        assert_eq!((refusal.rule, refusal.place.as_str()), (rule, place), "{document}");
    }
}

#[test]
fn two_subjects_are_refused() {
    let mut document = document();
    let subject = document["subject"][0].clone();
    document["subject"].as_array_mut().unwrap().push(subject);
    assert_eq!(parsed(&document).unwrap_err().place, "statement.subject");
}

#[test]
fn what_is_missing_is_named() {
    for (parent, field) in [
        ("", "_type"),
        ("", "subject"),
        ("", "predicateType"),
        ("", "predicate"),
        ("/predicate", "tenant"),
        ("/predicate", "expires_at"),
        ("/predicate", "world"),
        ("/subject/0", "digest"),
    ] {
        let mut document = document();
        document.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(field);
        let refusal = parsed(&document).unwrap_err();
        assert_eq!(refusal.rule, "statement-malformed");
        assert!(refusal.place.ends_with(&format!(".{field}")), "{refusal}");
    }
}

#[test]
fn an_unknown_field_is_refused_at_every_level() {
    for (parent, place) in [
        ("", "statement"),
        ("/subject/0", "statement.subject[0]"),
        ("/subject/0/digest", "statement.subject[0].digest"),
        ("/predicate", "statement.predicate"),
        ("/predicate/limits", "statement.predicate.limits"),
    ] {
        let mut document = document();
        document.pointer_mut(parent).unwrap()["sha512"] = json!("x");
        let refusal = parsed(&document).unwrap_err();
        assert_eq!((refusal.rule, refusal.place.as_str()), ("unknown-field", place));
    }
}

#[test]
fn nothing_is_said_of_what_is_no_component() {
    for (bytes, found) in [
        (b"\0asm\x01\0\0\0".as_slice(), "core module"),
        (b"\x7fELF\x02\x01\x01", "precompiled image"),
        (b"  (component)", "WebAssembly text"),
        (b"", "no WebAssembly component"),
        (b"\0asm\x0d\0\x01", "no WebAssembly component"),
        (b"\0asm\x0c\0\x01\0", "no WebAssembly component"),
    ] {
        let refusal = Statement::about(bytes, claim()).unwrap_err();
        assert_eq!(refusal.rule, "not-a-component");
        assert!(refusal.reason.contains(found), "{refusal}");
    }
}

#[test]
fn nothing_is_said_by_a_wrong_name_or_for_too_long() {
    let rule = |claim| Statement::about(COMPONENT, claim).unwrap_err().rule;
    assert_eq!(rule(Claim { tenant: String::new(), ..claim() }), "statement-malformed");
    assert_eq!(rule(Claim { name: "é".into(), ..claim() }), "statement-malformed");
    assert_eq!(rule(Claim { version: "1".into(), ..claim() }), "statement-malformed");
    assert_eq!(rule(Claim { expires_at: claim().issued_at, ..claim() }), "lifetime-invalid");
    assert_eq!(rule(Claim { expires_at: claim().issued_at + 731 * DAY_MS, ..claim() }), "lifetime-invalid");
    assert!(Statement::about(COMPONENT, Claim { expires_at: claim().issued_at + 730 * DAY_MS, ..claim() }).is_ok());
}
