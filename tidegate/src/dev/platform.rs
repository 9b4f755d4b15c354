//! The composition: every part of the platform, made once and handed to those that need it.
//!
//! This is the one place that knows which store, which log and which sandbox stand behind the seams.

use std::sync::Arc;

use axum::Router;
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use tidegate_api::{ApiSettings, Services, router};
use tidegate_coordinator::Coordinator;
use tidegate_log::Log;
use tidegate_log_rocksdb::{RocksLog, RocksOptions};
use tidegate_registry::Registry;
use tidegate_sandbox::{Sandbox, SandboxConfig};
use tidegate_sink_sqlite::SqliteTables;
use tidegate_state_rocksdb::RocksBackends;
use tidegate_store::MetaStore;
use tidegate_store_sql::SqlStore;
use tidegate_tenancy::{Tenancy, TokenKeys};
use tidegate_types::Clock;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::data::DataFolder;
use super::runner::{Keeping, LEAST_INTERVAL, Runner, RunnerParts, StoredPointers};
use super::tables::TenantTables;
use crate::admission::{HostAdmission, image_key};
use crate::clock::SystemClock;
use crate::failure::{Failure, describe};

/// Where each part keeps what is its own, below the data folder.
const META_FILE: &str = "meta.db";
const TOKEN_KEYS: &str = "keys";
const IMAGE_KEY_FILE: &str = "image.key";
const LOG: &str = "log";
const ARTIFACTS: &str = "artifacts";
const TABLES: &str = "tables";
const CHECKPOINTS: &str = "checkpoints";
const STATE: &str = "state";

/// A platform that is open.
pub(super) struct Platform {
    pub(super) tenancy: Arc<Tenancy>,
    registry: Arc<Registry>,
    coordinator: Arc<Coordinator>,
    log: Arc<dyn Log>,
    tables: SqliteTables,
    store: Arc<dyn MetaStore>,
    clock: Arc<dyn Clock>,
}

impl Platform {
    /// Opens everything in the folder, and makes what is missing. Nothing runs yet.
    ///
    /// # Errors
    /// If a part cannot be opened.
    pub(super) async fn open(data: &DataFolder) -> Result<Self, Failure> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let store: Arc<dyn MetaStore> = Arc::new(SqlStore::open(&data.path(META_FILE)).await.map_err(failed)?);
        let keys = TokenKeys::load_or_create(&data.folder(TOKEN_KEYS)?).map_err(failed)?;
        let tenancy = Arc::new(Tenancy::new(Arc::clone(&store), keys, Arc::clone(&clock)));
        let log: Arc<dyn Log> = Arc::new(open_log(data).await?);
        let tables = SqliteTables::open(data.folder(TABLES)?).map_err(failed)?;
        let sandbox = Sandbox::new(SandboxConfig::default()).map_err(failed)?;
        let image_key = image_key(&data.path(IMAGE_KEY_FILE))?;
        let admission = HostAdmission::new(sandbox.clone(), image_key.clone());
        let artifacts = LocalFileSystem::new_with_prefix(data.folder(ARTIFACTS)?).map_err(failed)?;
        let artifacts: Arc<dyn ObjectStore> = Arc::new(artifacts.with_fsync(true));
        let (admission, again) = (Arc::new(admission), Arc::clone(&tenancy));
        let registry = Arc::new(Registry::new(Arc::clone(&store), artifacts, admission, again, Arc::clone(&clock)));
        let keeping = Keeping {
            store: open_checkpoints(data).await?,
            pointers: Arc::new(StoredPointers::new(Arc::clone(&store))),
            backends: Arc::new(RocksBackends::new(&tidegate_state_rocksdb::RocksOptions::default())),
            folder: data.folder(STATE)?,
            runtime: Handle::current(),
            least_interval: LEAST_INTERVAL,
        };
        let runner = Arc::new(Runner::new(RunnerParts {
            sandbox,
            image_key,
            registry: Arc::clone(&registry),
            tenancy: Arc::clone(&tenancy),
            log: Arc::clone(&log),
            tables: tables.clone(),
            clock: Arc::clone(&clock),
            keeping,
        }));
        let parts = (Arc::clone(&store), Arc::clone(&registry), Arc::clone(&tenancy));
        let coordinator = Coordinator::new(parts.0, parts.1, parts.2, runner, Arc::clone(&clock));
        Ok(Self { tenancy, registry, coordinator: Arc::new(coordinator), log, tables, store, clock })
    }

    /// Lets every job that ran run again. Gives how many there are.
    ///
    /// # Errors
    /// If the metadata cannot be read.
    pub(super) async fn resume(&self) -> Result<usize, Failure> {
        self.coordinator.resume_all().await.map_err(failed)
    }

    /// The API over it. At the stop, reads that wait for records are answered.
    pub(super) fn router(&self, stop: watch::Receiver<bool>) -> Router {
        router(Services {
            tenancy: Arc::clone(&self.tenancy),
            registry: Arc::clone(&self.registry),
            coordinator: Arc::clone(&self.coordinator),
            log: Arc::clone(&self.log),
            tables: Arc::new(TenantTables(self.tables.clone())),
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            settings: ApiSettings::default(),
            stop,
        })
    }

    /// The streams.
    pub(super) fn log(&self) -> Arc<dyn Log> {
        Arc::clone(&self.log)
    }

    /// Lets all jobs end where they are, to run again at the next start, and closes everything. What was acknowledged is
    /// on disk before this already.
    pub(super) async fn close(self) {
        self.coordinator.rest().await;
        // The log's last owner waits for its writer, so it must not be dropped on a thread that serves.
        if let Err(error) = tokio::task::spawn_blocking(move || drop(self)).await {
            tracing::error!(%error, "closing broke off");
        }
    }
}

/// Opens the log on a thread that may block: it replays its newest writes.
async fn open_log(data: &DataFolder) -> Result<RocksLog, Failure> {
    let folder = data.folder(LOG)?;
    let opened = tokio::task::spawn_blocking(move || RocksLog::open(&folder, &RocksOptions::default())).await;
    opened.map_err(failed)?.map_err(failed)
}

/// The folder of the checkpoints, without what a process that was killed left half written there.
async fn open_checkpoints(data: &DataFolder) -> Result<Arc<dyn ObjectStore>, Failure> {
    let folder = data.folder(CHECKPOINTS)?;
    let cleared = folder.clone();
    let cleared = tokio::task::spawn_blocking(move || tidegate_checkpoint::clear_staged(&cleared)).await;
    cleared.map_err(failed)?.map_err(failed)?;
    let checkpoints = LocalFileSystem::new_with_prefix(folder).map_err(failed)?;
    Ok(Arc::new(checkpoints.with_fsync(true)))
}

fn failed(error: impl std::error::Error) -> Failure {
    Failure::external(describe(&error))
}
