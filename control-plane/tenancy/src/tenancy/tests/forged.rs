//! Tokens that must not count, each made by hand, byte for byte. Beside each stands one that counts, so that no test passes
//! because the forging is wrong.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer, SigningKey};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::*;
use crate::{AuthError, MAX_TOKEN_BYTES, MAX_TTL};

/// What a forger starts with: a token that counts, taken apart.
struct Forge {
    world: World,
    header: Value,
    claims: Value,
    secret: SigningKey,
}

impl Forge {
    async fn new() -> Self {
        let world = World::new().await;
        let issued = world.token("acme", Role::Developer).await;
        let mut parts = issued.token.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).expect("base64"));
        let mut json = || serde_json::from_slice(&parts.next().expect("a part")).expect("JSON");
        let (header, claims) = (json(), json());
        let seed = world.tenancy.keys.signing().1.as_bytes().try_into().expect("32 bytes");
        let secret = SigningKey::from_bytes(seed);
        let forge = Self { world, header, claims, secret };
        assert!(forge.try_signed(&forge.header, &forge.claims).await.is_ok(), "the forger signs well");
        forge
    }

    async fn try_token(&self, token: &str) -> Result<Caller, AuthError> {
        self.world.tenancy.authenticate(token).await
    }

    /// What a token with the platform's own signature is answered.
    async fn try_signed(&self, header: &Value, claims: &Value) -> Result<Caller, AuthError> {
        self.try_token(&token(header, claims, |message| self.secret.sign(message).to_bytes().to_vec())).await
    }

    async fn try_claims(&self, changes: Value) -> Result<Caller, AuthError> {
        self.try_signed(&self.header, &changed(&self.claims, changes)).await
    }

    async fn try_header(&self, changes: Value) -> Result<Caller, AuthError> {
        self.try_signed(&changed(&self.header, changes), &self.claims).await
    }
}

fn token(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(header), part(claims));
    let signature = URL_SAFE_NO_PAD.encode(sign(message.as_bytes()));
    format!("{message}.{signature}")
}

/// An object with some fields set, or left out where null.
fn changed(object: &Value, changes: Value) -> Value {
    let mut object = object.as_object().expect("an object").clone();
    for (name, value) in changes.as_object().expect("an object") {
        if value.is_null() {
            object.remove(name);
        } else {
            object.insert(name.clone(), value.clone());
        }
    }
    Value::Object(object)
}

fn hmac(secret: &[u8], message: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("any length");
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

#[tokio::test]
async fn no_algorithm_at_all() {
    let forge = Forge::new().await;
    for none in ["none", "None", "NONE", ""] {
        let header = changed(&forge.header, json!({"alg": none}));
        for signature in [vec![], vec![0; 64]] {
            let token = token(&header, &forge.claims, |_| signature.clone());
            assert_eq!(forge.try_token(&token).await, Err(AuthError::Malformed), "{none:?}");
            assert_eq!(forge.try_token(token.trim_end_matches('.')).await, Err(AuthError::Malformed));
        }
    }
}

#[tokio::test]
async fn the_public_key_as_a_shared_secret() {
    let forge = Forge::new().await;
    let header = changed(&forge.header, json!({"alg": "HS256"}));
    let public = forge.secret.verifying_key().to_bytes();
    let hex: String = public.iter().map(|byte| format!("{byte:02x}")).collect();
    let base64 = URL_SAFE_NO_PAD.encode(public);
    for secret in [&public[..], hex.as_bytes(), base64.as_bytes()] {
        let confused = token(&header, &forge.claims, |message| hmac(secret, message));
        assert_eq!(forge.try_token(&confused).await, Err(AuthError::Malformed));
        // And under the right header.
        let plain = token(&forge.header, &forge.claims, |message| hmac(secret, message));
        assert_eq!(forge.try_token(&plain).await, Err(AuthError::BadSignature));
    }
}

#[tokio::test]
async fn another_key_under_a_known_id() {
    let forge = Forge::new().await;
    let other = SigningKey::from_bytes(&[9; 32]);
    let forged = token(&forge.header, &forge.claims, |message| other.sign(message).to_bytes().to_vec());
    assert_eq!(forge.try_token(&forged).await, Err(AuthError::BadSignature));
}

#[tokio::test]
async fn an_unknown_key() {
    let forge = Forge::new().await;
    assert_eq!(forge.try_header(json!({"kid": "token:00"})).await, Err(AuthError::UnknownKey));
    assert_eq!(forge.try_header(json!({"kid": "../token-key-000001.key"})).await, Err(AuthError::UnknownKey));
    assert_eq!(forge.try_header(json!({"kid": ""})).await, Err(AuthError::UnknownKey));
    assert_eq!(forge.try_header(json!({"kid": null})).await, Err(AuthError::Malformed));
    assert_eq!(forge.try_header(json!({"kid": 1})).await, Err(AuthError::Malformed));
}

#[tokio::test]
async fn a_header_that_brings_its_own_key_or_asks_for_more() {
    let forge = Forge::new().await;
    let x = URL_SAFE_NO_PAD.encode(forge.secret.verifying_key().to_bytes());
    for more in [
        json!({"jwk": {"kty": "OKP", "crv": "Ed25519", "x": x}}),
        json!({"jku": "https://evil.example/keys"}),
        json!({"x5u": "https://evil.example/chain"}),
        json!({"x5c": ["AAAA"]}),
        json!({"crit": ["b64"], "b64": false}),
        json!({"crit": ["exp"]}),
        json!({"zip": "DEF"}),
        json!({"cty": "JWT"}),
        json!({"anything": 1}),
        json!({"typ": "JWT"}),
        json!({"typ": null}),
        json!({"alg": "ES256"}),
        json!({"alg": null}),
    ] {
        assert_eq!(forge.try_header(more.clone()).await, Err(AuthError::Malformed), "{more}");
    }
}

#[tokio::test]
async fn times_that_are_over_or_have_not_come() {
    let forge = Forge::new().await;
    let expires = forge.claims["exp"].as_i64().expect("seconds");
    let begins = forge.claims["nbf"].as_i64().expect("seconds");
    let at = async |seconds: i64| {
        forge.world.set_clock(seconds * 1_000);
        forge.try_claims(json!({})).await
    };
    assert!(at(expires - 1).await.is_ok());
    assert!(at(expires + 4).await.is_ok(), "within the leeway");
    assert_eq!(at(expires + 5).await, Err(AuthError::Expired));
    assert_eq!(at(i64::MAX / 1_000).await, Err(AuthError::Expired));
    assert!(at(begins - 5).await.is_ok(), "within the leeway");
    assert_eq!(at(begins - 6).await, Err(AuthError::NotYetValid));
    assert_eq!(at(0).await, Err(AuthError::NotYetValid));
}

#[tokio::test]
async fn times_that_make_no_sense() {
    let forge = Forge::new().await;
    let now = START / 1_000;
    let longest = i64::try_from(MAX_TTL.as_secs()).expect("small");
    let exp = Err(AuthError::BadClaim { claim: "exp" });
    assert_eq!(forge.try_claims(json!({"exp": now + longest + 1})).await, exp, "longer than any token lives");
    assert_eq!(forge.try_claims(json!({"exp": i64::MAX, "iat": i64::MIN})).await, exp);
    assert_eq!(forge.try_claims(json!({"exp": now, "nbf": now})).await, exp, "it never counted");
    assert_eq!(forge.try_claims(json!({"iat": now + 60})).await, Err(AuthError::NotYetValid));
    assert_eq!(forge.try_claims(json!({"nbf": now + 60})).await, Err(AuthError::NotYetValid));
    for name in ["exp", "nbf", "iat"] {
        for wrong in [json!(null), json!("1767225600"), json!(1.5e9), json!(u64::MAX), json!({})] {
            let answer = forge.try_claims(json!({ name: wrong })).await;
            assert!(matches!(answer, Err(AuthError::BadClaim { .. })), "{name} {wrong}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn an_audience_or_issuer_that_is_not_ours() {
    let forge = Forge::new().await;
    for name in ["aud", "iss", "sub", "jti", "role"] {
        for wrong in [json!(null), json!(1), json!(["tidegate"]), json!({})] {
            let answer = forge.try_claims(json!({ name: wrong })).await;
            assert!(matches!(answer, Err(AuthError::BadClaim { .. })), "{name} {wrong}: {answer:?}");
        }
    }
    for wrong in ["", "tidegate2", "Tidegate", "tidegate/control-plane "] {
        let aud = forge.try_claims(json!({"aud": wrong})).await;
        assert_eq!(aud, Err(AuthError::BadClaim { claim: "aud" }), "{wrong:?}");
        let iss = forge.try_claims(json!({"iss": wrong})).await;
        assert_eq!(iss, Err(AuthError::BadClaim { claim: "iss" }), "{wrong:?}");
    }
    let more = forge.try_claims(json!({"scope": "everything"})).await;
    assert!(matches!(more, Err(AuthError::BadClaim { .. })), "a claim that we do not write: {more:?}");
}

/// Signed well, and yet not what was issued: what a stolen signing key could make.
#[tokio::test]
async fn claims_that_were_never_issued() {
    let forge = Forge::new().await;
    let later = forge.claims["exp"].as_i64().expect("seconds") + 60;
    for more in [
        json!({"role": "tenant-admin"}),
        json!({"role": "platform-admin", "tenant": null}),
        json!({"tenant": "other"}),
        json!({"sub": "root"}),
        json!({"exp": later}),
        json!({"jti": "0".repeat(32)}),
        json!({"jti": "../other/1"}),
        json!({"jti": "\u{0}"}),
        json!({"jti": "x".repeat(600)}),
    ] {
        assert_eq!(forge.try_claims(more.clone()).await, Err(AuthError::Revoked), "{more}");
    }
}

#[tokio::test]
async fn a_role_without_its_tenant() {
    let forge = Forge::new().await;
    let wrong = Err(AuthError::BadClaim { claim: "tenant" });
    assert_eq!(forge.try_claims(json!({"tenant": null})).await, wrong);
    assert_eq!(forge.try_claims(json!({"tenant": "PLATFORM"})).await, wrong);
    assert_eq!(forge.try_claims(json!({"tenant": ""})).await, wrong);
    assert_eq!(forge.try_claims(json!({"role": "platform-admin"})).await, wrong);
    let unknown = forge.try_claims(json!({"role": "root"})).await;
    assert!(matches!(unknown, Err(AuthError::BadClaim { .. })), "{unknown:?}");
}

#[tokio::test]
async fn bytes_that_are_no_token() {
    let forge = Forge::new().await;
    let good = token(&forge.header, &forge.claims, |message| forge.secret.sign(message).to_bytes().to_vec());
    let parts: Vec<&str> = good.split('.').collect();
    for text in [
        String::new(),
        ".".into(),
        "..".into(),
        "...".into(),
        "a.b.c".into(),
        format!("Bearer {good}"),
        format!(" {good}"),
        format!("{good}\n"),
        format!("{good}="),
        format!("{good}."),
        format!("{good}.x"),
        format!("{}.{}", parts[0], parts[1]),
        format!("{}..{}", parts[0], parts[2]),
        good.to_uppercase(),
    ] {
        let answer = forge.try_token(&text).await;
        assert!(matches!(answer, Err(AuthError::Malformed | AuthError::BadSignature)), "{text:?}: {answer:?}");
    }
    let long = format!("{good}{}", "A".repeat(MAX_TOKEN_BYTES));
    assert_eq!(forge.try_token(&long).await, Err(AuthError::TooLong(long.len())));
}

#[tokio::test]
async fn no_bit_can_be_changed() {
    let forge = Forge::new().await;
    let good = token(&forge.header, &forge.claims, |message| forge.secret.sign(message).to_bytes().to_vec());
    for place in 0..good.len() {
        let mut bytes = good.clone().into_bytes();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        let text = String::from_utf8(bytes).expect("ASCII");
        assert!(forge.try_token(&text).await.is_err(), "place {place}");
    }
}

/// Claims twice in one object: the parser takes neither the first nor the last.
#[tokio::test]
async fn a_claim_that_stands_twice() {
    let forge = Forge::new().await;
    let claims = forge.claims.to_string().replacen('{', r#"{"role":"developer","#, 1);
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(forge.header.to_string()), URL_SAFE_NO_PAD.encode(claims));
    let signature = URL_SAFE_NO_PAD.encode(forge.secret.sign(message.as_bytes()).to_bytes());
    let answer = forge.try_token(&format!("{message}.{signature}")).await;
    assert!(matches!(answer, Err(AuthError::BadClaim { .. })), "{answer:?}");
}
