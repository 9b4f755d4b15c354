//! Turns of tenants that compile again: one at a time for each, the others wait without a thread.
//!
//! Invariant: a tenant never has more than one turn, so however many of its jobs come at once, they hold one blocking thread.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tidegate_types::TenantId;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// The turns. A tenant for which nobody waits is forgotten with the next one that comes.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    tenants: Mutex<BTreeMap<TenantId, Weak<Turn<()>>>>,
}

impl Turns {
    /// Waits for the tenant's turn, in the order in which its jobs came; it ends when the value is dropped.
    pub(crate) async fn take(&self, tenant: &TenantId) -> OwnedMutexGuard<()> {
        self.of(tenant).lock_owned().await
    }

    fn of(&self, tenant: &TenantId) -> Arc<Turn<()>> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = tenants.get(tenant).and_then(Weak::upgrade) {
            return turn;
        }
        tenants.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        tenants.insert(tenant.clone(), Arc::downgrade(&turn));
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_tenant_has_one_turn_and_keeps_nobody_else_waiting() {
        let turns = Turns::default();
        let [acme, other]: [TenantId; 2] = ["acme", "other"].map(|name| name.parse().unwrap());
        let first = turns.take(&acme).await;
        assert!(turns.of(&acme).try_lock().is_err());
        let _other = turns.take(&other).await;
        drop(first);
        let _second = turns.take(&acme).await;
    }
}
