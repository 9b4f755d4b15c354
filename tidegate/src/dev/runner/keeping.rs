//! What keeps a job's state beyond its run: where its checkpoints go, and how a start goes on from them.
//!
//! Everything here blocks, and runs on a thread that may. Below the data folder a job's version has one folder for its backends
//! and snapshots; nothing in it is needed that the object store does not have.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use tidegate_checkpoint::{CheckpointError, CheckpointStore, JobPlace, Pointers, StoreOptions};
use tidegate_connectors::SourcePosition;
use tidegate_coordinator::{EndedJob, JobKey, StartError, StartJob, streams_written};
use tidegate_dataflow::Job;
use tidegate_log::{ErrorKind, Log, LogError, StreamId, StreamInfo};
use tidegate_pipeline::Pipeline;
use tidegate_state::StateBackends;
use tidegate_types::{Clock, Millis};
use tidegate_worker::{
    CheckpointBoard, CheckpointSettings, Checkpointing, KEPT_CHECKPOINTS, Places, RestoreError, Restored,
    remove_folder, restore,
};
use tokio::runtime::Handle;

use super::reasons::lost;
use crate::failure::describe;

/// A checkpoint that has not come after so many intervals is given up, but not before a minute.
const INTERVALS_BEFORE_TIMEOUT: u32 = 20;
const SHORTEST_TIMEOUT: Duration = Duration::from_secs(60);

/// What jobs' states are kept with.
pub(in crate::dev) struct Keeping {
    /// Where checkpoints go.
    pub(in crate::dev) store: Arc<dyn ObjectStore>,
    /// Which of them count.
    pub(in crate::dev) pointers: Arc<dyn Pointers>,
    /// Makes the backends of running jobs.
    pub(in crate::dev) backends: Arc<dyn StateBackends>,
    /// Where these are on this machine.
    pub(in crate::dev) folder: PathBuf,
    /// Where the store's calls are waited for.
    pub(in crate::dev) runtime: Handle,
    /// However often a pipeline asks for checkpoints, there is so much time between two: each costs the disk and the metadata
    /// store something, which all tenants share.
    pub(in crate::dev) least_interval: Duration,
}

/// What a platform keeps between two checkpoints of a job.
pub(in crate::dev) const LEAST_INTERVAL: Duration = Duration::from_millis(100);

/// A job that has its state again.
pub(super) struct Kept {
    pub(super) restored: Restored,
    pub(super) board: Arc<CheckpointBoard>,
    store: CheckpointStore,
    folder: PathBuf,
    least_interval: Duration,
}

impl Keeping {
    /// Takes over the checkpoints of a job, and gives a fresh job the state of the newest one.
    pub(super) fn restore(&self, start: &StartJob, job: &mut Job, clock: &dyn Clock) -> Result<Kept, StartError> {
        let place = place(&start.key, start.version);
        let folder = self.folder_of(&place);
        let mut store = self.open(place, start.restore_epoch).map_err(|error| not_opened(start, &error))?;
        let board = Arc::<CheckpointBoard>::default();
        let places = Places { backends: &*self.backends, folder: &folder, clock };
        let restored = restore(job, &mut store, &places, &board).map_err(|error| not_restored(start, &error))?;
        Ok(Kept { restored, board, store, folder, least_interval: self.least_interval })
    }

    /// Takes over a job's checkpoints.
    fn open(&self, place: JobPlace, epoch: u64) -> Result<CheckpointStore, CheckpointError> {
        let options = StoreOptions { keep: KEPT_CHECKPOINTS, ..StoreOptions::default() };
        let (store, pointers) = (Arc::clone(&self.store), Arc::clone(&self.pointers));
        CheckpointStore::open(store, pointers, self.runtime.clone(), place, epoch, options)
    }

    /// Lets go of what a job has left that has ended for good.
    pub(super) fn discard(&self, ended: &EndedJob, log: &dyn Log) -> Result<(), StartError> {
        let failed = |error: LogError| {
            tracing::error!(job = %ended.key, error = describe(&error), "what a job has left in streams stays");
            lost("what it has left in streams cannot be let go of now")
        };
        let stream = |name: &str| name.parse().ok().map(|name| StreamId { tenant: ended.key.tenant.clone(), name });
        let pipeline = &ended.pipeline.pipeline;
        for stream in pipeline.logs_read().into_iter().filter_map(|(_, name)| stream(name)) {
            gone_is_fine(log.hold(&stream, &holder(&ended.key), None)).map_err(failed)?;
        }
        for stream in streams_written(pipeline).into_iter().filter_map(|(_, name)| stream(&name)) {
            gone_is_fine(abort_all(log, &stream, &format!("{}/", ended.key.name))).map_err(failed)?;
        }
        let place = place(&ended.key, ended.version);
        remove_folder(&self.folder_of(&place));
        if ended.keeps_checkpoints || ended.starts == 0 {
            return Ok(());
        }
        let deleted = self.open(place, ended.starts).and_then(|mut store| store.delete_all());
        deleted.map_err(|error| {
            tracing::error!(job = %ended.key, error = describe(&error), "a job's checkpoints stay");
            lost("its checkpoints cannot be deleted now")
        })
    }

    fn folder_of(&self, place: &JobPlace) -> PathBuf {
        self.folder.join(&place.tenant).join(&place.job).join(format!("v{}", place.version))
    }
}

/// Aborts what the writers of a job have staged.
fn abort_all(log: &dyn Log, stream: &StreamId, of_job: &str) -> Result<(), LogError> {
    for staged in log.transactions(stream)? {
        if staged.id.writer.starts_with(of_job) {
            log.abort_transaction(stream, &staged.id)?;
        }
    }
    Ok(())
}

/// A stream that was deleted has nothing left.
fn gone_is_fine(done: Result<(), LogError>) -> Result<(), LogError> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Under which name a job holds what its checkpoints need of its input.
pub(super) fn holder(job: &JobKey) -> String {
    format!("job:{}", job.name)
}

impl Kept {
    /// What the run takes its checkpoints with.
    pub(super) fn checkpointing(
        self,
        pipeline: &Pipeline,
        holder: String,
        log: Arc<dyn Log>,
        clock: Arc<dyn Clock>,
    ) -> Checkpointing {
        let checkpoint = pipeline.checkpointing();
        let interval = duration(checkpoint.interval).max(self.least_interval);
        let settings = CheckpointSettings {
            interval,
            timeout: interval.saturating_mul(INTERVALS_BEFORE_TIMEOUT).max(SHORTEST_TIMEOUT),
            tolerable_failures: checkpoint.tolerable_failures,
        };
        let Self { restored, board, store, folder, .. } = self;
        let release = Box::new(move |position: &SourcePosition| hold(&*log, &holder, position));
        Checkpointing { store, restored, folder, settings, board, clock, release }
    }
}

/// A job that has no checkpoint yet begins again where it begins now: nothing from there on may be dropped.
pub(super) fn hold_beginning(log: &dyn Log, holder: &str, inputs: &[StreamInfo]) -> Result<(), LogError> {
    for input in inputs {
        let starts: Vec<u64> = input.partitions.iter().map(|partition| partition.start).collect();
        log.hold(&input.id, holder, Some(&starts))?;
    }
    Ok(())
}

/// Of each stream the least offset of each partition: several sources may read one.
fn least_offsets(sources: Vec<(StreamId, Vec<u64>)>) -> BTreeMap<StreamId, Vec<u64>> {
    let mut least: BTreeMap<StreamId, Vec<u64>> = BTreeMap::new();
    for (stream, offsets) in sources {
        let held = least.entry(stream).or_insert_with(|| offsets.clone());
        held.iter_mut().zip(&offsets).for_each(|(held, offset)| *held = (*held).min(*offset));
    }
    least
}

/// Nothing at or behind this position may be dropped from the streams.
fn hold(log: &dyn Log, holder: &str, position: &SourcePosition) {
    let Ok(streams) = position.next_offsets() else { return };
    for (stream, offsets) in least_offsets(streams) {
        if let Err(error) = log.hold(&stream, holder, Some(&offsets)) {
            tracing::warn!(%stream, holder, %error, "what the job's checkpoints need of the stream cannot be noted");
        }
    }
}

fn place(job: &JobKey, version: u64) -> JobPlace {
    JobPlace { tenant: job.tenant.to_string(), job: job.name.to_string(), version }
}

fn duration(millis: Millis) -> Duration {
    Duration::from_millis(u64::try_from(millis.0).unwrap_or(0))
}

fn not_opened(start: &StartJob, error: &CheckpointError) -> StartError {
    tracing::error!(job = %start.key, error = describe(error), "the job's checkpoints cannot be opened");
    match error {
        CheckpointError::Fenced { .. } => lost("a later start of it owns its checkpoints"),
        _ => lost("its checkpoints cannot be read now"),
    }
}

fn not_restored(start: &StartJob, error: &RestoreError) -> StartError {
    tracing::error!(job = %start.key, error = describe(error), "the job's state cannot be restored");
    match error {
        RestoreError::Checkpoint(CheckpointError::NoneUsable { .. }) => {
            StartError::Invalid { path: "checkpoint".into(), reason: error.to_string() }
        }
        RestoreError::Groups { .. } => {
            StartError::Invalid { path: "max_parallelism".into(), reason: error.to_string() }
        }
        RestoreError::Malformed { .. } | RestoreError::Checkpoint(_) | RestoreError::State(_) => {
            lost("its state cannot be restored from its newest checkpoint now")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_stream_that_is_read_twice_the_slower_reader_counts() {
        let stream =
            |name: &str| StreamId { tenant: "acme".parse().expect("a name"), name: name.parse().expect("a name") };
        let sources = vec![(stream("a"), vec![5, 9]), (stream("b"), vec![1]), (stream("a"), vec![7, 2])];
        let least: Vec<_> = least_offsets(sources).into_iter().collect();
        assert_eq!(least, [(stream("a"), vec![5, 2]), (stream("b"), vec![1])]);
    }
}
