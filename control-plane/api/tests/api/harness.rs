//! A platform in memory, and requests to it.

mod conforms;
mod fakes;
mod requests;
mod signed;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_api::{ApiSettings, Services, router};
use tidegate_coordinator::Coordinator;
use tidegate_log::{Log, MemoryLog};
use tidegate_store::{MemoryStore, MetaStore};
use tidegate_tenancy::{Tenancy, TokenKeys};
use tidegate_types::Clock;
use tower::ServiceExt;

pub(crate) use fakes::{Components, Runner, SetClock, Tables};
pub(crate) use requests::{Call, Reply, TrickleBody, delete, get, patch, post};
pub(crate) use signed::{Signer, component_of, form, upload};

/// A platform with the tenants `acme` and `bolt`.
pub(crate) struct Platform {
    pub(crate) router: axum::Router,
    pub(crate) log: Arc<dyn Log>,
    pub(crate) store: Arc<dyn MetaStore>,
    pub(crate) clock: Arc<SetClock>,
    pub(crate) tables: Arc<Tables>,
    pub(crate) runner: Arc<Runner>,
    /// Tells the API that the process is to end.
    pub(crate) stop: tokio::sync::watch::Sender<bool>,
    pub(crate) document: Value,
    /// Tokens: a platform admin, and an admin of each tenant.
    pub(crate) root: String,
    pub(crate) acme: String,
    pub(crate) bolt: String,
}

impl Platform {
    pub(crate) async fn new() -> Self {
        Self::with(ApiSettings::default()).await
    }

    pub(crate) async fn with(settings: ApiSettings) -> Self {
        let clock = Arc::new(SetClock::default());
        let time: Arc<dyn Clock> = clock.clone();
        let store: Arc<dyn MetaStore> = Arc::new(MemoryStore::new());
        let keys = TokenKeys::ephemeral().unwrap();
        let tenancy = Arc::new(Tenancy::new(store.clone(), keys, time.clone()));
        let root = tenancy.first_token("root", Duration::from_secs(86_400 * 90)).await.unwrap().token;
        let stop = tokio::sync::watch::Sender::new(false);
        let (tables, runner) = (Arc::new(Tables::default()), Arc::new(Runner::default()));
        let log: Arc<dyn Log> = Arc::new(MemoryLog::default());
        let registry = signed::registry(&store, &tenancy, &time);
        let coordinator =
            Coordinator::new(store.clone(), Arc::new(Components), tenancy.clone(), runner.clone(), time.clone());
        let router = router(Services {
            tenancy,
            registry,
            coordinator: Arc::new(coordinator),
            log: log.clone(),
            tables: tables.clone(),
            store: store.clone(),
            clock: time,
            settings,
            stop: stop.subscribe(),
        });
        let document = serde_json::from_str(&tidegate_api::openapi_json()).unwrap();
        let (acme, bolt) = (String::new(), String::new());
        let mut platform = Self { router, log, store, clock, tables, runner, stop, document, root, acme, bolt };
        platform.acme = platform.tenant("acme").await;
        platform.bolt = platform.tenant("bolt").await;
        platform
    }

    /// Makes a tenant; a token of its admin.
    pub(crate) async fn tenant(&self, name: &str) -> String {
        self.send(post("/v1/tenants").by(&self.root).json(&json!({ "name": name }))).await.has_status(201);
        self.token(name, "tenant-admin").await
    }

    /// Issues a token of a tenant.
    pub(crate) async fn token(&self, tenant: &str, role: &str) -> String {
        let call = post(&format!("/v1/tenants/{tenant}/tokens")).by(&self.root);
        let reply = self.send(call.json(&json!({ "role": role, "subject": role }))).await;
        reply.has_status(201).body()["token"].as_str().unwrap().to_owned()
    }

    /// Makes a stream of acme's.
    pub(crate) async fn stream(&self, name: &str, partitions: u32) {
        let new = json!({ "name": name, "partitions": partitions });
        self.send(post("/v1/streams").by(&self.acme).json(&new)).await.has_status(201);
    }

    /// Sends a request, and checks that the answer is one that the document has.
    pub(crate) async fn send(&self, call: Call) -> Reply {
        let (method, path) = (call.method().clone(), call.path().to_owned());
        let reply = self.send_unchecked(call).await;
        conforms::check(&self.document, &method, &path, &reply);
        reply
    }

    /// Sends a request whatever the answer is.
    pub(crate) async fn send_unchecked(&self, call: Call) -> Reply {
        let response = self.router.clone().oneshot(call.into_request()).await.unwrap();
        Reply::read(response).await
    }
}

impl Drop for Platform {
    /// Lets everything go on that a test has stopped, or its threads would keep the test from ending.
    fn drop(&mut self) {
        self.tables.gate.open();
        self.runner.gate.open();
    }
}
