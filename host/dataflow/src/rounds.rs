//! The inputs of an operator's subtask: pieces of several senders, put together in one order.
//!
//! A round is what one source batch leads to. Each sender of an input sends any number of pieces of it, in the order of its
//! events, each with the part of its progress that goes with it. A subtask works through a round in *stretches*: as far as
//! every sender of every input has come. Usually that is the whole round; where much waits, it is less, so that what one
//! source batch leads to need never be held at once.
//!
//! Invariants: a stretch ends between two events; its rows stand in the order of their events, those of one event by the key
//! that emitted them: so no result depends on how many subtasks sent them. What is emitted between rounds (under a wall clock
//! alone) goes on as soon as the rounds before it have.

use std::sync::Arc;

use arrow_array::BinaryArray;
use tidegate_types::batch::{index, index32};
use tidegate_types::stored::{Read, Stored, put_i64, put_len, put_u64};
use tidegate_types::{
    Arrivals, Batch, ColumnBuilder, Keys, MadeRecords, Origin, Progress, ProgressEntry, Schema, Watermark,
};

use crate::channel::{Received, Receiver};
use crate::route::Part;

/// Beyond every position: all of a round is there.
const WHOLE: u64 = u64::MAX;

/// What senders send.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) parts: Vec<Part>,
    /// What the sender's watermark and clock did since its last piece of the round.
    pub(crate) progress: Arc<Progress>,
    pub(crate) ends: Ends,
}

/// How far a piece goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// All of the round's events before this position were sent; more of the round will come.
    Before(u32),
    /// All of the round was sent.
    Round,
    /// It is of no round: it was emitted between two.
    Itself,
    /// Nothing but the barrier of this checkpoint, between two rounds.
    Barrier(u64),
}

/// What is next.
pub(crate) enum Next {
    /// A stretch of a round: a batch for each input, the operator's progress, and how far it goes.
    Stretch(Vec<Batch>, Arc<Progress>, Ends),
    /// Rows between rounds: a batch for each input, without progress.
    Between(Vec<Batch>),
    /// The barrier of this checkpoint, from every sender.
    Barrier(u64),
    /// Nothing yet.
    Nothing,
    /// Nothing any more.
    Ended,
}

/// The inputs of a subtask.
pub(crate) struct Inputs {
    inputs: Vec<Input>,
    /// The operator's watermark after the last stretch.
    watermark: Watermark,
    /// The events before this position were worked through.
    done: u64,
    /// So many rows wait before less than a round is worked through.
    most_waiting: usize,
}

struct Input {
    channels: Vec<Channel>,
    schema: Arc<Schema>,
    /// Its watermark after the last stretch.
    watermark: Watermark,
    /// Rows so far.
    arrived: u64,
}

/// What one sender has sent of the round under way.
struct Channel {
    receiver: Receiver<Piece>,
    /// Parts that were received and not worked through.
    waiting: Vec<Part>,
    /// The sender's progress that goes with them, piece by piece.
    told: Vec<Arc<Progress>>,
    /// Rows that wait.
    rows: usize,
    /// The sender has sent all events before this position.
    known: u64,
    /// Rows of no round, which are next.
    between: Option<Piece>,
    /// The barrier that the sender has sent, which the others have not yet.
    barrier: Option<u64>,
    ended: bool,
}

impl Channel {
    fn new(receiver: Receiver<Piece>) -> Self {
        Self {
            receiver,
            waiting: Vec::new(),
            told: Vec::new(),
            rows: 0,
            known: 0,
            between: None,
            barrier: None,
            ended: false,
        }
    }

    /// Receives what is there, up to the end of the round, and while fewer than `rows` rows wait. Whether it got anything.
    fn fill(&mut self, rows: usize) -> bool {
        let mut got = false;
        while !self.ended && !self.is_ahead() && self.rows < rows {
            match self.receiver.receive() {
                Received::Element(piece) => self.keep(piece),
                Received::Empty => break,
                Received::Ended => self.ended = true,
            }
            got = true;
        }
        got
    }

    /// Whether what it would give next is not to be looked at yet.
    fn is_ahead(&self) -> bool {
        self.known == WHOLE || self.between.is_some() || self.barrier.is_some()
    }

    fn keep(&mut self, piece: Piece) {
        match piece.ends {
            Ends::Barrier(checkpoint) => {
                self.barrier = Some(checkpoint);
                return;
            }
            Ends::Itself => {
                self.between = Some(piece);
                return;
            }
            Ends::Before(position) => self.known = self.known.max(u64::from(position)),
            Ends::Round => self.known = WHOLE,
        }
        self.rows += piece.parts.iter().map(|part| part.batch.len()).sum::<usize>();
        self.waiting.extend(piece.parts);
        self.told.push(piece.progress);
    }

    /// Takes the rows of events before `end`.
    fn take(&mut self, end: u64) -> Vec<Part> {
        if end == WHOLE {
            self.rows = 0;
            return std::mem::take(&mut self.waiting);
        }
        let mut taken = Vec::new();
        for part in std::mem::take(&mut self.waiting) {
            let (before, after) = part.split(end);
            taken.extend(before);
            self.waiting.extend(after);
        }
        self.rows = self.waiting.iter().map(|part| part.batch.len()).sum();
        taken
    }

    /// Takes the changes that events before `end` bring.
    fn take_progress(&mut self, end: u64) -> Arc<Progress> {
        if end == WHOLE && self.told.len() <= 1 {
            return self.told.pop().unwrap_or_default();
        }
        let mut entries: Vec<ProgressEntry> = Vec::new();
        self.told.drain(..).for_each(|told| entries.extend(&told.entries));
        let count = entries.partition_point(|entry| u64::from(entry.position) < end);
        let later = entries.split_off(count);
        if !later.is_empty() {
            self.told.push(Arc::new(Progress { entries: later }));
        }
        Arc::new(Progress { entries })
    }
}

impl Inputs {
    /// Inputs with these schemas and senders. `most_waiting`: so many rows wait before less than a round is worked through.
    pub(crate) fn new(inputs: Vec<(Arc<Schema>, Vec<Receiver<Piece>>)>, most_waiting: usize) -> Self {
        let input = |(schema, receivers): (Arc<Schema>, Vec<Receiver<Piece>>)| Input {
            channels: receivers.into_iter().map(Channel::new).collect(),
            schema,
            watermark: Watermark::MIN,
            arrived: 0,
        };
        Self { inputs: inputs.into_iter().map(input).collect(), watermark: Watermark::MIN, done: 0, most_waiting }
    }

    /// What is next, as far as it is there.
    pub(crate) fn next(&mut self) -> Next {
        let most_waiting = self.most_waiting;
        for channel in self.channels() {
            channel.fill(most_waiting);
        }
        loop {
            if let Some(next) = self.between().or_else(|| self.barrier()) {
                return next;
            }
            let end = self.channels().map(|channel| channel.known).min().unwrap_or(WHOLE);
            let rows: usize = self.channels().map(|channel| channel.rows).sum();
            if end == WHOLE || (end > self.done && rows >= most_waiting) {
                return self.stretch(end);
            }
            // Only who is furthest behind can bring it on; the others wait, however much they have to send.
            let mut got = false;
            for channel in self.channels().filter(|channel| channel.known == end) {
                got |= channel.fill(usize::MAX);
            }
            if got {
                continue;
            }
            if end > self.done {
                // Whoever sends these rows may wait until others hear how far this operator is.
                return self.stretch(end);
            }
            let ended = self.channels().all(|channel| channel.ended);
            return if ended { Next::Ended } else { Next::Nothing };
        }
    }

    fn channels(&mut self) -> impl Iterator<Item = &mut Channel> {
        self.inputs.iter_mut().flat_map(|input| &mut input.channels)
    }

    /// Rows of no round, if some are next.
    fn between(&mut self) -> Option<Next> {
        let find = |input: &mut Input| input.channels.iter_mut().find_map(|channel| channel.between.take());
        let (at, piece) = self.inputs.iter_mut().enumerate().find_map(|(at, input)| Some((at, find(input)?)))?;
        let mut parts: Vec<Vec<Part>> = self.inputs.iter().map(|_| Vec::new()).collect();
        parts[at] = piece.parts;
        let nothing = Arc::new(Progress::default());
        let batches = self.inputs.iter_mut().zip(parts);
        Some(Next::Between(batches.map(|(input, parts)| input.merge(parts, &nothing)).collect()))
    }

    /// The barrier of a checkpoint, once every sender has sent it.
    fn barrier(&mut self) -> Option<Next> {
        let checkpoint = self.channels().find_map(|channel| channel.barrier)?;
        if self.channels().any(|channel| channel.barrier.is_none() && !channel.ended) {
            return None;
        }
        self.channels().for_each(|channel| channel.barrier = None);
        Some(Next::Barrier(checkpoint))
    }

    /// The events before `end`, which every sender has sent.
    fn stretch(&mut self, end: u64) -> Next {
        let mut batches = Vec::new();
        let mut progresses = Vec::new();
        for input in &mut self.inputs {
            // All senders of an input tell the same progress.
            let mut told = input.channels.iter_mut().map(|channel| channel.take_progress(end));
            let progress = told.next().expect("every input has a sender");
            told.for_each(drop);
            let parts = input.channels.iter_mut().flat_map(|channel| channel.take(end)).collect();
            batches.push(input.merge(parts, &progress));
            progresses.push(progress);
        }
        let progress = self.combine(progresses);
        let ends = match u32::try_from(end) {
            Ok(position) => Ends::Before(position),
            Err(_) => Ends::Round,
        };
        self.done = if ends == Ends::Round { 0 } else { end };
        if ends == Ends::Round {
            self.channels().for_each(|channel| channel.known = 0);
        }
        Next::Stretch(batches, progress, ends)
    }

    /// The operator's progress: the least of its inputs' watermarks, event by event.
    fn combine(&mut self, mut progresses: Vec<Arc<Progress>>) -> Arc<Progress> {
        if self.inputs.len() == 1 {
            return progresses.pop().expect("one for each input");
        }
        let mut entries: Vec<(usize, ProgressEntry)> = Vec::new();
        for (input, progress) in progresses.iter().enumerate() {
            entries.extend(progress.entries.iter().map(|entry| (input, *entry)));
        }
        entries.sort_by_key(|(input, entry)| (entry.position, *input));
        let mut combined = Progress::default();
        for together in entries.chunk_by(|a, b| a.1.position == b.1.position) {
            for (input, entry) in together {
                self.inputs[*input].watermark = entry.watermark;
            }
            let least = self.inputs.iter().map(|input| input.watermark).min().expect("an operator has inputs");
            self.watermark = self.watermark.max(least);
            let clock = together.iter().map(|(_, entry)| entry.clock).max().expect("not empty");
            combined.push(ProgressEntry { position: together[0].1.position, watermark: self.watermark, clock });
        }
        Arc::new(combined)
    }
}

/// Where the inputs of a subtask stand between two rounds, when nothing is in hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputsHead {
    watermark: Watermark,
    /// Of each input: its watermark, and how many rows have arrived.
    inputs: Vec<(Watermark, u64)>,
}

impl InputsHead {
    pub(crate) fn read(stored: &mut Stored<'_>) -> Read<Self> {
        let watermark = Watermark::at(stored.i64()?);
        let mut inputs = Vec::new();
        for _ in 0..stored.len()? {
            inputs.push((Watermark::at(stored.i64()?), stored.u64()?));
        }
        Ok(Self { watermark, inputs })
    }

    /// How many inputs there are.
    pub(crate) fn len(&self) -> usize {
        self.inputs.len()
    }
}

impl Inputs {
    /// Writes where the inputs stand, as an [`InputsHead`].
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_i64(out, self.watermark.as_millis());
        put_len(out, self.inputs.len());
        for input in &self.inputs {
            put_i64(out, input.watermark.as_millis());
            put_u64(out, input.arrived);
        }
    }

    /// Goes on from where a subtask of an earlier run stood. All of them stood at one place, and counted rows each for itself.
    pub(crate) fn restore(&mut self, head: &InputsHead) {
        self.watermark = self.watermark.max(head.watermark);
        for (input, (watermark, arrived)) in self.inputs.iter_mut().zip(&head.inputs) {
            input.watermark = input.watermark.max(*watermark);
            input.arrived = input.arrived.max(*arrived);
        }
    }
}

impl Input {
    /// One batch of all parts.
    fn merge(&mut self, mut parts: Vec<Part>, progress: &Arc<Progress>) -> Batch {
        let count: usize = parts.iter().map(|part| part.batch.len()).sum();
        let mut batch = match parts.len() {
            0 => empty(&self.schema),
            1 if parts[0].emitters.is_none() => parts.remove(0).batch,
            _ => merged(&self.schema, &parts, self.arrived),
        };
        self.arrived += count as u64;
        batch.progress = Arc::clone(progress);
        batch
    }
}

fn empty(schema: &Arc<Schema>) -> Batch {
    Batch {
        schema: Arc::clone(schema),
        columns: schema.fields.iter().map(|_| tidegate_types::Column::Null(0)).collect(),
        times: Vec::new().into(),
        rows: Vec::new().into(),
        positions: Vec::new().into(),
        arrivals: Arrivals::Each(Vec::new().into()),
        retractions: None,
        keys: Some(Keys { encoded: BinaryArray::from_iter_values(std::iter::empty::<&[u8]>()), hashes: [].into() }),
        origin: Arc::default(),
        progress: Arc::default(),
    }
}

/// The rows of all parts in the order of their events, those of one event by the key that emitted them.
fn merged(schema: &Arc<Schema>, parts: &[Part], arrived: u64) -> Batch {
    let mut order: Vec<(u32, &[u8], usize, u32)> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        for row in 0..index32(part.batch.len()) {
            let key = part.emitters.as_ref().map_or(&[][..], |keys| &keys[index(row)]);
            order.push((part.batch.positions[index(row)], key, at, row));
        }
    }
    // Rows of one key come of one sender, whose order stands: the sort is stable.
    order.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    let of = |(_, _, at, row): &(u32, &[u8], usize, u32)| (&parts[*at].batch, index(*row));
    let columns = (0..schema.fields.len()).map(|field| {
        let mut builder = ColumnBuilder::new();
        for place in &order {
            let (batch, row) = of(place);
            builder.push(batch.columns[field].value(row));
        }
        builder.finish()
    });
    let keys = |place: &(u32, &[u8], usize, u32)| {
        let (batch, row) = of(place);
        let keys = batch.keys.as_ref().expect("senders key what they deal");
        (keys.encoded.value(row).to_vec(), keys.hashes[row])
    };
    let (encoded, hashes): (Vec<Vec<u8>>, Vec<u64>) = order.iter().map(keys).unzip();
    let retractions: Vec<bool> = order.iter().map(|place| of(place).0.is_retraction(of(place).1)).collect();
    let origins = order.iter().map(|place| (Arc::clone(&of(place).0.origin), of(place).0.rows[of(place).1]));
    let count = index32(order.len());
    Batch {
        schema: Arc::clone(schema),
        columns: columns.collect(),
        times: order.iter().map(|place| of(place).0.times[of(place).1]).collect(),
        rows: (0..count).collect(),
        positions: order.iter().map(|(position, ..)| *position).collect(),
        arrivals: Arrivals::Each((arrived..arrived + u64::from(count)).collect()),
        retractions: retractions.contains(&true).then(|| retractions.into()),
        keys: Some(Keys { encoded: BinaryArray::from_iter_values(encoded), hashes: hashes.into() }),
        origin: Arc::new(Origin::Made(Box::new(Merged(origins.collect())))),
        progress: Arc::default(),
    }
}

/// Records of several batches.
#[derive(Debug)]
struct Merged(Vec<(Arc<Origin>, u32)>);

impl MadeRecords for Merged {
    fn record(&self, row: u32) -> Vec<u8> {
        let (origin, record) = &self.0[index(row)];
        origin.record(*record).into_owned()
    }
}

#[cfg(test)]
mod tests;
