//! Places: how much is done at once, over all tenants and for each.
//!
//! Log and tables block, so their calls run on tokio's blocking threads. Invariant: a tenant has at most its own places
//! there, held until the call itself has ended (also when the request was given up), so that one tenant's slow or many
//! calls leave threads for the others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tidegate_types::TenantId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::problem::{Answer, Problem, codes};
use crate::settings::ApiSettings;

/// All places.
pub(crate) struct Places {
    settings: ApiSettings,
    requests: Arc<Semaphore>,
    waits: Arc<Semaphore>,
    /// One entry for each tenant that has asked since the process started.
    tenants: Mutex<BTreeMap<TenantId, TenantPlaces>>,
}

#[derive(Clone)]
struct TenantPlaces {
    calls: Arc<Semaphore>,
    waits: Arc<Semaphore>,
    making: Arc<Mutex<()>>,
}

impl Places {
    pub(crate) fn new(settings: ApiSettings) -> Self {
        Self {
            settings,
            requests: Arc::new(Semaphore::new(settings.requests)),
            waits: Arc::new(Semaphore::new(settings.waits)),
            tenants: Mutex::default(),
        }
    }

    /// A place for a request.
    pub(crate) fn enter(&self) -> Answer<OwnedSemaphorePermit> {
        let full = |_| Problem::new(codes::OVERLOADED, "every place for a request is taken");
        Arc::clone(&self.requests).try_acquire_owned().map_err(full)
    }

    /// Makes a blocking call for a tenant.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        tenant: &TenantId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        let places = Arc::clone(&self.of(tenant).calls);
        let Ok(Ok(place)) = timeout(self.settings.queue_timeout, places.acquire_owned()).await else {
            let most = self.settings.calls_per_tenant;
            return Err(busy(format!("the tenant has {most} calls to the log and its tables running")));
        };
        run(place, work).await
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
            calls: Arc::new(Semaphore::new(self.settings.calls_per_tenant)),
            waits: Arc::new(Semaphore::new(self.settings.waits_per_tenant)),
            making: Arc::default(),
        };
        tenants.entry(tenant.clone()).or_insert_with(make).clone()
    }
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
