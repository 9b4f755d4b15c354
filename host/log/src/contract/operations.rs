//! Random operations on a log and on the model, which have to agree after each.

use std::collections::BTreeMap;

use bytes::Bytes;
use tidegate_types::EventTime;

use super::chance::Chance;
use super::model::{Model, Part, place};
use super::{Subject, stream};
use crate::{AppendBatch, Created, Producer, Retention, StreamId, StreamSpec};

const STEPS: usize = 120;
const STREAMS: [&str; 3] = ["a", "b", "a.b"];

/// Runs the operations of a seed; the seed is printed, so that a failure can be replayed (`SEED=n`).
///
/// # Panics
/// If the log does what the model does not.
pub fn random(mut subject: Box<dyn Subject>, seed: u64) {
    println!("seed {seed} (replay: SEED={seed})");
    let mut run = Run { chance: Chance::of_seed(seed), models: BTreeMap::new(), now: 1000 };
    for step in 0..STEPS {
        let name = STREAMS[usize::try_from(run.chance.below(3)).expect("below 3")];
        let id = stream(name);
        run.now += EventTime::try_from(run.chance.below(20)).expect("below 20");
        match run.chance.below(100) {
            0..10 => run.create(&*subject, &id),
            10..60 => run.append(&*subject, &id),
            60..80 => run.read(&*subject, &id),
            80..90 => run.retain(&*subject),
            90..93 => run.seal(&*subject, &id),
            93..95 => run.delete(&*subject, &id),
            _ => subject.reopen(),
        }
        run.compare(&*subject, step);
    }
}

struct Run {
    chance: Chance,
    models: BTreeMap<StreamId, Model>,
    now: EventTime,
}

impl Run {
    fn some(&mut self, bound: u64) -> Option<u64> {
        self.chance.percent(50).then(|| self.chance.below(bound))
    }

    fn create(&mut self, subject: &dyn Subject, id: &StreamId) {
        let partitions = u32::try_from(1 + self.chance.below(3)).expect("a small number");
        let retention = Retention { bytes: self.some(3000), age_ms: self.some(200) };
        let spec = StreamSpec { partitions, retention, max_record_bytes: 300 };
        match (subject.log().create(id, &spec), self.models.get(id)) {
            (Ok(Created::New), None) => drop(self.models.insert(id.clone(), Model::new(spec))),
            (Ok(Created::Existing), Some(model)) => assert_eq!(model.spec, spec),
            (Err(_), Some(model)) => assert_ne!(model.spec, spec),
            (outcome, model) => panic!("{outcome:?}, though the model is {model:?}"),
        }
    }

    /// A batch, now and then with something wrong about it.
    fn batch(&mut self, partitions: u32) -> AppendBatch {
        let most = if self.chance.percent(10) { 400 } else { 6 };
        let count = self.chance.below(most);
        let record = |chance: &mut Chance| {
            let beyond = u64::from(chance.percent(1));
            let partition = u32::try_from(chance.below(u64::from(partitions) + beyond)).expect("a small number");
            let len = if chance.percent(1) { 301 } else { chance.below(300) };
            let byte = u8::try_from(chance.below(256)).expect("a byte");
            (partition, Bytes::from(vec![byte; usize::try_from(len).expect("a small number")]))
        };
        let records = (0..count).map(|_| record(&mut self.chance)).collect();
        // Now and then a clock goes back.
        let back = if self.chance.percent(10) { 50 } else { 0 };
        let name = format!("p{}", self.chance.below(3));
        let producer = Producer { name, sequence: self.some(40) };
        let room = self.chance.percent(30).then(|| self.chance.below(20_000));
        AppendBatch { records, ingest_time: self.now - back, producer, room }
    }

    fn append(&mut self, subject: &dyn Subject, id: &StreamId) {
        let partitions = self.models.get(id).map_or(1, |model| model.spec.partitions);
        let batch = self.batch(partitions);
        let times = 1 + self.chance.below(2);
        for _ in 0..times {
            let got = subject.log().append(id, batch.clone());
            let kept = self.models.values().flat_map(|model| &model.partitions).map(Part::bytes).sum();
            let Some(model) = self.models.get_mut(id) else {
                assert!(got.is_err());
                return;
            };
            let got = got.map(|appended| {
                let ranges = appended.ranges.iter().map(|range| (range.partition, range.first, range.count));
                (appended.repeated, ranges.collect::<Vec<_>>())
            });
            assert_eq!(got.map_err(|error| error.kind()), model.append(&batch, kept));
        }
    }

    fn read(&mut self, subject: &dyn Subject, id: &StreamId) {
        let Some(model) = self.models.get(id) else { return };
        let partition = u32::try_from(self.chance.below(u64::from(model.spec.partitions))).expect("a small number");
        let part = model.part(partition);
        let from = self.chance.below(part.all.len() as u64 + 2);
        let (records, bytes) = (self.chance.below(100), self.chance.below(4000));
        let (records, bytes) = (usize::try_from(records).expect("small"), usize::try_from(bytes).expect("small"));
        let got = subject.log().read(id, partition, from, records, bytes);
        let at = usize::try_from(from).expect("a small number");
        let Ok(chunk) = got else {
            assert!(at < part.start || at > part.all.len(), "{got:?}");
            return;
        };
        let mut room = bytes;
        let mut expected = 0;
        for (bytes, _, _) in part.all.iter().skip(at) {
            if expected > 0 && (expected >= records || bytes.len() > room) {
                break;
            }
            room = room.saturating_sub(bytes.len());
            expected += 1;
        }
        assert_eq!(chunk.records.len(), expected, "from {from}, {records} records, {bytes} bytes");
        for (record, (bytes, time, producer)) in chunk.records.iter().zip(&part.all[at..]) {
            assert_eq!((&record.bytes, record.ingest_time, &*record.producer), (bytes, *time, &**producer));
        }
        assert!((from..).zip(&chunk.records).all(|(offset, record)| record.offset == offset));
        assert_eq!((chunk.start, chunk.end), (part.start as u64, part.all.len() as u64));
        assert_eq!(chunk.sealed, part.sealed);
    }

    fn retain(&mut self, subject: &dyn Subject) {
        let got = subject.log().retain(self.now).expect("retained");
        let expected: u64 = self.models.values_mut().map(|model| model.retain(self.now)).sum();
        assert_eq!(got.records, expected);
    }

    fn seal(&mut self, subject: &dyn Subject, id: &StreamId) {
        let partition = self.chance.percent(80).then_some(0);
        let got = subject.log().seal(id, partition);
        assert_eq!(got.is_ok(), self.models.contains_key(id));
        if let Some(model) = self.models.get_mut(id) {
            model.seal(partition);
        }
    }

    fn delete(&mut self, subject: &dyn Subject, id: &StreamId) {
        assert_eq!(subject.log().delete(id).is_ok(), self.models.remove(id).is_some());
    }

    /// What the log says of itself is what the model says.
    fn compare(&self, subject: &dyn Subject, step: usize) {
        let infos = subject.log().list(&stream("a").tenant).expect("a list");
        assert_eq!(infos.len(), self.models.len(), "step {step}");
        for (info, (id, model)) in infos.iter().zip(&self.models) {
            assert_eq!((&info.id, &info.spec), (id, &model.spec), "step {step}");
            for (partition, of_info) in (0..).zip(&info.partitions) {
                let part = &model.partitions[place(partition)];
                let ends = (part.start as u64, part.all.len() as u64, part.bytes(), part.sealed);
                assert_eq!((of_info.start, of_info.end, of_info.bytes, of_info.sealed), ends, "step {step}");
                assert_eq!(of_info.last_ingest, part.all.last().map(|(_, time, _)| *time), "step {step}");
            }
        }
    }
}
