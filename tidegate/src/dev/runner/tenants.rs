//! What all jobs of a tenant share: its lanes, the total of its instances' memory, and the bound of its windows' state.
//!
//! Invariant: two tenants share neither. A tenant without a running job has no lanes; those that its next job gets are as
//! many as its limit says then.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tidegate_sandbox::MemoryTotal;
use tidegate_tenancy::TenantLimits;
use tidegate_types::{Clock, TenantId};
use tidegate_worker::Lanes;

use super::states::States;

/// A tenant's share of the machine, for as long as a job of it runs.
pub(super) struct TenantHost {
    pub(super) lanes: Lanes,
    pub(super) memory: Arc<MemoryTotal>,
    /// The bytes of that total.
    pub(super) memory_bytes: u64,
    /// What its jobs' windows hold.
    pub(super) states: Arc<States>,
}

/// The hosts of all tenants that have running jobs.
pub(super) struct TenantHosts {
    clock: Arc<dyn Clock>,
    hosts: Mutex<BTreeMap<TenantId, Weak<TenantHost>>>,
}

impl TenantHosts {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, hosts: Mutex::default() }
    }

    /// The tenant's host; a new one if none of its jobs runs.
    ///
    /// # Errors
    /// If a lane's thread cannot be started.
    pub(super) fn of(&self, tenant: &TenantId, limits: &TenantLimits) -> std::io::Result<Arc<TenantHost>> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(host) = hosts.get(tenant).and_then(Weak::upgrade) {
            return Ok(host);
        }
        hosts.retain(|_, host| host.strong_count() > 0);
        let count = NonZeroU32::new(limits.lanes).unwrap_or(NonZeroU32::MIN);
        let lanes = Lanes::start(&format!("{tenant}-"), count, Some(&self.clock))?;
        let memory = MemoryTotal::new(usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX));
        let states = States::new(Arc::clone(&memory), limits.memory_bytes);
        let host = Arc::new(TenantHost { lanes, memory, memory_bytes: limits.memory_bytes, states });
        hosts.insert(tenant.clone(), Arc::downgrade(&host));
        Ok(host)
    }

    /// Tenants that have lanes.
    #[cfg(test)]
    pub(super) fn running(&self) -> usize {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.values().filter(|host| host.strong_count() > 0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    #[test]
    fn jobs_of_one_tenant_share_lanes_and_tenants_do_not() {
        let hosts = TenantHosts::new(Arc::new(SystemClock));
        let limits = TenantLimits { lanes: 3, memory_bytes: 1 << 20, ..TenantLimits::default() };
        let (acme, other) = ("acme".parse().expect("a name"), "other".parse().expect("a name"));
        let first = hosts.of(&acme, &limits).expect("threads");
        let second = hosts.of(&acme, &limits).expect("threads");
        let others = hosts.of(&other, &limits).expect("threads");
        assert!(Arc::ptr_eq(&first, &second) && !Arc::ptr_eq(&first, &others));
        assert_eq!(first.lanes.count(), 3);
        drop((first, second));
        let limits = TenantLimits { lanes: 1, ..limits };
        let next = hosts.of(&acme, &limits).expect("threads");
        assert_eq!(next.lanes.count(), 1, "new lanes are as many as the limit says now");
    }
}
