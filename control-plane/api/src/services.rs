//! What the API is made of: the services that the composition root hands over, and what the API itself holds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use tidegate_coordinator::Coordinator;
use tidegate_log::Log;
use tidegate_registry::Registry;
use tidegate_store::MetaStore;
use tidegate_tenancy::Tenancy;
use tidegate_types::Clock;
use tokio::sync::watch;

use crate::idempotency::Sweeper;
use crate::overload::Overload;
use crate::places::Places;
use crate::rounds::Rounds;
use crate::settings::ApiSettings;
use crate::tables::Tables;

/// Everything that a request may need.
pub struct Services {
    /// Tenants, tokens, signing keys, the audit trail.
    pub tenancy: Arc<Tenancy>,
    /// Artifacts.
    pub registry: Arc<Registry>,
    /// Jobs.
    pub coordinator: Arc<Coordinator>,
    /// Streams and their records.
    pub log: Arc<dyn Log>,
    /// Result tables.
    pub tables: Arc<dyn Tables>,
    /// Where answers to idempotent requests are kept.
    pub store: Arc<dyn MetaStore>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The API's own bounds.
    pub settings: ApiSettings,
    /// Becomes true when the process is to end: reads that wait for records are answered at once.
    pub stop: watch::Receiver<bool>,
}

/// What every handler gets.
pub(crate) struct Api {
    pub(crate) services: Services,
    pub(crate) places: Places,
    pub(crate) rounds: Rounds,
    pub(crate) sweeper: Sweeper,
    pub(crate) overload: Overload,
    /// The OpenAPI document as JSON.
    pub(crate) document: Bytes,
    started_at: u64,
    requests: AtomicU64,
}

/// The handlers' state.
pub(crate) type Shared = Arc<Api>;

impl Api {
    pub(crate) fn new(services: Services, document: &utoipa::openapi::OpenApi) -> Shared {
        let started_at = services.clock.now().unsigned_abs();
        let places = Places::new(services.settings);
        Arc::new(Self {
            services,
            places,
            rounds: Rounds::default(),
            sweeper: Sweeper::default(),
            overload: Overload::default(),
            document: document.to_json().expect("a document is made of texts and numbers").into(),
            started_at,
            requests: AtomicU64::new(0),
        })
    }

    /// The id of the next request: the process's start and a number, so that it is unique in the operator's log.
    pub(crate) fn next_request_id(&self) -> String {
        format!("{:x}-{:x}", self.started_at, self.requests.fetch_add(1, Ordering::Relaxed))
    }
}
