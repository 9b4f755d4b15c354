//! The thread that takes a job's checkpoints: it asks for one now and then, writes what the tasks hand over into each subtask's
//! backend, and saves the whole once everybody has answered.
//!
//! One checkpoint is under way at a time. What was handed over is written into the backends even if its checkpoint comes to
//! nothing, so that the next one is whole. Invariant: tasks hear that a checkpoint is complete only after it is saved for good.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, mpsc};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use tidegate_checkpoint::CheckpointStore;
use tidegate_connectors::SourcePosition;
use tidegate_dataflow::SubtaskState;
use tidegate_dataflow::checkpoint::{Checkpoints, HandOver, Handed, SubtaskId};
use tidegate_state::{Changes, StateBackend};
use tidegate_types::{Clock, EventTime};

use crate::run::RunError;
use crate::state::{Early, RunState};

mod board;
mod failure;
mod restoring;
mod saving;

pub use board::{CheckpointBoard, CheckpointStatus, Completed, RestorePhases, RestoredFrom};
pub use failure::{Failure, KeepError};
pub use restoring::{Places, RestoreError, Restored, restore};

/// How often a failed last checkpoint is tried again.
const LAST_AGAIN: Duration = Duration::from_secs(1);

/// The clock is looked at this often, whatever it said before, ms.
const LONGEST_WAIT_MS: i64 = 10_000;

/// When checkpoints are taken.
#[derive(Debug, Clone, Copy)]
pub struct CheckpointSettings {
    /// From the start of one to the start of the next.
    pub interval: Duration,
    /// One that has not come so far is given up.
    pub timeout: Duration,
    /// So many failures in a row are borne; the next one fails the run. None: any number.
    pub tolerable_failures: Option<u32>,
}

/// What a run needs to take checkpoints.
pub struct Checkpointing {
    /// Where they go. It has been opened for this run.
    pub store: CheckpointStore,
    /// What the run began with.
    pub restored: Restored,
    /// Below it are the job's backends and snapshots on this machine.
    pub folder: PathBuf,
    /// When.
    pub settings: CheckpointSettings,
    /// Where it shows how it goes.
    pub board: Arc<CheckpointBoard>,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Is told from where on the source may be read again: as soon as no kept checkpoint begins before.
    pub release: Box<dyn FnMut(&SourcePosition) + Send>,
}

/// So many checkpoints are kept, the newest among them.
pub const KEPT_CHECKPOINTS: usize = 3;

/// A checkpoint that is under way.
struct UnderWay {
    checkpoint: u64,
    since: EventTime,
    source: Option<Vec<u8>>,
    /// The heads of those subtasks that have handed over all changes.
    heads: BTreeMap<SubtaskId, Vec<u8>>,
    sinks: Option<(Sinks, EventTime)>,
}

/// What the sinks have handed over.
#[derive(Clone, PartialEq, Eq)]
struct Sinks {
    prepared: Vec<Option<Vec<u8>>>,
    account: Vec<u8>,
}

/// All of a checkpoint but what is in the backends.
#[derive(PartialEq, Eq)]
struct Whole {
    source: Vec<u8>,
    heads: BTreeMap<SubtaskId, Vec<u8>>,
    sinks: Sinks,
}

/// The thread's state.
struct Taker {
    store: CheckpointStore,
    backends: BTreeMap<SubtaskId, (SubtaskState, Box<dyn StateBackend>)>,
    folder: PathBuf,
    settings: CheckpointSettings,
    board: Arc<CheckpointBoard>,
    clock: Arc<dyn Clock>,
    checkpoints: Arc<Checkpoints>,
    max_parallelism: u32,
    sinks: Vec<String>,
    under_way: Option<UnderWay>,
    /// When the next one is due.
    next_at: EventTime,
    /// Whether the source sends no barrier any more.
    source_ended: bool,
    /// What is in the last checkpoint, which could not be saved yet.
    last: Option<Sinks>,
    /// What was saved last, unless a backend has changed since.
    saved: Option<Whole>,
    failures_in_a_row: u32,
    /// The newest checkpoint, whose snapshots are kept on this machine.
    local: Option<u64>,
    /// Where the checkpoints begin that are kept, as far as they are known, the oldest first.
    begins: VecDeque<(EventTime, Option<SourcePosition>)>,
    release: Box<dyn FnMut(&SourcePosition) + Send>,
}

/// What the thread is told about the job.
pub(crate) struct AboutJob {
    pub(crate) checkpoints: Arc<Checkpoints>,
    pub(crate) max_parallelism: u32,
    /// What each output is called, in order.
    pub(crate) sinks: Vec<String>,
}

/// Starts the thread. It ends once all tasks are gone.
pub(crate) fn start(
    checkpointing: Checkpointing,
    about: AboutJob,
    handed: Receiver<Handed>,
    run: Arc<RunState>,
) -> std::io::Result<JoinHandle<()>> {
    let Checkpointing { store, restored, folder, settings, board, clock, release } = checkpointing;
    let AboutJob { checkpoints, max_parallelism, sinks } = about;
    let local = restored.from;
    let backends = restored.backends.into_iter().map(|(state, backend)| (state.of, (state, backend))).collect();
    let next_at = clock.now().saturating_add(millis(settings.interval));
    let mut taker = Taker {
        store,
        backends,
        folder,
        settings,
        board,
        clock,
        checkpoints,
        max_parallelism,
        sinks,
        under_way: None,
        next_at,
        source_ended: false,
        last: None,
        saved: None,
        failures_in_a_row: 0,
        local,
        begins: restored.from.map(|_| (restored.taken_at, restored.position)).into_iter().collect(),
        release,
    };
    Builder::new().name("checkpoints".into()).spawn(move || {
        let _guard = EndsWithThread(Arc::clone(&run));
        if let Err(error) = taker.take(&handed) {
            run.end(Early::Failed(RunError::Keep(error)));
            // Until all tasks are gone, what they hand over goes nowhere.
            for handed in handed.iter() {
                taker.let_go(&handed);
            }
        }
    })
}

/// A run does not outlive the thread that keeps its state.
struct EndsWithThread(Arc<RunState>);

impl Drop for EndsWithThread {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(Early::Failed(RunError::Panicked));
        }
    }
}

/// A job's way to the thread, and the thread's end of it.
pub(crate) fn hand_over(
    last: u64,
    signal: &Arc<tidegate_dataflow::channel::Signal>,
) -> (HandOver, Arc<Checkpoints>, Receiver<Handed>) {
    let checkpoints = Checkpoints::new(last, signal);
    let (sender, receiver) = mpsc::channel();
    (HandOver::new(Arc::clone(&checkpoints), sender), checkpoints, receiver)
}

impl Taker {
    /// Takes checkpoints until no task is left.
    fn take(&mut self, handed: &Receiver<Handed>) -> Result<(), KeepError> {
        loop {
            match handed.recv_timeout(self.wait()) {
                Ok(handed) => self.took(handed)?,
                Err(RecvTimeoutError::Timeout) => self.is_time()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// How long nothing has to be done unless something is handed over.
    fn wait(&self) -> Duration {
        let until = match &self.under_way {
            Some(under_way) => under_way.since.saturating_add(millis(self.settings.timeout)),
            // Until the tasks are gone nothing is due.
            None if self.source_ended && self.last.is_none() => EventTime::MAX,
            None => self.next_at,
        };
        let left = until.saturating_sub(self.clock.now()).clamp(0, LONGEST_WAIT_MS);
        Duration::from_millis(left.unsigned_abs())
    }

    /// A checkpoint is due, or the one under way has taken too long.
    fn is_time(&mut self) -> Result<(), KeepError> {
        let now = self.clock.now();
        // A clock that was set back must not put the next one off.
        self.next_at = self.next_at.min(now.saturating_add(millis(self.settings.interval)));
        if let Some(under_way) = &self.under_way {
            if now < under_way.since.saturating_add(millis(self.settings.timeout)) {
                return Ok(());
            }
            let checkpoint = under_way.checkpoint;
            self.under_way = None;
            return self.failed(checkpoint, Failure::Late { seconds: self.settings.timeout.as_secs() });
        }
        if now < self.next_at {
            return Ok(());
        }
        if let Some(sinks) = self.last.take() {
            return self.save_last(sinks);
        }
        if self.source_ended {
            return Ok(());
        }
        self.next_at = now.saturating_add(millis(self.settings.interval));
        let checkpoint = self.checkpoints.wanted() + 1;
        // An earlier run may have got as far.
        self.drop_snapshots(checkpoint);
        let under_way = UnderWay { checkpoint, since: now, source: None, heads: BTreeMap::new(), sinks: None };
        self.under_way = Some(under_way);
        self.checkpoints.want(checkpoint);
        Ok(())
    }

    fn took(&mut self, handed: Handed) -> Result<(), KeepError> {
        let Some(number) = number_of(&handed) else { return self.came_to_an_end(handed) };
        if let Handed::Changes { of, changes, .. } = handed {
            // Even if its checkpoint was given up: these changes are not handed over again.
            self.checkpoints.took(changes.bytes());
            return self.apply(of, &changes);
        }
        let Some(under_way) = self.under_way.as_mut().filter(|under_way| under_way.checkpoint == number) else {
            return Ok(());
        };
        match handed {
            Handed::Source { state, .. } => under_way.source = Some(state),
            Handed::Sinks { prepared, account, .. } => {
                under_way.sinks = Some((Sinks { prepared, account }, self.clock.now()));
            }
            Handed::Subtask { of, head, .. } => drop(under_way.heads.insert(of, head)),
            Handed::Changes { .. } | Handed::SourceEnded => {}
        }
        self.save_if_whole()
    }

    /// The source has ended, or all tasks have.
    fn came_to_an_end(&mut self, handed: Handed) -> Result<(), KeepError> {
        match handed {
            Handed::SourceEnded => {
                self.source_ended = true;
                // A barrier that the source has not sent never comes.
                if self.under_way.as_ref().is_some_and(|under_way| under_way.source.is_none()) {
                    self.under_way = None;
                }
                Ok(())
            }
            Handed::Sinks { prepared, account, .. } => {
                self.under_way = None;
                self.save_last(Sinks { prepared, account })
            }
            _ => Ok(()),
        }
    }

    fn apply(&mut self, of: SubtaskId, changes: &Changes) -> Result<(), KeepError> {
        self.saved = None;
        let (_, backend) = &self.backends[&of];
        tidegate_faults::reach("state.apply.before");
        backend.apply(changes)?;
        tidegate_faults::reach("state.apply.after");
        Ok(())
    }

    /// What nobody waits for any more.
    fn let_go(&self, handed: &Handed) {
        if let Handed::Changes { changes, .. } = handed {
            self.checkpoints.took(changes.bytes());
        }
    }
}

/// Removes a folder that nobody needs any more, if it is there. One that stays is only said.
pub fn remove_folder(folder: &Path) {
    if let Err(error) = std::fs::remove_dir_all(folder)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(folder = %folder.display(), %error, "what nobody needs any more cannot be removed");
    }
}

/// The checkpoint that something is of; none of what says that something has ended.
fn number_of(handed: &Handed) -> Option<u64> {
    match handed {
        Handed::Source { checkpoint, .. } | Handed::Changes { checkpoint, .. } | Handed::Subtask { checkpoint, .. } => {
            Some(*checkpoint)
        }
        Handed::Sinks { checkpoint, .. } => *checkpoint,
        Handed::SourceEnded => None,
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
