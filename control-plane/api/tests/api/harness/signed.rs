//! A registry whose admission looks at a few marks in the bytes, and who signs for it.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use object_store::memory::InMemory;
use serde_json::json;
use tidegate_registry::{Admission, AdmissionError, Admitted, Candidate, ImageOf, Refusal, Registry, WarmUp};
use tidegate_signing::{Claim, DeclaredLimits, SecretKey, Statement, sign};
use tidegate_store::MetaStore;
use tidegate_tenancy::Tenancy;
use tidegate_types::Clock;

use super::{Call, Platform, post};

pub(super) fn registry(store: &Arc<dyn MetaStore>, tenancy: &Arc<Tenancy>, clock: &Arc<dyn Clock>) -> Arc<Registry> {
    let blobs = Arc::new(InMemory::new());
    Arc::new(Registry::new(store.clone(), blobs, Arc::new(Marks), tenancy.clone(), clock.clone()))
}

/// Admits what has no mark. `WASI`: an import that is not granted. `DOWN`: it cannot look now.
struct Marks;

#[async_trait]
impl Admission for Marks {
    async fn admit(&self, candidate: Candidate) -> Result<Admitted, AdmissionError> {
        let has = |mark: &[u8]| candidate.component.windows(mark.len()).any(|window| window == mark);
        if has(b"DOWN") {
            return Err(AdmissionError::Unavailable { reason: "/secret/path: no process".into() });
        }
        if has(b"WASI") {
            return Err(AdmissionError::Refused(Refusal {
                rule: "import-not-granted",
                place: "import wasi:sockets/tcp".into(),
                reason: "the world does not grant it".into(),
                mend: "build without it".into(),
            }));
        }
        Ok(Admitted {
            image: Bytes::from_static(b"an image"),
            hooks: vec!["mapper".into()],
            imports: vec!["tidegate:job/log@0.1.0".into()],
            warm_up: vec![WarmUp { hook: "mapper".into(), function: "open".into(), fuel: 12_000, micros: 90 }],
            remarks: vec!["a remark".into()],
        })
    }

    async fn recompile(&self, _: Candidate) -> Result<Bytes, AdmissionError> {
        Ok(Bytes::from_static(b"an image"))
    }

    fn fits(&self, _: ImageOf<'_>, _: &[u8]) -> bool {
        true
    }
}

/// The bytes of a component, as far as a signature looks at them.
pub(crate) fn component_of(text: &str) -> Vec<u8> {
    [&[0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00], text.as_bytes()].concat()
}

/// Who signs for a tenant.
pub(crate) struct Signer {
    key: SecretKey,
    tenant: &'static str,
}

impl Signer {
    /// A new key, which the tenant (whose admin's token this is) trusts.
    pub(crate) async fn of(platform: &Platform, tenant: &'static str, token: &str) -> Self {
        let signer = Self { key: SecretKey::generate().unwrap(), tenant };
        let key = json!({ "public_key": signer.public_key(), "label": "ci" });
        let call = post(&format!("/v1/tenants/{tenant}/keys")).by(token).json(&key);
        platform.send(call).await.has_status(201);
        signer
    }

    pub(crate) fn public_key(&self) -> String {
        self.key.public().to_string()
    }

    /// The envelope for a component.
    pub(crate) fn sign(&self, name: &str, version: &str, component: &[u8]) -> Vec<u8> {
        let claim = Claim {
            tenant: self.tenant.into(),
            name: name.into(),
            version: version.into(),
            limits: DeclaredLimits { call_fuel: Some(5_000_000), memory_bytes: None },
            issued_at: 1_792_662_000_000,
            expires_at: 1_792_662_000_000 + 86_400_000 * 30,
        };
        sign(&self.key, &Statement::about(component, claim).unwrap()).to_json()
    }

    /// The upload of a signed component.
    pub(crate) fn upload(&self, token: &str, name: &str, version: &str, text: &str) -> Call {
        let component = component_of(text);
        let signature = self.sign(name, version, &component);
        upload(token, &[("component", &component), ("signature", &signature)])
    }
}

/// An upload of these parts.
pub(crate) fn upload(token: &str, parts: &[(&str, &[u8])]) -> Call {
    post("/v1/artifacts").by(token).typed("multipart/form-data; boundary=xyz", form("xyz", parts))
}

pub(crate) fn form(boundary: &str, parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, bytes) in parts {
        let head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{name}\"\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    body
}
