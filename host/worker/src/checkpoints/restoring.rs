//! A job that goes on from its newest checkpoint: its state fetched, opened and read, by key groups, at any parallelism.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use tidegate_checkpoint::{CheckpointError, CheckpointStore, Manifest, checkpoint_folder};
use tidegate_connectors::SourcePosition;
use tidegate_dataflow::{Account, Job, SubtaskState};
use tidegate_state::{StateBackend, StateBackends, StateError};
use tidegate_types::batch::index32;
use tidegate_types::stored::{Malformed, Stored};
use tidegate_types::{Clock, EventTime};

use super::board::{CheckpointBoard, RestorePhases, RestoredFrom};
use super::remove_folder;

/// What a run begins with.
pub struct Restored {
    /// The checkpoint that it was restored from; none: it begins at the start.
    pub from: Option<u64>,
    /// The highest number that a checkpoint had; 0: there was none.
    pub last: u64,
    /// The account up to there.
    pub account: Account,
    /// When that was taken.
    pub taken_at: EventTime,
    /// Where reading goes on; none: at the start.
    pub position: Option<SourcePosition>,
    /// The transactions that its outputs had prepared, by the outputs' names.
    pub prepared: BTreeMap<String, Vec<u8>>,
    /// Whether everything had been read and written: there is nothing to run.
    pub finished: bool,
    /// Each subtask's backend.
    pub(super) backends: Vec<(SubtaskState, Box<dyn StateBackend>)>,
}

/// Why a job cannot go on from its checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// It cannot be fetched.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// It cannot be opened.
    #[error(transparent)]
    State(#[from] StateError),
    /// What is in it is not what this release writes.
    #[error("operator `{part}`")]
    Malformed {
        /// Which part of the job.
        part: String,
        /// What is wrong.
        source: Malformed,
    },
    /// The pipeline has other key groups.
    #[error(
        "the job's state has {stored} key groups and the pipeline {now}; `max_parallelism` is fixed for the life of the state"
    )]
    Groups {
        /// Of the state.
        stored: u32,
        /// Of the pipeline.
        now: u32,
    },
}

/// Where state is and goes.
pub struct Places<'a> {
    /// Makes backends.
    pub backends: &'a dyn StateBackends,
    /// Below it are the job's backends and snapshots on this machine, those of earlier runs too.
    pub folder: &'a Path,
    /// The wall clock.
    pub clock: &'a dyn Clock,
}

/// Gives a fresh job the state of its newest checkpoint that is whole, if there is one. A damaged one is named, and the one
/// before it is used.
///
/// # Errors
/// If there is one that cannot be restored. The job MUST NOT be used then.
pub fn restore(
    job: &mut Job,
    store: &mut CheckpointStore,
    places: &Places<'_>,
    board: &CheckpointBoard,
) -> Result<Restored, RestoreError> {
    job.keep_changes();
    let mut timer = Timer { clock: places.clock, phases: RestorePhases::default() };
    loop {
        let Some(manifest) = timer.of(|phases| &mut phases.assign_ms, || store.latest())? else {
            return fresh(job, places);
        };
        // Everything is fetched and opened before the job is touched, so that another checkpoint can be tried.
        let opened = match open_all(job, store, places, &manifest, &mut timer) {
            Ok(opened) => opened,
            Err(RestoreError::Checkpoint(error @ CheckpointError::Damaged { .. })) => {
                tracing::error!(checkpoint = manifest.checkpoint, %error, "a checkpoint is damaged; the one before it is used");
                store.set_aside(&manifest, &error);
                continue;
            }
            Err(error) => return Err(error),
        };
        let restored = of_manifest(job, &manifest, opened, &mut timer);
        if matches!(restored, Err(RestoreError::State(_))) {
            // What is on this machine is damaged: the next start takes what is in the store.
            forget_others(places.folder, None);
        }
        let restored = restored?;
        let (checkpoint, taken_at) = (manifest.checkpoint, manifest.taken_at);
        board.restored(RestoredFrom { checkpoint, taken_at, phases: timer.phases });
        forget_others(places.folder, Some(manifest.checkpoint));
        return Ok(restored);
    }
}

/// Nothing was kept: empty backends.
fn fresh(job: &Job, places: &Places<'_>) -> Result<Restored, RestoreError> {
    let mut backends = Vec::new();
    for state in job.subtasks() {
        let folder = places.folder.join(live(&state));
        backends.push((state, places.backends.create(&folder)?));
    }
    let (account, prepared) = (Account::default(), BTreeMap::new());
    Ok(Restored { from: None, last: 0, taken_at: 0, account, position: None, prepared, finished: false, backends })
}

type Opened = Vec<(SubtaskState, Box<dyn StateBackend>)>;

/// Fetches and opens the state of every subtask.
fn open_all(
    job: &Job,
    store: &CheckpointStore,
    places: &Places<'_>,
    manifest: &Manifest,
    timer: &mut Timer<'_>,
) -> Result<Opened, RestoreError> {
    if manifest.max_parallelism != job.max_parallelism {
        return Err(RestoreError::Groups { stored: manifest.max_parallelism, now: job.max_parallelism });
    }
    if manifest.finished {
        return Ok(Vec::new());
    }
    let mut opened = Vec::new();
    for state in job.subtasks() {
        let backend = open(store, places, manifest, &state, timer)?;
        opened.push((state, backend));
    }
    Ok(opened)
}

/// Fetches a subtask's state and opens it.
fn open(
    store: &CheckpointStore,
    places: &Places<'_>,
    manifest: &Manifest,
    state: &SubtaskState,
    timer: &mut Timer<'_>,
) -> Result<Box<dyn StateBackend>, RestoreError> {
    let into = places.folder.join(format!("{}.fetched", live(state)));
    let groups = state.groups.clone();
    remove_folder(&into);
    let fetch = || store.fetch(manifest, &state.operator, groups.clone(), &into, Some(places.folder));
    let parts = timer.of(|phases| &mut phases.download_ms, fetch)?;
    tidegate_faults::reach("restore.open.before");
    let folder = places.folder.join(live(state));
    let backend =
        timer.of(|phases| &mut phases.open_ms, || places.backends.restore(&folder, &parts, groups.clone()))?;
    tidegate_faults::reach("restore.open.after");
    remove_folder(&into);
    Ok(backend)
}

/// Gives the job what a checkpoint has.
fn of_manifest(
    job: &mut Job,
    manifest: &Manifest,
    opened: Opened,
    timer: &mut Timer<'_>,
) -> Result<Restored, RestoreError> {
    let malformed = |part: &str| {
        let part = part.to_owned();
        move |source| RestoreError::Malformed { part, source }
    };
    let account = Account::restore(&mut Stored::new(&manifest.account)).map_err(malformed("account"))?;
    let prepared = manifest.sinks.iter().filter_map(|sink| Some((sink.name.clone(), sink.prepared.clone()?))).collect();
    let mut restored = Restored {
        from: Some(manifest.checkpoint),
        last: manifest.next_checkpoint() - 1,
        taken_at: manifest.taken_at,
        account,
        position: None,
        prepared,
        finished: manifest.finished,
        backends: opened,
    };
    if manifest.finished {
        return Ok(restored);
    }
    restored.position = job.restore_source(&manifest.source).map_err(malformed("source"))?;
    for (state, backend) in &restored.backends {
        let of_operator = manifest.operators.iter().filter(|part| *part.operator == *state.operator);
        let heads: Vec<&[u8]> = of_operator.map(|part| part.head.as_slice()).collect();
        job.restore_heads(state.of, &heads).map_err(malformed(&state.operator))?;
        let warmed = timer.of(|phases| &mut phases.warm_ms, || warm(job, state, &**backend));
        warmed?.map_err(malformed(&state.operator))?;
    }
    Ok(restored)
}

/// Reads a subtask's entries into its operator.
fn warm(job: &mut Job, state: &SubtaskState, backend: &dyn StateBackend) -> Result<Result<(), Malformed>, StateError> {
    let mut read = Ok(());
    backend.scan(&[], None, &mut |key, value| {
        read = job.restore_entry(state.of, key, value);
        if read.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(read.and_then(|()| job.restored(state.of)))
}

/// Removes the snapshots of all checkpoints but this one from this machine.
fn forget_others(folder: &Path, checkpoint: Option<u64>) {
    let kept = checkpoint.map(|checkpoint| checkpoint_folder(folder, checkpoint));
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_snapshot = entry.file_name().to_str().is_some_and(|name| name.starts_with("chk-"));
        if is_snapshot && Some(entry.path()) != kept {
            remove_folder(&entry.path());
        }
    }
}

/// The name of a subtask's backend below the run's folder.
fn live(state: &SubtaskState) -> String {
    format!("live-{}-{}", state.of.operator, index32(state.of.subtask))
}

/// Takes the time of the parts of a restore.
struct Timer<'a> {
    clock: &'a dyn Clock,
    phases: RestorePhases,
}

impl Timer<'_> {
    fn of<T>(&mut self, phase: impl FnOnce(&mut RestorePhases) -> &mut i64, work: impl FnOnce() -> T) -> T {
        let start = self.clock.now();
        let done = work();
        *phase(&mut self.phases) += self.clock.now().saturating_sub(start);
        done
    }
}
