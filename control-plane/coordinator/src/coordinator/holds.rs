//! What a tenant's jobs use, held still: whoever takes something away looks first whether a job needs it.
//!
//! Invariant: while the [`Turn`] that was given lives, no submission of the tenant is accepted, so no job begins to use what
//! was found unused.

use tidegate_types::TenantId;

use super::{Coordinator, Turn};
use crate::error::JobError;
use crate::record::JobRecord;

impl Coordinator {
    /// Holds a stream that no live job reads or writes.
    ///
    /// # Errors
    /// [`JobError::StreamInUse`] with the first job that does; if the store fails.
    pub async fn hold_stream(&self, tenant: &TenantId, stream: &str) -> Result<Turn, JobError> {
        let turn = self.inner.turns.wait(tenant).await;
        for job in self.live_records(tenant).await? {
            let does = if job.streams.reads(stream) {
                "reads"
            } else if job.streams.writes(stream) {
                "writes"
            } else {
                continue;
            };
            return Err(JobError::StreamInUse { stream: stream.to_owned(), job: job.name, does });
        }
        Ok(turn)
    }

    /// Holds a tenant that has no live job.
    ///
    /// # Errors
    /// [`JobError::JobsRun`] with one that it has; if the store fails.
    pub async fn hold_tenant(&self, tenant: &TenantId) -> Result<Turn, JobError> {
        let turn = self.inner.turns.wait(tenant).await;
        let live = self.records().live(tenant).await?.value.jobs;
        match live.keys().next() {
            Some(job) => {
                let (tenant, job, count) = (tenant.to_string(), job.clone(), live.len());
                Err(JobError::JobsRun { tenant, job, count })
            }
            None => Ok(turn),
        }
    }

    async fn live_records(&self, tenant: &TenantId) -> Result<Vec<JobRecord>, JobError> {
        let mut records = Vec::new();
        for name in self.records().live(tenant).await?.value.jobs.keys() {
            records.extend(self.records().job(tenant, name).await?.map(|held| held.value));
        }
        Ok(records)
    }
}
