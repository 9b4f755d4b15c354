//! The registry over stores in memory and an admission of a few lines, whose "machine code" names its component.

#![allow(clippy::unwrap_used, reason = "a test whose world cannot be set up has failed")]

#[path = "registry/attacks.rs"]
mod attacks;
#[path = "registry/images.rs"]
mod images;
#[path = "registry/links.rs"]
mod links;
#[path = "registry/quotas.rs"]
mod quotas;
#[path = "registry/racing.rs"]
mod racing;
#[path = "registry/revoking.rs"]
mod revoking;
#[path = "registry/versions.rs"]
mod versions;

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use tidegate_registry::{
    Admission, AdmissionError, Admitted, Artifact, Candidate, GrantedLimits, ImageOf, Registry, RegistryError, WarmUp,
};
use tidegate_signing::{Claim, DeclaredLimits, Refusal, SecretKey, Statement, sign};
use tidegate_store::{MemoryStore, MetaStore};
use tidegate_tenancy::{Caller, Role, Tenancy, TenantLimits, TokenKeys};
use tidegate_types::{Clock, EventTime, TenantId};

/// 2026-01-01T00:00:00Z.
const START: EventTime = 1_767_225_600_000;
const DAY: EventTime = 86_400_000;

struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now(&self) -> EventTime {
        self.0.load(Ordering::Relaxed)
    }
}

/// Refuses what ends with `refuse`, and counts. Images are of the engine that it is set to.
#[derive(Default)]
struct FewLines {
    admitted: AtomicUsize,
    recompiled: AtomicUsize,
    engine: Mutex<String>,
    last: Mutex<Option<Candidate>>,
}

impl FewLines {
    fn image(&self, digest: &str) -> String {
        format!("image of {digest} for engine {}", self.engine.lock().unwrap())
    }
}

#[async_trait::async_trait]
impl Admission for FewLines {
    async fn admit(&self, candidate: Candidate) -> Result<Admitted, AdmissionError> {
        self.admitted.fetch_add(1, Ordering::Relaxed);
        *self.last.lock().unwrap() = Some(candidate.clone());
        if candidate.component.ends_with(b"refuse") {
            let [place, reason, mend] = ["byte 8", "it asks for it", "do not"].map(str::to_owned);
            return Err(Refusal { rule: "no-hook", place, reason, mend }.into());
        }
        let cost = WarmUp { hook: "mapper".into(), function: "process".into(), fuel: 7, micros: 3 };
        Ok(Admitted {
            image: self.image(&candidate.digest).into(),
            hooks: vec!["mapper".into()],
            imports: Vec::new(),
            warm_up: vec![cost],
            remarks: Vec::new(),
        })
    }

    async fn recompile(&self, candidate: Candidate) -> Result<Bytes, AdmissionError> {
        self.recompiled.fetch_add(1, Ordering::Relaxed);
        Ok(self.image(&candidate.digest).into())
    }

    fn fits(&self, of: ImageOf<'_>, image: &[u8]) -> bool {
        image == self.image(of.digest).as_bytes()
    }
}

/// A platform with two tenants, `acme` and `other`, each with a key.
struct World {
    registry: Registry,
    store: Arc<racing::Meddled>,
    admission: Arc<FewLines>,
    blobs: Arc<InMemory>,
    tenancy: Arc<Tenancy>,
    clock: Arc<SetClock>,
    admin: Caller,
}

impl World {
    async fn new() -> Self {
        let clock = Arc::new(SetClock(AtomicI64::new(START)));
        let meddled = Arc::new(racing::Meddled::default());
        let store = Arc::clone(&meddled) as Arc<dyn MetaStore>;
        let keys = TokenKeys::ephemeral().unwrap();
        let seam = Arc::clone(&clock) as Arc<dyn Clock>;
        let tenancy = Arc::new(Tenancy::new(Arc::clone(&store), keys, Arc::clone(&seam)));
        let first = tenancy.first_token("root", Duration::from_secs(3_600)).await.unwrap();
        let admin = tenancy.authenticate(&first.token).await.unwrap();
        for name in ["acme", "other"] {
            tenancy.create_tenant(&admin, &id(name), TenantLimits::default()).await.unwrap();
            let public = key(name).public();
            tenancy.add_key(&caller(name, Role::TenantAdmin), &id(name), &public, "a key", None).await.unwrap();
        }
        let (admission, blobs) = (Arc::new(FewLines::default()), Arc::new(InMemory::new()));
        let (objects, admits) =
            (Arc::clone(&blobs) as Arc<dyn ObjectStore>, Arc::clone(&admission) as Arc<dyn Admission>);
        let registry = Registry::new(store, objects, admits, Arc::clone(&tenancy), seam);
        Self { registry, store: meddled, admission, blobs, tenancy, clock, admin }
    }

    /// Uploads as the tenant's developer, with a signature of the tenant's key.
    async fn upload(&self, tenant: &str, version: &str, component: &Bytes) -> Result<Artifact, RegistryError> {
        let envelope = envelope(&key(tenant), tenant, version, component, DeclaredLimits::default());
        self.registry.upload(&caller(tenant, Role::Developer), &id(tenant), component.clone(), envelope).await
    }

    async fn set_limits(&self, tenant: &str, change: impl FnOnce(&mut TenantLimits)) {
        let record = self.tenancy.tenant(&self.admin, &id(tenant)).await.unwrap();
        let mut limits = record.limits;
        change(&mut limits);
        self.tenancy.set_limits(&self.admin, &id(tenant), record.version, limits).await.unwrap();
    }

    async fn overwrite(&self, path: &str, bytes: &str) {
        self.blobs.put(&Path::from(path), bytes.to_owned().into()).await.unwrap();
    }
}

fn id(tenant: &str) -> TenantId {
    tenant.parse().unwrap()
}

fn key(tenant: &str) -> SecretKey {
    let first = tenant.as_bytes()[0];
    SecretKey::from_bytes(&[first; 32])
}

fn caller(tenant: &str, role: Role) -> Caller {
    Caller { subject: "somebody".into(), role, tenant: Some(id(tenant)), token_id: "t".into() }
}

/// The preamble of a component, and a text that tells one from the other.
fn component(text: &str) -> Bytes {
    [b"\0asm\x0d\0\x01\0", text.as_bytes()].concat().into()
}

fn envelope(key: &SecretKey, tenant: &str, version: &str, component: &[u8], limits: DeclaredLimits) -> Bytes {
    let claim = Claim {
        tenant: tenant.into(),
        name: "metrics".into(),
        version: version.into(),
        limits,
        issued_at: START,
        expires_at: START + 30 * DAY,
    };
    sign(key, &Statement::about(component, claim).unwrap()).to_json().into()
}

/// The refusal of an upload.
fn refusal<T: std::fmt::Debug>(answer: Result<T, RegistryError>) -> Refusal {
    match answer {
        Err(RegistryError::Refused(refusal) | RegistryError::VersionNotNewer(refusal)) => refusal,
        other => panic!("a refusal was due, not {other:?}"),
    }
}

/// Asserts that a refusal has these parts.
fn assert_refusal(refusal: &Refusal, rule: &str, place: &str, mend: &str) {
    assert_eq!(refusal.rule, rule, "{refusal}");
    assert!(refusal.place.contains(place) && refusal.mend.contains(mend), "{refusal}");
}
