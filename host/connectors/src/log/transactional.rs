//! What makes a sink of a stream transactional: records are staged, and a checkpoint's commit shows them.
//!
//! The log numbers a writer's transactions itself over all of its starts; a checkpoint names those that it waits for. So a
//! checkpoint that fails leaves its transactions to the next one, and one that has nothing to show has none.
//!
//! Invariant: what a checkpoint names is committed, or the run ends with what is at stake. What no checkpoint names is never
//! seen: the next start aborts it.

use std::collections::VecDeque;

use tidegate_log::{AppendBatch, Begin, Log, LogError, StreamId, TransactionId};
use tidegate_types::stored::{Malformed, Read, Stored, put_bool, put_len, put_u64};

use super::surplus::{Surplus, Written};
use crate::sink::{Prepared, SinkError};

/// The version of what is stored.
const VERSION: u8 = 1;

/// Who writes transactions, and from which start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transactional {
    /// The job and the sink, as `job/sink`: unique within the stream, the same at every start.
    pub writer: String,
    /// The number of the job's start.
    pub epoch: u64,
    /// From this age on, in ms, what is staged may be dropped; none: never.
    pub timeout_ms: Option<u64>,
}

/// The transactions of a writer.
pub(super) struct Transaction {
    of: Transactional,
    /// The number under which records are staged now; none before `recover`.
    number: Option<u64>,
    /// So many are staged under it, of each partition.
    staged: Vec<u64>,
    /// What was prepared and not committed, in order.
    waiting: VecDeque<Waiting>,
    /// What the replay writes again though it is there.
    surplus: Surplus,
}

/// A transaction that waits for its commit.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Waiting {
    checkpoint: u64,
    number: u64,
    /// Its records, of each partition.
    records: Vec<u64>,
}

/// What a checkpoint keeps.
#[derive(Debug, PartialEq, Eq)]
struct Kept {
    epoch: u64,
    /// The greatest number that was used so far; 0: none.
    last: u64,
    /// An offset of each partition: all that it knows stands before it, or waits, or is counted here.
    from: Vec<u64>,
    /// What it knows of what stands from there on, if the run was still writing again what is there.
    again: Option<Vec<u64>>,
    waiting: Vec<Waiting>,
}

impl Transaction {
    pub(super) fn new(of: Transactional, partitions: usize) -> Self {
        let (staged, waiting) = (vec![0; partitions], VecDeque::new());
        Self { of, number: None, staged, waiting, surplus: Surplus::default() }
    }

    /// Whether a record is there already: the run goes back to a checkpoint behind which more was committed.
    pub(super) fn is_there(&mut self, partition: u32, record: &[u8]) -> bool {
        self.surplus.take(partition, record)
    }

    pub(super) fn stage(&mut self, log: &dyn Log, stream: &StreamId, batch: AppendBatch) -> Result<(), LogError> {
        let Transactional { writer, epoch, .. } = &self.of;
        let not_begun = || LogError::NotBegun { stream: stream.clone(), writer: writer.clone(), epoch: *epoch };
        let number = self.number.ok_or_else(not_begun)?;
        let partitions: Vec<u32> = batch.records.iter().map(|(partition, _)| *partition).collect();
        log.stage(stream, &self.id(number), batch)?;
        for partition in partitions {
            self.staged[usize::try_from(partition).expect("a partition that the log took")] += 1;
        }
        Ok(())
    }

    fn id(&self, number: u64) -> TransactionId {
        let Transactional { writer, epoch, .. } = &self.of;
        TransactionId { writer: writer.clone(), epoch: *epoch, number }
    }

    /// Everything is staged: what the checkpoint has to know.
    pub(super) fn prepare(&mut self, log: &dyn Log, stream: &StreamId, checkpoint: u64) -> Result<Prepared, LogError> {
        let Some(number) = self.number else {
            let Transactional { writer, epoch, .. } = self.of.clone();
            return Err(LogError::NotBegun { stream: stream.clone(), writer, epoch });
        };
        let mut last = number - 1;
        if self.staged.iter().any(|records| *records > 0) {
            let nothing = vec![0; self.staged.len()];
            let records = std::mem::replace(&mut self.staged, nothing);
            self.waiting.push_back(Waiting { checkpoint, number, records });
            self.number = Some(number + 1);
            last = number;
        }
        let (from, again) = match self.surplus.written() {
            Some(Written { from, own }) => (from.clone(), Some(own.clone())),
            None => (log.describe(stream)?.partitions.iter().map(|info| info.end).collect(), None),
        };
        let waiting = self.waiting.iter().cloned().collect();
        Ok(Kept { epoch: self.of.epoch, last, from, again, waiting }.encode())
    }

    pub(super) fn commit(&mut self, log: &dyn Log, stream: &StreamId, checkpoint: u64) -> Result<(), SinkError> {
        while let Some(waiting) = self.waiting.front().filter(|waiting| waiting.checkpoint <= checkpoint) {
            commit(log, stream, &self.id(waiting.number), &waiting.records)?;
            self.waiting.pop_front();
        }
        Ok(())
    }

    /// Commits what a checkpoint names, aborts the rest, and begins. `producer`: the name that the records bear.
    pub(super) fn recover(
        &mut self,
        log: &dyn Log,
        stream: &StreamId,
        producer: &str,
        prepared: Option<&Prepared>,
    ) -> Result<(), SinkError> {
        let failed = |source| SinkError::Log { stream: stream.clone(), source };
        let unusable = |error: Malformed| {
            let output = format!("stream {stream}");
            SinkError::Recover { output, reason: error.to_string() }
        };
        let kept = prepared.map(Kept::decode).transpose().map_err(unusable)?;
        for waiting in kept.iter().flat_map(|kept| &kept.waiting) {
            let id = TransactionId { epoch: kept.as_ref().map_or(0, |kept| kept.epoch), ..self.id(waiting.number) };
            commit(log, stream, &id, &waiting.records)?;
        }
        let Transactional { writer, epoch, timeout_ms } = self.of.clone();
        let committed = log.begin(stream, &Begin { writer, epoch, timeout_ms }).map_err(failed)?;
        self.surplus = match kept.filter(|kept| committed > kept.last || kept.again.is_some()) {
            Some(kept) => Surplus::find(log, stream, producer, kept.written()).map_err(failed)?,
            None => Surplus::default(),
        };
        self.number = Some(committed + 1);
        self.waiting.clear();
        self.staged.fill(0);
        Ok(())
    }
}

fn commit(log: &dyn Log, stream: &StreamId, id: &TransactionId, records: &[u64]) -> Result<(), SinkError> {
    log.commit_transaction(stream, id).map_err(|source| match source {
        LogError::TransactionLost { transaction: TransactionId { writer, epoch, number }, .. } => {
            let (stream, records) = (stream.clone(), records.iter().sum());
            SinkError::TransactionLost { stream, writer, epoch, transaction: number, records }
        }
        source => SinkError::Log { stream: stream.clone(), source },
    })
}

impl Kept {
    /// What the checkpoint knows of what stands in the stream. What waits comes behind what is there already, so while that is
    /// written again it is not counted.
    fn written(&self) -> Written {
        let of = |place| self.waiting.iter().filter_map(|waiting| waiting.records.get(place)).sum();
        let waiting = || (0..self.from.len()).map(of).collect();
        Written { from: self.from.clone(), own: self.again.clone().unwrap_or_else(waiting) }
    }

    fn encode(&self) -> Prepared {
        let mut out = vec![VERSION];
        put_u64(&mut out, self.epoch);
        put_u64(&mut out, self.last);
        put_numbers(&mut out, &self.from);
        put_bool(&mut out, self.again.is_some());
        self.again.iter().for_each(|again| put_numbers(&mut out, again));
        put_len(&mut out, self.waiting.len());
        for Waiting { checkpoint, number, records } in &self.waiting {
            put_u64(&mut out, *checkpoint);
            put_u64(&mut out, *number);
            put_numbers(&mut out, records);
        }
        Prepared(out)
    }

    fn decode(prepared: &Prepared) -> Read<Self> {
        let mut stored = Stored::new(&prepared.0);
        if stored.byte()? != VERSION {
            return Err(Malformed::new("what a sink of a stream prepared"));
        }
        let (epoch, last, from) = (stored.u64()?, stored.u64()?, numbers(&mut stored)?);
        let again = if stored.bool()? { Some(numbers(&mut stored)?) } else { None };
        let waiting = |stored: &mut Stored<'_>| {
            Ok(Waiting { checkpoint: stored.u64()?, number: stored.u64()?, records: numbers(stored)? })
        };
        let waiting = (0..stored.len()?).map(|_| waiting(&mut stored)).collect::<Read<_>>()?;
        stored.end()?;
        if again.as_ref().is_some_and(|again| again.len() != from.len()) {
            return Err(Malformed::new("a number for each partition"));
        }
        Ok(Self { epoch, last, from, again, waiting })
    }
}

fn put_numbers(out: &mut Vec<u8>, numbers: &[u64]) {
    put_len(out, numbers.len());
    numbers.iter().for_each(|number| put_u64(out, *number));
}

fn numbers(stored: &mut Stored<'_>) -> Read<Vec<u64>> {
    (0..stored.len()?).map(|_| stored.u64()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_checkpoint_keeps_is_a_stored_format() {
        let waiting = vec![Waiting { checkpoint: 7, number: 3, records: vec![0, 200] }];
        let mut kept = Kept { epoch: 2, last: 3, from: vec![1, 5], again: None, waiting };
        let prepared = kept.encode();
        assert_eq!(prepared.0, b"\x01\x02\x03\x02\x01\x05\0\x01\x07\x03\x02\0\xc8\x01");
        assert_eq!(kept.written(), Written { from: vec![1, 5], own: vec![0, 200] });
        assert_eq!(Kept::decode(&prepared).as_ref(), Ok(&kept));
        kept.again = Some(vec![3, 4]);
        let again = kept.encode();
        assert_eq!(again.0, b"\x01\x02\x03\x02\x01\x05\x01\x02\x03\x04\x01\x07\x03\x02\0\xc8\x01");
        assert_eq!(kept.written(), Written { from: vec![1, 5], own: vec![3, 4] });
        assert_eq!(Kept::decode(&again), Ok(kept));
        for cut in 0..prepared.0.len() {
            assert!(Kept::decode(&Prepared(prepared.0[..cut].to_vec())).is_err(), "cut to {cut} bytes");
        }
        assert!(Kept::decode(&Prepared([&prepared.0[..], b"x"].concat())).is_err());
    }
}
