//! Places: how much is done at once, over all tenants and for each.
//!
//! Invariant: of everything that requests share (places in the gate, memory for bodies, blocking threads) a tenant has its own
//! part and no more, so one tenant's slow or many requests leave room for the others. A place is held until what it was taken
//! for has ended, also when the request was given up: log and tables block, and a blocking call cannot be stopped.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tidegate_types::TenantId;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::problem::{Answer, Problem, codes};
use crate::request::Claimant;
use crate::settings::ApiSettings;

/// Memory for bodies is counted in these, bytes.
const BODY_UNIT: usize = 4 * 1024;

/// All places.
pub(crate) struct Places {
    settings: ApiSettings,
    requests: Arc<Semaphore>,
    /// Of requests that nobody signed.
    strangers: Arc<Semaphore>,
    bodies: Arc<Semaphore>,
    calls: Arc<Semaphore>,
    waits: Arc<Semaphore>,
    /// One entry for each tenant that has asked since the process started.
    tenants: Mutex<BTreeMap<TenantId, TenantPlaces>>,
}

/// The places of one request, until it is dropped.
pub(crate) struct Entered {
    _own: Option<OwnedSemaphorePermit>,
    _all: OwnedSemaphorePermit,
}

#[derive(Clone)]
struct TenantPlaces {
    requests: Arc<Semaphore>,
    bodies: Arc<Semaphore>,
    calls: Arc<Semaphore>,
    waits: Arc<Semaphore>,
    making: Arc<Mutex<()>>,
}

impl Places {
    pub(crate) fn new(settings: ApiSettings) -> Self {
        Self {
            settings,
            requests: Arc::new(Semaphore::new(settings.requests)),
            strangers: Arc::new(Semaphore::new(settings.strangers)),
            bodies: Arc::new(Semaphore::new(settings.body_bytes / BODY_UNIT)),
            calls: Arc::new(Semaphore::new(settings.calls)),
            waits: Arc::new(Semaphore::new(settings.waits)),
            tenants: Mutex::default(),
        }
    }

    /// A place for a request: first of those of whoever asks, then of all, so that nobody keeps the others out.
    pub(crate) fn enter(&self, claimant: &Claimant) -> Answer<Entered> {
        let own = match claimant {
            Claimant::Platform => None,
            Claimant::Stranger => {
                let full =
                    |_| Problem::new(codes::OVERLOADED, "every place for a request without a valid token is taken");
                Some(Arc::clone(&self.strangers).try_acquire_owned().map_err(full)?)
            }
            Claimant::Tenant(tenant) => {
                let most = self.settings.requests_per_tenant;
                let full = |_| busy(format!("the tenant has {most} requests running"));
                Some(self.of(tenant).requests.try_acquire_owned().map_err(full)?)
            }
        };
        let full = |_| Problem::new(codes::OVERLOADED, "every place for a request is taken");
        let all = Arc::clone(&self.requests).try_acquire_owned().map_err(full)?;
        Ok(Entered { _own: own, _all: all })
    }

    /// Room for a body of so many bytes: two permits, the tenant's and the process's.
    pub(crate) async fn body(
        &self,
        tenant: &TenantId,
        bytes: usize,
    ) -> Answer<(OwnedSemaphorePermit, OwnedSemaphorePermit)> {
        let own = room(self.of(tenant).bodies, bytes, self.settings.body_bytes_per_tenant);
        let Ok(Ok(own)) = timeout(self.settings.queue_timeout, own).await else {
            let most = self.settings.body_bytes_per_tenant;
            return Err(busy(format!("the bodies of the tenant's running requests have {most} bytes together")));
        };
        let all = room(Arc::clone(&self.bodies), bytes, self.settings.body_bytes);
        match timeout(self.settings.queue_timeout, all).await {
            Ok(Ok(all)) => Ok((own, all)),
            _ => Err(Problem::new(codes::OVERLOADED, "all the room for bodies is taken")),
        }
    }

    /// Makes a blocking call for a tenant.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        tenant: &TenantId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        let own = self.of(tenant).calls.acquire_owned();
        let Ok(Ok(own)) = timeout(self.settings.queue_timeout, own).await else {
            let most = self.settings.calls_per_tenant;
            return Err(busy(format!("the tenant has {most} calls to the log and its tables running")));
        };
        let all = Arc::clone(&self.calls).acquire_owned();
        let Ok(Ok(all)) = timeout(self.settings.queue_timeout, all).await else {
            return Err(Problem::new(codes::OVERLOADED, "every place for a call to the log and the tables is taken"));
        };
        run((own, all), work).await
    }

    /// A place to wait for records: two permits, the tenant's and the process's.
    pub(crate) fn wait(&self, tenant: &TenantId) -> Answer<(OwnedSemaphorePermit, OwnedSemaphorePermit)> {
        let own = Arc::clone(&self.of(tenant).waits).try_acquire_owned();
        let all = Arc::clone(&self.waits).try_acquire_owned();
        match (own, all) {
            (Ok(own), Ok(all)) => Ok((own, all)),
            (Err(_), _) => {
                let most = self.settings.waits_per_tenant;
                Err(busy(format!("the tenant has {most} reads waiting; read with `wait_ms=0` or wait less often")))
            }
            (_, Err(_)) => Err(Problem::new(codes::OVERLOADED, "every place for a waiting read is taken")),
        }
    }

    /// Held while something of the tenant is counted and then made, so that no two see the last room.
    pub(crate) fn making(&self, tenant: &TenantId) -> Arc<Mutex<()>> {
        Arc::clone(&self.of(tenant).making)
    }

    fn of(&self, tenant: &TenantId) -> TenantPlaces {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || TenantPlaces {
            requests: Arc::new(Semaphore::new(self.settings.requests_per_tenant)),
            bodies: Arc::new(Semaphore::new(self.settings.body_bytes_per_tenant / BODY_UNIT)),
            calls: Arc::new(Semaphore::new(self.settings.calls_per_tenant)),
            waits: Arc::new(Semaphore::new(self.settings.waits_per_tenant)),
            making: Arc::default(),
        };
        tenants.entry(tenant.clone()).or_insert_with(make).clone()
    }
}

/// Room of so many bytes; the whole room at most, so that a single large body finds its place.
async fn room(places: Arc<Semaphore>, bytes: usize, most: usize) -> Result<OwnedSemaphorePermit, AcquireError> {
    let units = bytes.min(most) / BODY_UNIT;
    places.acquire_many_owned(u32::try_from(units).unwrap_or(u32::MAX)).await
}

/// Runs blocking work that keeps its place until it ends.
pub(crate) async fn run<P: Send + 'static, T: Send + 'static>(
    place: P,
    work: impl FnOnce() -> T + Send + 'static,
) -> Answer<T> {
    let guarded = move || {
        let _place = place;
        work()
    };
    spawn_blocking(guarded).await.map_err(|failed| Problem::internal(format!("a blocking call failed: {failed}")))
}

fn busy(detail: String) -> Problem {
    Problem::new(codes::TOO_MANY_REQUESTS, detail)
}
