//! Random transactions, holds, appends, retention and restarts against a model.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::chance::Chance;
use super::{Subject, batch, stream, texts};
use crate::{AppendBatch, Begin, ErrorKind, Log, Retention, StreamSpec, TransactionId};

const STEPS: usize = 150;
const PARTITIONS: u32 = 2;

/// All that the log should know of the stream.
#[derive(Default)]
struct Model {
    /// Of each partition, every record that is or was there, and how many were dropped.
    partitions: [(Vec<String>, usize); 2],
    /// By writer: epoch and the greatest committed number.
    writers: BTreeMap<String, (u64, u64)>,
    /// With when the first batch came.
    staged: BTreeMap<TransactionId, (i64, Vec<(u32, String)>)>,
    holds: BTreeMap<String, Vec<u64>>,
    now: i64,
    /// The next record's text.
    next: u64,
}

/// Runs the operations of a seed; the seed is printed, so that a failure can be replayed (`SEED=n`).
///
/// # Panics
/// If the log does what the model does not.
pub fn random_transactions(mut subject: Box<dyn Subject>, seed: u64) {
    println!("seed {seed} (replay: SEED={seed})");
    let (mut model, mut chance) = (Model { now: 1000, ..Model::default() }, Chance::of_seed(seed));
    let retention = Retention { bytes: chance.percent(70).then_some(4000), age_ms: None };
    let spec = StreamSpec { partitions: PARTITIONS, retention, max_record_bytes: 4000 };
    subject.log().create(&stream("s"), &spec).expect("it is new");
    for step in 0..STEPS {
        model.now += 1;
        let log = subject.log();
        match chance.below(100) {
            0..10 => model.append(&*log, &mut chance),
            10..20 => model.begin(&*log, &mut chance),
            20..60 => model.stage(&*log, &mut chance),
            60..80 => model.commit(&*log, &mut chance),
            80..84 => model.abort(&*log, &mut chance),
            84..88 => model.hold(&*log, &mut chance),
            88..96 => model.retain(&*log, retention),
            _ => {
                drop(log);
                subject.reopen();
            }
        }
        model.compare(&*subject.log(), step);
    }
}

fn small(chance: &mut Chance, bound: u64) -> usize {
    usize::try_from(chance.below(bound)).expect("a small number")
}

fn place(partition: u32) -> usize {
    usize::try_from(partition).expect("a small number")
}

impl Model {
    /// An id that may well be wrong: of an old start, or of a number that is taken or was left out.
    fn id(&self, chance: &mut Chance) -> TransactionId {
        let writer = format!("w{}", chance.below(2));
        let (epoch, committed) = self.writers.get(&writer).copied().unwrap_or((1, 0));
        let epoch = if chance.percent(10) { 1 + chance.below(epoch + 1) } else { epoch };
        TransactionId { writer, epoch, number: (committed + chance.below(4)).max(1) }
    }

    fn records(&mut self, chance: &mut Chance) -> Vec<(u32, String)> {
        let count = if chance.percent(10) { 60 } else { 1 + chance.below(5) };
        let mut record = |chance: &mut Chance| {
            self.next += 1;
            let most = if chance.percent(20) { 3000 } else { 30 };
            let filler = "x".repeat(small(chance, most));
            (u32::try_from(chance.below(PARTITIONS.into())).expect("small"), format!("{} {filler}", self.next))
        };
        (0..count).map(|_| record(chance)).collect()
    }

    fn batch(&self, records: &[(u32, String)]) -> AppendBatch {
        let records = records.iter().map(|(partition, text)| (*partition, Bytes::from(text.clone()))).collect();
        AppendBatch { records, ..batch(&[], self.now) }
    }

    fn add(&mut self, records: Vec<(u32, String)>) {
        for (partition, text) in records {
            self.partitions[place(partition)].0.push(text);
        }
    }

    fn append(&mut self, log: &dyn Log, chance: &mut Chance) {
        let records = self.records(chance);
        log.append(&stream("s"), self.batch(&records)).expect("appended");
        self.add(records);
    }

    fn begin(&mut self, log: &dyn Log, chance: &mut Chance) {
        let TransactionId { writer, mut epoch, .. } = self.id(chance);
        epoch += u64::from(chance.percent(60));
        let got = log.begin(&stream("s"), &Begin { writer: writer.clone(), epoch, timeout_ms: Some(40) });
        let known = self.writers.entry(writer.clone()).or_insert((epoch, 0));
        if epoch < known.0 {
            assert_eq!(got.expect_err("fenced").kind(), ErrorKind::Conflict);
            return;
        }
        known.0 = epoch;
        assert_eq!(got.expect("begun"), known.1);
        self.staged.retain(|id, _| id.writer != writer || id.epoch >= epoch);
    }

    fn stage(&mut self, log: &dyn Log, chance: &mut Chance) {
        let (id, records) = (self.id(chance), self.records(chance));
        let got = log.stage(&stream("s"), &id, self.batch(&records));
        let may = self.writers.get(&id.writer).is_some_and(|known| known.0 == id.epoch && id.number > known.1);
        assert_eq!(got.is_ok(), may, "{id:?}: {got:?}");
        if may {
            self.staged.entry(id).or_insert((self.now, Vec::new())).1.extend(records);
        }
    }

    fn commit(&mut self, log: &dyn Log, chance: &mut Chance) {
        let some = self.staged.keys().nth(small(chance, 4)).cloned();
        let id = some.filter(|_| chance.percent(80)).unwrap_or_else(|| self.id(chance));
        let got = log.commit_transaction(&stream("s"), &id).map_err(|error| error.kind());
        let known = self.writers.get(&id.writer).copied();
        let expected = match known {
            Some(_) if self.staged.contains_key(&id) => Ok(()),
            Some((_, committed)) if id.number <= committed => Ok(()),
            Some((epoch, _)) if id.epoch < epoch => Err(ErrorKind::Conflict),
            _ => Err(ErrorKind::Gone),
        };
        assert_eq!(got, expected, "{id:?} of {known:?}");
        if let Some((_, records)) = self.staged.remove(&id) {
            self.add(records);
            let committed = &mut self.writers.get_mut(&id.writer).expect("it has staged").1;
            *committed = id.number.max(*committed);
        }
    }

    fn abort(&mut self, log: &dyn Log, chance: &mut Chance) {
        let id = self.staged.keys().next().cloned().unwrap_or_else(|| self.id(chance));
        log.abort_transaction(&stream("s"), &id).expect("aborted");
        self.staged.remove(&id);
    }

    fn hold(&mut self, log: &dyn Log, chance: &mut Chance) {
        let holder = format!("h{}", chance.below(2));
        let offsets = self.partitions.each_ref().map(|(all, _)| chance.below(all.len() as u64 + 1)).to_vec();
        let offsets = chance.percent(60).then_some(offsets);
        log.hold(&stream("s"), &holder, offsets.as_deref()).expect("held");
        match offsets {
            Some(offsets) => drop(self.holds.insert(holder, offsets)),
            None => drop(self.holds.remove(&holder)),
        }
    }

    fn retain(&mut self, log: &dyn Log, retention: Retention) {
        log.retain(self.now).expect("retained");
        let now = self.now;
        self.staged.retain(|_, (since, _)| now - *since < 40);
        let Some(limit) = retention.bytes else { return };
        for (partition, (all, start)) in self.partitions.iter_mut().enumerate() {
            let held = self.holds.values().map(|offsets| offsets[partition]).min().unwrap_or(u64::MAX);
            let bytes = |all: &[String]| all.iter().map(|text| text.len() as u64).sum::<u64>();
            while bytes(&all[*start..]) > limit && (*start as u64) < held {
                *start += 1;
            }
        }
    }

    fn compare(&self, log: &dyn Log, step: usize) {
        for (partition, (all, start)) in (0..).zip(&self.partitions) {
            let expected: Vec<_> = (0..).zip(all.iter().cloned()).skip(*start).collect();
            assert_eq!(texts(log, &stream("s"), partition), expected, "step {step}, partition {partition}");
            let info = log.describe(&stream("s")).expect("it exists").partitions[place(partition)];
            let bytes: u64 = all[*start..].iter().map(|text| text.len() as u64).sum();
            assert_eq!((info.start, info.end, info.bytes), (*start as u64, all.len() as u64, bytes), "step {step}");
        }
        let staged = log.transactions(&stream("s")).expect("it exists");
        assert_eq!(staged.len(), self.staged.len(), "step {step}");
        for (of, (id, (since, records))) in staged.iter().zip(&self.staged) {
            let bytes: u64 = records.iter().map(|(_, text)| text.len() as u64).sum();
            assert_eq!((&of.id, of.since, of.records, of.bytes), (id, *since, records.len() as u64, bytes));
        }
        let holds: Vec<_> = self.holds.clone().into_iter().collect();
        assert_eq!(log.holds(&stream("s")).expect("it exists"), holds, "step {step}");
    }
}
