//! One submission of a tenant at a time: the next one waits, whatever holds the first.
//!
//! A submission reads every component of its pipeline into memory to open its hooks. A tenant may have many requests in
//! flight; with turns it holds the memory of one submission, and its own others wait for it, nobody else's. Invariant: a
//! tenant that has no submission has no entry here.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tidegate_types::TenantId;
use tokio::sync::OwnedMutexGuard;

/// The turns of all tenants.
#[derive(Default)]
pub(super) struct Turns {
    of: Mutex<BTreeMap<TenantId, Arc<tokio::sync::Mutex<()>>>>,
}

/// A submission's turn, until it is dropped.
pub type Turn = OwnedMutexGuard<()>;

impl Turns {
    /// Waits for a turn of this tenant. First come, first served.
    pub(super) async fn wait(&self, tenant: &TenantId) -> Turn {
        let turn = {
            let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
            of.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(of.entry(tenant.clone()).or_default())
        };
        turn.lock_owned().await
    }
}
