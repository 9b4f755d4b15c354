//! The service over a store in memory, with a clock that the tests set.

mod audit;
mod forged;
mod keys;
mod permissions;
mod tenants;
mod tokens;

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tidegate_store::MemoryStore;

use super::*;
use crate::{IssuedToken, Role, TenantLimits};

/// 2026-01-01T00:00:00Z.
const START: EventTime = 1_767_225_600_000;
const HOUR: Duration = Duration::from_secs(3_600);

struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now(&self) -> EventTime {
        self.0.load(Ordering::Relaxed)
    }
}

/// A platform with two tenants, `acme` and `other`, and a platform admin.
struct World {
    tenancy: Tenancy,
    clock: Arc<SetClock>,
    admin: Caller,
}

impl World {
    async fn new() -> Self {
        let clock = Arc::new(SetClock(AtomicI64::new(START)));
        let keys = TokenKeys::ephemeral().expect("a key");
        let tenancy = Tenancy::new(Arc::new(MemoryStore::new()), keys, Arc::clone(&clock) as Arc<dyn Clock>);
        let first = tenancy.first_token("root", HOUR * 24).await.expect("a first token");
        let admin = tenancy.authenticate(&first.token).await.expect("it counts");
        for name in ["acme", "other"] {
            tenancy.create_tenant(&admin, &id(name), TenantLimits::default()).await.expect("a new tenant");
        }
        Self { tenancy, clock, admin }
    }

    async fn token(&self, tenant: &str, role: Role) -> IssuedToken {
        let issued = self.tenancy.issue_token(&self.admin, Some(&id(tenant)), role, "somebody", HOUR).await;
        issued.expect("a platform admin may")
    }

    async fn caller(&self, tenant: &str, role: Role) -> Caller {
        let issued = self.token(tenant, role).await;
        self.tenancy.authenticate(&issued.token).await.expect("it counts")
    }

    fn set_clock(&self, now: EventTime) {
        self.clock.0.store(now, Ordering::Relaxed);
    }
}

fn id(name: &str) -> TenantId {
    name.parse().expect("a tenant's name")
}

fn is_missing<T: std::fmt::Debug>(answer: &Result<T, TenancyError>) -> bool {
    matches!(answer, Err(TenancyError::NotFound { .. }))
}

fn is_forbidden<T: std::fmt::Debug>(answer: &Result<T, TenancyError>) -> bool {
    matches!(answer, Err(TenancyError::Forbidden(_)))
}
