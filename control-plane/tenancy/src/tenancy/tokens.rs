//! Tokens: who gets in, and until when.
//!
//! Invariant: a token counts only while its record stands in the store, unrevoked and equal to what the token says, and its
//! tenant exists. A stolen signing key alone therefore opens nothing.

use std::time::Duration;

use serde_json::json;
use tidegate_store::{Change, Document, Expect};
use tidegate_types::{EventTime, TenantId};

use crate::tenant::{body, parse};
use crate::token::{self, Claims, KIND, MAX_SUBJECT_CHARS, MAX_TOKENS};
use crate::token_keys::new_id;
use crate::{
    AuditEntry, AuthError, Caller, IssuedToken, MAX_TTL, Permission, Role, SignedToken, Tenancy, TenancyError,
    TokenRecord,
};

/// Expired records that issuing one token clears away at most, so that a commit stays small.
const CLEARED: usize = 100;

impl Tenancy {
    /// What a token says, by its signature and its times alone: the text behind `Bearer `. The store is not asked, so a
    /// revoked token is signed too: for sharing out places before anything else is done, never for a right. Rights come from
    /// [`Tenancy::admit`].
    ///
    /// # Errors
    /// [`AuthError`]: why nobody signed this.
    pub fn signed(&self, bearer: &str) -> Result<SignedToken, AuthError> {
        let claims = token::verify(&self.keys, bearer, self.now())?;
        let tenant = claimed_tenant(&claims)?;
        Ok(SignedToken { claims, tenant })
    }

    /// Who bears this token: the text behind `Bearer `.
    ///
    /// # Errors
    /// [`AuthError`]: why the token does not count.
    pub async fn authenticate(&self, bearer: &str) -> Result<Caller, AuthError> {
        self.admit(self.signed(bearer)?).await
    }

    /// Who bears a token that was found to be signed just now.
    ///
    /// # Errors
    /// [`AuthError`]: it was revoked, or its tenant is no more.
    pub async fn admit(&self, token: SignedToken) -> Result<Caller, AuthError> {
        let SignedToken { claims, tenant } = token;
        let document = self.store.get(KIND, &token::path(tenant.as_ref(), &claims.jti)).await;
        let document = match document {
            // An id of another form than ours was never issued.
            Err(tidegate_store::StoreError::Invalid { .. }) => None,
            other => other?,
        };
        let record: TokenRecord = parse(&document.ok_or(AuthError::Revoked)?)?;
        if record.revoked_at.is_some() || !says(&claims, &record) {
            return Err(AuthError::Revoked);
        }
        if let Some(tenant) = &tenant {
            self.existing(tenant).await.map_err(|error| match error {
                TenancyError::Store(error) => AuthError::Store(error),
                _ => AuthError::NoTenant,
            })?;
        }
        Ok(Caller { subject: claims.sub, role: claims.role, tenant, token_id: claims.jti })
    }

    /// Issues a token: by a platform admin for any tenant (none: for a platform admin), by a tenant admin for its own.
    ///
    /// # Errors
    /// [`TenancyError`]: forbidden, not found, an invalid subject, role or time to live, too many tokens.
    pub async fn issue_token(
        &self,
        by: &Caller,
        tenant: Option<&TenantId>,
        role: Role,
        subject: &str,
        ttl: Duration,
    ) -> Result<IssuedToken, TenancyError> {
        self.may_on_tokens(by, Permission::IssueToken, tenant).await?;
        self.issue(Some(by), tenant, role, subject, ttl).await
    }

    /// A platform admin's token by nobody's leave: for whoever starts the platform, and so holds its keys and its store.
    ///
    /// # Errors
    /// [`TenancyError`]: an invalid time to live, too many tokens, the store.
    pub async fn first_token(&self, subject: &str, ttl: Duration) -> Result<IssuedToken, TenancyError> {
        self.issue(None, None, Role::PlatformAdmin, subject, ttl).await
    }

    /// Revokes a token; one that is revoked already stays so.
    ///
    /// # Errors
    /// [`TenancyError`]: forbidden, not found, conflict.
    pub async fn revoke_token(&self, by: &Caller, tenant: Option<&TenantId>, id: &str) -> Result<(), TenancyError> {
        self.may_on_tokens(by, Permission::RevokeToken, tenant).await?;
        let missing = || TenancyError::NotFound { what: "token", name: id.to_owned() };
        if !is_id(id) {
            return Err(missing());
        }
        let path = token::path(tenant, id);
        let document = self.store.get(KIND, &path).await?.ok_or_else(missing)?;
        let mut record: TokenRecord = parse(&document)?;
        if record.revoked_at.is_some() {
            return Ok(());
        }
        record.revoked_at = Some(self.now());
        let change = Change::replace(KIND, path, document.version, body(&record));
        self.commit(Some(by), vec![change], &entry(tenant, "token.revoke", &record)).await
    }

    /// The tokens of a tenant (none: of the platform) that have not been cleared away, by id.
    ///
    /// # Errors
    /// [`TenancyError`]: forbidden, not found, the store.
    pub async fn tokens(&self, by: &Caller, tenant: Option<&TenantId>) -> Result<Vec<TokenRecord>, TenancyError> {
        self.may_on_tokens(by, Permission::ReadTokens, tenant).await?;
        let documents = self.token_documents(tenant).await?;
        Ok(documents.iter().map(parse).collect::<Result<_, _>>()?)
    }

    async fn may_on_tokens(
        &self,
        by: &Caller,
        permission: Permission,
        tenant: Option<&TenantId>,
    ) -> Result<(), TenancyError> {
        match tenant {
            Some(tenant) => {
                by.may(permission, tenant)?;
                self.existing(tenant).await?;
            }
            None => by.may_on_platform(permission)?,
        }
        Ok(())
    }

    async fn issue(
        &self,
        by: Option<&Caller>,
        tenant: Option<&TenantId>,
        role: Role,
        subject: &str,
        ttl: Duration,
    ) -> Result<IssuedToken, TenancyError> {
        check(tenant, role, subject, ttl)?;
        let issued_at = self.now().div_euclid(1_000) * 1_000;
        let life = i64::try_from(ttl.as_secs()).expect("the time to live was checked") * 1_000;
        let record = TokenRecord {
            id: new_id()?,
            subject: subject.to_owned(),
            role,
            tenant: tenant.map(ToString::to_string),
            issued_by: by.map_or_else(|| "tidegate".to_owned(), |by| by.subject.clone()),
            issued_at,
            expires_at: issued_at + life,
            revoked_at: None,
        };
        let token = token::sign(&self.keys, &record)?;
        let mut changes = self.clear_expired(tenant).await?;
        changes.push(Change::create(KIND, token::path(tenant, &record.id), body(&record)));
        self.commit(by, changes, &entry(tenant, "token.issue", &record)).await?;
        Ok(IssuedToken { token, record })
    }

    /// The deletion of expired records, if what remains leaves room for one more.
    async fn clear_expired(&self, tenant: Option<&TenantId>) -> Result<Vec<Change>, TenancyError> {
        let documents = self.token_documents(tenant).await?;
        let now = self.now();
        let mut cleared = Vec::new();
        for document in &documents {
            let record: TokenRecord = parse(document)?;
            if expired(&record, now) && cleared.len() < CLEARED {
                cleared.push(Change::Delete {
                    kind: KIND.to_owned(),
                    path: document.path.clone(),
                    expect: Expect::Any,
                });
            }
        }
        let count = documents.len() - cleared.len();
        if count >= MAX_TOKENS {
            return Err(TenancyError::TooMany { what: "tokens", count });
        }
        Ok(cleared)
    }

    async fn token_documents(&self, tenant: Option<&TenantId>) -> Result<Vec<Document>, TenancyError> {
        Ok(self.store.list(KIND, &token::folder(tenant), None, tidegate_store::MAX_LIST).await?)
    }
}

/// The tenant that a token names: a platform admin's has none, every other has one.
fn claimed_tenant(claims: &Claims) -> Result<Option<TenantId>, AuthError> {
    let wrong = AuthError::BadClaim { claim: "tenant" };
    let tenant = match &claims.tenant {
        Some(text) => Some(text.parse::<TenantId>().map_err(|_| wrong.clone())?),
        None => None,
    };
    if tenant.is_none() == (claims.role == Role::PlatformAdmin) { Ok(tenant) } else { Err(wrong) }
}

/// Whether a token says what was recorded when it was issued.
fn says(claims: &Claims, record: &TokenRecord) -> bool {
    claims.sub == record.subject
        && claims.role == record.role
        && claims.tenant == record.tenant
        && claims.exp == record.expires_at.div_euclid(1_000)
}

/// A record whose token is refused by its own times, whatever the leeway.
fn expired(record: &TokenRecord, now: EventTime) -> bool {
    record.expires_at.saturating_add(60_000) < now
}

fn is_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn check(tenant: Option<&TenantId>, role: Role, subject: &str, ttl: Duration) -> Result<(), TenancyError> {
    let invalid = |field, reason: String| Err(TenancyError::Invalid { field, reason });
    if tenant.is_none() != (role == Role::PlatformAdmin) {
        return invalid(
            "role",
            format!("a {role} belongs to {}", if tenant.is_some() { "no tenant" } else { "a tenant" }),
        );
    }
    let count = subject.chars().count();
    if count == 0 || count > MAX_SUBJECT_CHARS || subject.chars().any(char::is_control) {
        return invalid("subject", format!("give it 1 to {MAX_SUBJECT_CHARS} characters without control characters"));
    }
    if ttl < Duration::from_secs(1) || ttl > MAX_TTL {
        return invalid("ttl", format!("set 1 second to {} days", MAX_TTL.as_secs() / 86_400));
    }
    Ok(())
}

fn entry(tenant: Option<&TenantId>, action: &'static str, record: &TokenRecord) -> AuditEntry {
    let detail = json!({ "subject": record.subject, "role": record.role, "expires_at": record.expires_at });
    AuditEntry { tenant: tenant.cloned(), action, target: record.id.clone(), detail }
}
