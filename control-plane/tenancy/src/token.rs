//! A token: what it says, how it is made, and what makes it count.
//!
//! Invariant: nothing of a token is believed before its signature has been verified, except its key's id, which is looked up
//! among our own keys, and its header is compared as a whole with the one header that we write. The algorithm is ours, never
//! the token's. Then audience, issuer, times and length of life are checked; whether the token is known, unrevoked and of a
//! tenant that exists is `Tenancy::authenticate`'s.

use std::time::Duration;

use jsonwebtoken::{Algorithm, Header, Validation};
use serde::{Deserialize, Serialize};
use tidegate_store::StoreError;
use tidegate_types::{EventTime, TenantId};

use crate::{Role, TokenKeyError, TokenKeys};

/// The audience of every token.
pub const AUDIENCE: &str = "tidegate";
/// The issuer of every token.
pub const ISSUER: &str = "tidegate/control-plane";
/// The type in every token's header: an access token (RFC 9068), not any other signed thing.
const TYPE: &str = "at+jwt";
/// The longest life of a token.
pub const MAX_TTL: Duration = Duration::from_secs(90 * 86_400);
/// How far the clocks of two machines may differ.
pub const LEEWAY: Duration = Duration::from_secs(5);
/// The longest token, bytes. Ours have some 500.
pub const MAX_TOKEN_BYTES: usize = 4 * 1024;
/// The most tokens of a tenant (or of the platform) that have not expired, revoked ones too.
pub const MAX_TOKENS: usize = 900;
/// The most characters of a subject.
pub(crate) const MAX_SUBJECT_CHARS: usize = 128;

/// The store's kind of tokens; the path is the tenant (or `PLATFORM`), `/` and the token's id.
pub(crate) const KIND: &str = "token";
/// Where platform admins' tokens stand. No tenant's name has a capital.
const PLATFORM: &str = "PLATFORM";

/// A token that was just made. Its text is shown once and kept nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct IssuedToken {
    /// The text for the header `Authorization: Bearer …`.
    pub token: String,
    /// What is kept of it.
    pub record: TokenRecord,
}

impl std::fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedToken").field("record", &self.record).finish_non_exhaustive()
    }
}

/// What is kept of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// Its id (`jti`): 32 hexadecimal digits.
    pub id: String,
    /// For whom.
    pub subject: String,
    /// What it may.
    pub role: Role,
    /// Of which tenant; none for a platform admin's.
    #[serde(default)]
    pub tenant: Option<String>,
    /// Who issued it.
    pub issued_by: String,
    /// When, ms since the epoch, whole seconds.
    pub issued_at: EventTime,
    /// Until when it counts, ms since the epoch, whole seconds.
    pub expires_at: EventTime,
    /// When it was revoked, ms since the epoch.
    #[serde(default)]
    pub revoked_at: Option<EventTime>,
}

/// A token whose form, signature, audience, issuer and times are right. Whether it counts is not known yet.
#[derive(Debug, Clone)]
pub struct SignedToken {
    pub(crate) claims: Claims,
    pub(crate) tenant: Option<TenantId>,
}

impl SignedToken {
    /// The tenant that it names; none: the platform.
    #[must_use]
    pub const fn tenant(&self) -> Option<&TenantId> {
        self.tenant.as_ref()
    }
}

/// Why a token does not count. To the outside most of these are one answer: 401.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// It is longer than any of ours.
    #[error("the token has {0} bytes, ours have at most 4096: send the token alone")]
    TooLong(usize),
    /// It is no token of ours in form: not three parts, or a header that we do not write (`alg` among it).
    #[error("this is no token of Tidegate: send the text that `tidegate token create` printed")]
    Malformed,
    /// It was signed with a key that is not (or no longer) here.
    #[error("the token's key is unknown here: get a new token")]
    UnknownKey,
    /// Its signature is not by the key that it names, over these bytes.
    #[error("the token's signature does not fit: get a new token")]
    BadSignature,
    /// It is signed by us but not an access token for this API: a claim is missing or another's.
    #[error("the token's claim `{claim}` is missing or not for this API: get a new token")]
    BadClaim {
        /// The claim.
        claim: &'static str,
    },
    /// Its time is over.
    #[error("the token has expired: get a new token")]
    Expired,
    /// Its time has not come.
    #[error("the token does not count yet: check the clock of the machine that issued it")]
    NotYetValid,
    /// It was revoked, or nothing is known of it.
    #[error("the token was revoked: get a new token")]
    Revoked,
    /// Its tenant is no more.
    #[error("the token's tenant was deleted: get a token of another tenant")]
    NoTenant,
    /// The store could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What stands in a token. Times are seconds since the epoch, as RFC 7519 has them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claims {
    pub(crate) iss: String,
    pub(crate) aud: String,
    pub(crate) sub: String,
    pub(crate) jti: String,
    pub(crate) iat: i64,
    pub(crate) nbf: i64,
    pub(crate) exp: i64,
    pub(crate) role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tenant: Option<String>,
}

/// Where a token's record stands.
pub(crate) fn path(tenant: Option<&TenantId>, id: &str) -> String {
    format!("{}{id}", folder(tenant))
}

/// Where all tokens of a tenant stand.
pub(crate) fn folder(tenant: Option<&TenantId>) -> String {
    format!("{}/", tenant.map_or(PLATFORM, TenantId::as_str))
}

/// Signs a record with the newest key.
pub(crate) fn sign(keys: &TokenKeys, record: &TokenRecord) -> Result<String, TokenKeyError> {
    let (id, key) = keys.signing();
    let seconds = |millis: EventTime| millis.div_euclid(1_000);
    let claims = Claims {
        iss: ISSUER.to_owned(),
        aud: AUDIENCE.to_owned(),
        sub: record.subject.clone(),
        jti: record.id.clone(),
        iat: seconds(record.issued_at),
        nbf: seconds(record.issued_at),
        exp: seconds(record.expires_at),
        role: record.role,
        tenant: record.tenant.clone(),
    };
    jsonwebtoken::encode(&header(id), &claims, key).map_err(|_| TokenKeyError::ForeignProvider)
}

/// The claims of a token whose form, signature, audience, issuer and times are right at `now` (ms).
pub(crate) fn verify(keys: &TokenKeys, token: &str, now: EventTime) -> Result<Claims, AuthError> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(AuthError::TooLong(token.len()));
    }
    let read = jsonwebtoken::decode_header(token).map_err(|_| AuthError::Malformed)?;
    let id = read.kid.clone().ok_or(AuthError::Malformed)?;
    if read != header(&id) {
        return Err(AuthError::Malformed);
    }
    let key = keys.verifying(&id).ok_or(AuthError::UnknownKey)?;
    let verified = jsonwebtoken::decode::<Claims>(token, key, &validation()).map_err(|error| refused(&error))?;
    check_times(&verified.claims, now)?;
    Ok(verified.claims)
}

/// The one header that our tokens have.
fn header(key_id: &str) -> Header {
    let mut header = Header::new(Algorithm::EdDSA);
    header.typ = Some(TYPE.to_owned());
    header.kid = Some(key_id.to_owned());
    header
}

/// Times are checked by `check_times`, against the clock seam; `jsonwebtoken` would ask the system.
fn validation() -> Validation {
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.set_required_spec_claims(&["exp", "nbf", "aud", "iss", "sub"]);
    validation.set_audience(&[AUDIENCE]);
    validation.set_issuer(&[ISSUER]);
    validation
}

fn check_times(claims: &Claims, now: EventTime) -> Result<(), AuthError> {
    let now = now.div_euclid(1_000);
    let seconds = |duration: Duration| i64::try_from(duration.as_secs()).expect("our constants are small");
    let (leeway, longest) = (seconds(LEEWAY), seconds(MAX_TTL));
    if claims.exp.saturating_sub(claims.iat) > longest || claims.exp <= claims.nbf {
        return Err(AuthError::BadClaim { claim: "exp" });
    }
    if now >= claims.exp.saturating_add(leeway) {
        return Err(AuthError::Expired);
    }
    if now < claims.nbf.saturating_sub(leeway) || now < claims.iat.saturating_sub(leeway) {
        return Err(AuthError::NotYetValid);
    }
    Ok(())
}

fn refused(error: &jsonwebtoken::errors::Error) -> AuthError {
    use jsonwebtoken::errors::ErrorKind;
    match error.kind() {
        ErrorKind::InvalidSignature => AuthError::BadSignature,
        ErrorKind::InvalidAudience => AuthError::BadClaim { claim: "aud" },
        ErrorKind::InvalidIssuer => AuthError::BadClaim { claim: "iss" },
        // Signed by us, and yet not the claims that we write.
        ErrorKind::Json(_) | ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) => {
            AuthError::BadClaim { claim: "exp, nbf, iat, aud, iss, sub, jti, role or tenant" }
        }
        _ => AuthError::Malformed,
    }
}
