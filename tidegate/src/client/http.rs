//! One place that speaks HTTP: a request with the token, an answer, or what went wrong in words.
//!
//! Invariants: the token goes to the API's own address only (redirects are not followed); whether a request that got no
//! answer is sent again is the caller's decision.

use std::time::Duration;

use serde::de::DeserializeOwned;
use ureq::http::{Method, Request, StatusCode};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use super::problem::Problem;
use super::settings::Settings;
use crate::failure::{Failure, describe};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an answer may take. Admission compiles a component meanwhile.
const ANSWER: Duration = Duration::from_secs(180);
/// The largest answer that is read: a page of table rows is below it.
const MOST_ANSWER_BYTES: u64 = 256 << 20;

/// The API of a platform.
pub(super) struct Api {
    base: String,
    token: String,
    agent: Agent,
}

/// A request. Paths begin with `/v1/`.
pub(super) struct Call<'a> {
    pub(super) method: Method,
    pub(super) path: &'a str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Option<&'a [u8]>,
}

/// An answer that is a success.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) body: Vec<u8>,
    headers: ureq::http::HeaderMap,
}

/// Why there is no such answer.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Nobody answered, or the answer broke off: whether the request was done is not known.
    NoAnswer(String),
    /// The API refused, or failed.
    Refused(Box<Problem>),
}

impl<'a> Call<'a> {
    pub(super) fn get(path: &'a str) -> Self {
        Self { method: Method::GET, path, headers: Vec::new(), body: None }
    }

    pub(super) fn delete(path: &'a str) -> Self {
        Self { method: Method::DELETE, path, headers: Vec::new(), body: None }
    }

    pub(super) fn post(path: &'a str, media_type: &str, body: &'a [u8]) -> Self {
        Self { method: Method::POST, path, headers: vec![("content-type", media_type.to_owned())], body: Some(body) }
    }

    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

impl Answer {
    /// The body as JSON.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_slice(&self.body).map_err(|error| {
            Failure::external(format!("the answer is not what this version of tidegate expects: {error}"))
        })
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl Api {
    /// # Errors
    /// If the certificate that should be trusted cannot be used.
    pub(super) fn new(settings: Settings) -> Result<Self, Failure> {
        let roots = match &settings.ca_pem {
            None => RootCerts::WebPki,
            Some(pem) => RootCerts::new_with_certs(&certificates(pem)?),
        };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(ANSWER))
            .user_agent(concat!("tidegate/", env!("CARGO_PKG_VERSION")))
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .build();
        Ok(Self { base: settings.api, token: settings.token, agent: config.new_agent() })
    }

    /// Asks once.
    ///
    /// # Errors
    /// What went wrong; [`Trouble::failure`] makes it the command's end.
    pub(super) fn ask(&self, call: &Call<'_>) -> Result<Answer, Trouble> {
        let mut request = Request::builder()
            .method(call.method.clone())
            .uri(format!("{}{}", self.base, call.path))
            .header("authorization", format!("Bearer {}", self.token));
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        let wrong = |error: ureq::http::Error| Trouble::NoAnswer(format!("the request cannot be written: {error}"));
        let answered = match call.body {
            Some(body) => self.agent.run(request.body(body).map_err(wrong)?),
            None => self.agent.run(request.body(()).map_err(wrong)?),
        };
        let (parts, body) = answered.map_err(|error| self.no_answer(&error))?.into_parts();
        let body = read(body).map_err(|error| self.no_answer(&error))?;
        match parts.status {
            status if status.is_success() => Ok(Answer { body, headers: parts.headers }),
            status => {
                Err(Trouble::Refused(Box::new(Problem::read(status.as_u16(), &body, retry_after(&parts.headers)))))
            }
        }
    }

    /// Asks once, and takes a failure as the command's end.
    pub(super) fn must(&self, call: &Call<'_>) -> Result<Answer, Failure> {
        self.ask(call).map_err(|trouble| trouble.failure())
    }

    fn no_answer(&self, error: &ureq::Error) -> Trouble {
        Trouble::NoAnswer(format!(
            "{} does not answer: {}; is `tidegate dev` running there? (--api URL names another place)",
            self.base,
            describe(error)
        ))
    }
}

impl Trouble {
    /// The end of the command: status 2 where the caller can mend it, else 1.
    pub(super) fn failure(&self) -> Failure {
        match self {
            Self::NoAnswer(text) => Failure::external(text),
            Self::Refused(problem) => problem.failure(),
        }
    }

    /// Whether the same request may do better later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::NoAnswer(_) => true,
            Self::Refused(problem) => {
                problem.code() == "too-many-requests" || problem.status >= StatusCode::INTERNAL_SERVER_ERROR.as_u16()
            }
        }
    }
}

fn read(body: Body) -> Result<Vec<u8>, ureq::Error> {
    body.into_with_config().limit(MOST_ANSWER_BYTES).read_to_vec()
}

fn retry_after(headers: &ureq::http::HeaderMap) -> Option<u64> {
    headers.get("retry-after")?.to_str().ok()?.parse().ok()
}

fn certificates(pem: &[u8]) -> Result<Vec<Certificate<'static>>, Failure> {
    let certificates: Vec<Certificate<'static>> = parse_pem(pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(Failure::invalid("--ca-cert: no certificate in this file; name a PEM file with one"));
    }
    Ok(certificates)
}
