//! What is kept under an idempotency key.

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidegate_types::EventTime;

use super::{KEEP_MS, LEASE_MS};
use crate::answer::Created;
use crate::problem::{Answer, Problem, codes};

/// The document's body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The digest of the request.
    pub(super) digest: String,
    /// The request that holds the key.
    holder: String,
    /// When it was written, ms.
    pub(super) at: EventTime,
    /// Until when it counts, ms.
    until: EventTime,
    pub(super) state: State,
}

/// How far the request is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Running,
    Done(Kept),
}

/// An answer that is given again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    status: u16,
    /// The body as it was sent; none if it had a secret.
    body: Option<String>,
    /// What the answer without its body is about.
    location: Option<String>,
    etag: Option<String>,
}

impl Record {
    pub(super) fn running(digest: String, holder: String, now: EventTime) -> Self {
        Self { digest, holder, at: now, until: now.saturating_add(LEASE_MS), state: State::Running }
    }

    pub(super) fn done(&self, answer: Kept, now: EventTime) -> Self {
        let until = now.saturating_add(KEEP_MS);
        Self { at: now, until, state: State::Done(answer), ..self.clone() }
    }

    pub(super) fn is_over(&self, now: EventTime) -> bool {
        self.until <= now
    }

    /// Whether this body is the record as it was written by the same request.
    pub(super) fn is_written_in(&self, body: &serde_json::Value) -> bool {
        Self::from_json(body).is_ok_and(|found| found.holder == self.holder && found.state == self.state)
    }

    pub(super) fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("a record has texts and numbers only")
    }

    pub(super) fn from_json(body: &serde_json::Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(body)
    }
}

impl Kept {
    pub(super) fn of(created: &Created) -> Self {
        Self {
            status: created.status.as_u16(),
            body: (!created.secret).then(|| created.body.clone()),
            location: created.location.clone(),
            etag: created.etag.clone(),
        }
    }

    pub(super) fn into_created(self) -> Answer<Created> {
        let Some(body) = self.body else {
            let what = self.location.unwrap_or_default();
            return Err(Problem::new(codes::ANSWER_NOT_KEPT, format!("the request was done and made `{what}`")));
        };
        let status = StatusCode::from_u16(self.status).map_err(|error| Problem::internal(error.to_string()))?;
        Ok(Created { status, body, location: self.location, etag: self.etag, secret: false })
    }
}
