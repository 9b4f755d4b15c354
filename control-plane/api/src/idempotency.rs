//! Idempotency keys: the same request sent again gives the first answer again, and is done once.
//!
//! A key belongs to a caller (its subject) in its tenant or on the platform, for 24 hours or until the tenant has sent
//! 1,000 newer ones. What is kept is a digest of the
//! request and, once it was done, its answer. Invariants: of two requests with one key at most one is worked on at a time;
//! an answer is kept only for what was done (2xx), because a refused request changed nothing and may be sent again; an
//! answer with a secret is never stored.
//!
//! If the process ends between the work and the keeping of its answer, the key is free again after [`LEASE_MS`], and the
//! repeated request meets what the first one made (`already-exists` or the same thing, as the operation says).

mod record;
mod sweeper;

use std::future::Future;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::response::IntoResponse;
use sha2::{Digest, Sha256};
use tidegate_store::{Change, Document, StoreError};
use tidegate_tenancy::Caller;

use crate::answer::Created;
use crate::problem::{Answer, Problem, codes};
use crate::request::one_header;
use crate::services::Shared;
use record::{Kept, Record, State};
pub(crate) use sweeper::Sweeper;

/// The header with the key.
pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// The header that marks an answer that was given before.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// The longest key, characters.
pub(crate) const MAX_KEY_CHARS: usize = 255;
/// How long an answer is kept, ms.
pub(crate) const KEEP_MS: i64 = 24 * 60 * 60 * 1000;
/// How long a request that never ended holds its key, ms.
pub(crate) const LEASE_MS: i64 = 2 * 60 * 1000;
/// The store's kind of these documents.
const KIND: &str = "idempotency";
/// So often a lost race for the key is run again.
const TRIES: usize = 4;

/// What a request says about being sent again: its key (or none), and what it is.
pub(crate) struct Repeatable {
    key: Option<String>,
    method: Method,
    path: String,
}

impl<S: Send + Sync> FromRequestParts<S> for Repeatable {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let key = key_of(&parts.headers)?;
        Ok(Self { key, method: parts.method.clone(), path: parts.uri.path().to_owned() })
    }
}

fn key_of(headers: &HeaderMap) -> Answer<Option<String>> {
    let Some(key) = one_header(headers, IDEMPOTENCY_KEY)? else { return Ok(None) };
    if key.is_empty() || key.len() > MAX_KEY_CHARS {
        let detail = format!("`Idempotency-Key` has {} characters; give it 1 to {MAX_KEY_CHARS}", key.len());
        return Err(Problem::new(codes::BAD_REQUEST, detail).at_path("Idempotency-Key"));
    }
    Ok(Some(key.to_owned()))
}

impl Repeatable {
    /// Does the work once for its key. `content` is what, besides method and path, makes two requests the same.
    pub(crate) async fn once<F>(self, api: &Shared, by: &Caller, content: &[&[u8]], work: F) -> Answer
    where
        F: Future<Output = Answer<Created>> + Send,
    {
        let Some(key) = &self.key else { return Ok(work.await?.into_response()) };
        let place = place_of(by, key);
        let held = match take(api, &place, self.digest(content)).await? {
            Taken::New(held) => held,
            Taken::Done(kept) => return replay(kept),
        };
        match work.await {
            Ok(created) => {
                // The work is done: an answer that cannot be kept is given all the same.
                if let Err(problem) = held.keep(api, Kept::of(&created)).await {
                    tracing::error!(detail = problem.detail(), "an answer could not be kept for its idempotency key");
                }
                Ok(created.into_response())
            }
            Err(problem) => {
                held.give_back(api).await?;
                Err(problem)
            }
        }
    }

    fn digest(&self, content: &[&[u8]]) -> String {
        let mut hash = Sha256::new();
        let parts = [self.method.as_str().as_bytes(), self.path.as_bytes()];
        for part in parts.iter().chain(content) {
            // With its length before it, no part can pass for the end of another.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hex(&hash.finalize())
    }
}

/// Where the key's document is. Hashed, because a key may be any text; its folder is the tenant's.
fn place_of(by: &Caller, key: &str) -> String {
    let mut hash = Sha256::new();
    hash.update((by.subject.len() as u64).to_be_bytes());
    hash.update(by.subject.as_bytes());
    hash.update(key.as_bytes());
    format!("{}{}", folder_of(by), hex(&hash.finalize()))
}

/// `platform/`, or `tenant/NAME/`.
fn folder_of(by: &Caller) -> String {
    by.tenant.as_ref().map_or_else(|| "platform/".to_owned(), |tenant| format!("tenant/{tenant}/"))
}

/// The folder of a place.
fn folder_in(place: &str) -> &str {
    &place[..=place.rfind('/').expect("a place has a folder")]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

enum Taken {
    /// The work is ours to do.
    New(Held),
    /// It was done.
    Done(Kept),
}

/// A key that is held while its work is done.
struct Held {
    place: String,
    record: Record,
}

async fn take(api: &Shared, place: &str, digest: String) -> Answer<Taken> {
    let folder = folder_in(place);
    api.sweeper.sweep(api, folder).await?;
    let now = api.services.clock.now();
    let record = Record::running(digest, api.next_request_id(), now);
    for _ in 0..TRIES {
        let found = api.services.store.get(KIND, place).await?;
        if let Some(taken) = found.as_ref().map(|found| judge(found, &record)).transpose()?.flatten() {
            return Ok(taken);
        }
        let body = record.to_json();
        let change = match &found {
            None => Change::create(KIND, place, body),
            Some(stale) => Change::replace(KIND, place, stale.version, body),
        };
        match api.services.store.commit(vec![change]).await {
            Ok(()) => {
                api.sweeper.came(folder, place, now).await;
                return Ok(Taken::New(Held { place: place.to_owned(), record }));
            }
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(in_progress())
}

/// What stands under the key already. `None`: nothing that counts any more.
fn judge(found: &Document, asked: &Record) -> Answer<Option<Taken>> {
    let kept =
        Record::from_json(&found.body).map_err(|error| Problem::internal(format!("{KIND}/{}: {error}", found.path)))?;
    if kept.is_over(asked.at) {
        return Ok(None);
    }
    if kept.digest != asked.digest {
        return Err(Problem::new(
            codes::IDEMPOTENCY_KEY_REUSED,
            "this idempotency key came before with another method, path or body; use a new key for a new request",
        ));
    }
    match kept.state {
        State::Running => Err(in_progress()),
        State::Done(answer) => Ok(Some(Taken::Done(answer))),
    }
}

fn in_progress() -> Problem {
    Problem::new(codes::REQUEST_IN_PROGRESS, "the first request with this idempotency key has not ended")
}

fn replay(kept: Kept) -> Answer {
    let mut response = kept.into_created()?.into_response();
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    Ok(response)
}

impl Held {
    async fn keep(&self, api: &Shared, answer: Kept) -> Answer<()> {
        let done = self.record.done(answer, api.services.clock.now());
        let Some(version) = self.version(api).await? else { return Ok(()) };
        settle(api, Change::replace(KIND, &self.place, version, done.to_json())).await
    }

    async fn give_back(&self, api: &Shared) -> Answer<()> {
        let Some(version) = self.version(api).await? else { return Ok(()) };
        api.sweeper.went(folder_in(&self.place), &self.place).await;
        settle(api, Change::delete(KIND, &self.place, version)).await
    }

    /// The version of our record; none if somebody took the key over after the lease.
    async fn version(&self, api: &Shared) -> Answer<Option<u64>> {
        let found = api.services.store.get(KIND, &self.place).await?;
        Ok(found.filter(|found| self.record.is_written_in(&found.body)).map(|found| found.version))
    }
}

/// A conflict here means that the key was taken over: the other's record stands.
async fn settle(api: &Shared, change: Change) -> Answer<()> {
    match api.services.store.commit(vec![change]).await {
        Ok(()) | Err(StoreError::Conflict { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Deletes a record, unless it was just changed.
async fn delete(api: &Shared, found: &Document) -> Answer<()> {
    settle(api, Change::delete(KIND, &found.path, found.version)).await
}
