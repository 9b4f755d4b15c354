//! The writer: one thread that gives offsets and writes what has gathered in one piece.
//!
//! A group is everything that waits when the last write is done (up to a bound): the more producers there are, the more
//! share one sync. Producers wait for their answers before they send again, so the writer gives them a moment for that: else
//! one of them would come first, alone, and the others would wait for its sync.
//!
//! Invariant: an answer is given after the write, and what the catalog shows was written. After a failed write nothing more
//! is written: what is on the disk is not known until the log is opened again.

mod group;
mod producers;
mod structure;
mod transactions;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use tidegate_log::{Appended, Begin, Created, LogError, StreamId, StreamSpec, TransactionId};
use tidegate_types::EventTime;

use crate::catalog::{Catalog, Stream};
use crate::error::storage;
use crate::prepare::Prepared;
use crate::queue::Queue;
use crate::retain::Cut;
use crate::store::Store;

use self::group::Group;
use self::producers::Producers;

/// A group takes no further command once it has so many bytes.
const GROUP_BYTES: usize = 8 << 20;

/// Before a group is taken, those who were answered have this part of the last write's time to send again.
const PATIENCE: u32 = 4;
/// And never more than this: a write that took long says nothing about the next.
const MOST_PATIENCE: Duration = Duration::from_millis(2);

/// Where an answer goes.
pub(crate) type ReplyTo<T> = SyncSender<Result<T, LogError>>;

/// What the writer is asked for.
pub(crate) enum Command {
    /// Gathered in groups.
    Partition(PartitionCommand),
    /// Alone.
    Structure(StructureCommand),
}

/// A command that changes how far partitions are.
pub(crate) enum PartitionCommand {
    Append {
        stream: Arc<Stream>,
        batch: Prepared,
        reply: ReplyTo<Appended>,
    },
    Seal {
        stream: Arc<Stream>,
        partition: Option<u32>,
        reply: ReplyTo<()>,
    },
    /// Answers the cuts that were made: not those of what somebody has come to hold since they were decided.
    Trim {
        stream: Arc<Stream>,
        cuts: Vec<Cut>,
        reply: ReplyTo<Vec<Cut>>,
    },
    Transact {
        stream: Arc<Stream>,
        act: Act,
        reply: ReplyTo<u64>,
    },
}

/// What is done to a stream's writers, transactions and holds. The answer is a number.
pub(crate) enum Act {
    /// Answers the greatest committed number.
    Begin(Begin),
    /// The rest answer how many transactions it was about that were there.
    Stage(TransactionId, Prepared),
    Commit(TransactionId),
    Abort(TransactionId),
    /// Drops what is overdue at a time.
    Expire(EventTime),
    Hold(String, Option<Vec<u64>>),
}

/// A command that changes which streams and producers there are.
pub(crate) enum StructureCommand {
    Create { id: StreamId, spec: StreamSpec, reply: ReplyTo<Created> },
    Delete { stream: Arc<Stream>, reply: ReplyTo<()> },
    Forget { stream: Arc<Stream>, now: EventTime, reply: ReplyTo<()> },
}

/// An answer that waits for the write: sent as it is, or with the write's failure.
pub(crate) type Answer = Box<dyn FnOnce(Option<&LogError>) + Send>;

/// Makes an answer.
pub(crate) fn answer<T: Send + 'static>(reply: ReplyTo<T>, outcome: Result<T, LogError>) -> Answer {
    Box::new(move |failure| {
        // Whoever asked may have gone; then nobody wants the answer.
        let _ = reply.send(failure.cloned().map_or(outcome, Err));
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a write took decides how long to gather, never what is written"
)]
fn instant() -> Instant {
    Instant::now()
}

/// Abandons the queue when the writer's thread leaves, by a panic too.
struct Abandon<'a>(&'a Queue<Command>);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// The writer's state.
pub(crate) struct Writer {
    store: Arc<Store>,
    catalog: Arc<Catalog>,
    producers: Producers,
    /// Why nothing is written any more.
    failed: Option<LogError>,
}

impl Writer {
    pub(crate) fn new(store: Arc<Store>, catalog: Arc<Catalog>) -> Self {
        Self { store, catalog, producers: Producers::default(), failed: None }
    }

    /// Works until the queue is closed and empty. However it ends, nobody waits for an answer after it.
    pub(crate) fn run(mut self, queue: &Queue<Command>) {
        let _end = Abandon(queue);
        let (mut answered, mut patience) = (0, Duration::ZERO);
        loop {
            let mut commands = VecDeque::from(queue.take(GROUP_BYTES, answered, patience));
            if commands.is_empty() {
                return;
            }
            answered = commands.len();
            let start = instant();
            while let Some(command) = commands.pop_front() {
                match command {
                    Command::Structure(command) => self.structure(command),
                    Command::Partition(first) => self.gather(first, &mut commands),
                }
            }
            patience = (start.elapsed() / PATIENCE).min(MOST_PATIENCE);
        }
    }

    /// Carries out a command and those of its kind that follow it.
    fn gather(&mut self, first: PartitionCommand, commands: &mut VecDeque<Command>) {
        let mut group = Group::new(&self.store, &self.catalog, &mut self.producers);
        let mut answers = vec![group.add(first)];
        while let Some(command) = commands.pop_front() {
            match command {
                Command::Partition(command) => answers.push(group.add(command)),
                other => {
                    commands.push_front(other);
                    break;
                }
            }
        }
        let (batch, changed) = group.finish();
        changed.points().for_each(|(before, _)| tidegate_faults::reach(before));
        let written = self.write(batch);
        if written.is_ok() {
            changed.points().for_each(|(_, after)| tidegate_faults::reach(after));
            changed.publish(&mut self.producers);
        }
        for answer in answers {
            answer(written.as_ref().err());
        }
    }

    /// Writes a batch, unless there is nothing in it.
    fn write(&mut self, batch: rocksdb::WriteBatch) -> Result<(), LogError> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        if batch.is_empty() {
            return Ok(());
        }
        self.store.write(batch).map_err(|error| {
            let error = storage("write", error);
            tracing::error!(%error, "the log takes nothing until it is opened again");
            self.failed = Some(LogError::Stopped { detail: error.to_string() });
            error
        })
    }
}

#[cfg(test)]
mod tests;
