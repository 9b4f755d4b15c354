//! Ends a job for good because somebody wants it.
//!
//! Invariant: the wish stands in the store, with its audit entry, before anything waits for the run to end. So a process that
//! is killed meanwhile does not forget it: the next one ends the job instead of running it.

use serde_json::json;
use tidegate_store::StoreError;
use tidegate_tenancy::{AuditEntry, Caller, Permission};
use tidegate_types::TenantId;

use super::Coordinator;
use crate::decide::{Wish, cancelled_by};
use crate::error::JobError;
use crate::runner::JobKey;
use crate::view::{JobState, JobView};

/// A wish that is written down.
struct Wished {
    version: u64,
    /// Who was the first to want it.
    by: String,
}

impl Coordinator {
    /// Ends a job for good; answers once it has ended and its sinks are flushed. A job that has ended stays as it is.
    ///
    /// # Errors
    /// If there is none, the caller may not, or the store fails.
    ///
    /// # Cancel safety
    /// Once the wish is written down the job ends, whether or not this future is dropped and whether or not the process
    /// lives.
    pub async fn cancel(&self, by: &Caller, tenant: &TenantId, name: &str) -> Result<JobView, JobError> {
        by.may(Permission::CancelJob, tenant)?;
        let (key, _) = self.find(tenant, name).await?;
        if let Some(wished) = self.note_wish(by, &key).await? {
            self.let_go(&key, Wish::Cancel { by: wished.by.clone() }).await;
            self.cancel_unrun(&key, &wished).await?;
        }
        let (key, record) = self.find(tenant, name).await?;
        Ok(self.view(&key, record).await)
    }

    /// Writes down that the job is to end. None: it has ended.
    async fn note_wish(&self, by: &Caller, key: &JobKey) -> Result<Option<Wished>, JobError> {
        loop {
            // The list first: if the job that the record tells of is replaced in between, the list has changed.
            let mut live = self.records().live(&key.tenant).await?;
            let (_, record) = self.find(&key.tenant, key.name.as_str()).await?;
            if !record.state.is_live() {
                return Ok(None);
            }
            let first = live.value.cancelled.entry(key.name.to_string()).or_insert_with(|| by.subject.clone()).clone();
            let entry = AuditEntry {
                tenant: Some(key.tenant.clone()),
                action: "job.cancel",
                target: key.name.to_string(),
                detail: json!({"version": record.version}),
            };
            let audit = self.inner.tenancy.audit_changes(Some(by), &entry);
            match self.records().note_live(&key.tenant, &live, audit).await {
                // Another of the tenant's jobs changed the list in between.
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
                Ok(()) => return Ok(Some(Wished { version: record.version, by: first })),
            }
        }
    }

    /// Ends a live record without a supervisor: no process runs it, and nobody else will end it.
    async fn cancel_unrun(&self, key: &JobKey, wished: &Wished) -> Result<(), StoreError> {
        loop {
            let held = self.records().job(&key.tenant, key.name.as_str()).await?;
            let unrun = held.filter(|held| held.value.state.is_live() && held.value.version == wished.version);
            let Some(mut held) = unrun else { return Ok(()) };
            held.value.state = JobState::Cancelled;
            held.value.reason = Some(cancelled_by(&wished.by));
            held.value.ended_at = Some(self.inner.means.clock.now());
            match self.records().end(key, held).await {
                // Somebody else cancelled it at the same time.
                Err(StoreError::Conflict { .. }) => {}
                ended => return ended.map(drop),
            }
        }
    }
}
