//! The inputs of an operator's subtask: pieces of several senders, put together to whole rounds in one order.
//!
//! A round is what one source batch leads to. Each sender of an input sends any number of pieces of it, and with the last its
//! progress. Invariants: a round is worked through only once every sender of every input has sent all of it, and its rows
//! stand in the order of their events, those of one event by the key that emitted them: so no result depends on how many
//! subtasks sent them. What is emitted between rounds (under a wall clock alone) goes on as soon as the rounds before it have.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::BinaryArray;
use tidegate_types::batch::{index, index32};
use tidegate_types::{
    Arrivals, Batch, ColumnBuilder, Keys, MadeRecords, Origin, Progress, ProgressEntry, Schema, Watermark,
};

use crate::channel::{Received, Receiver};
use crate::route::Part;

/// What senders send.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) parts: Vec<Part>,
    pub(crate) ends: Ends,
}

/// What a piece ends.
#[derive(Debug, Clone)]
pub(crate) enum Ends {
    /// Nothing: more of the round will come.
    Nothing,
    /// The round, with the sender's progress.
    Round(Arc<Progress>),
    /// Itself: it was emitted between rounds.
    Itself,
}

/// What is next.
pub(crate) enum Next {
    /// A round: a batch for each input, and the operator's progress.
    Round(Vec<Batch>, Arc<Progress>),
    /// Rows between rounds: a batch for each input, without progress.
    Between(Vec<Batch>),
    /// Nothing yet.
    Nothing,
    /// Nothing any more.
    Ended,
}

/// The inputs of a subtask.
pub(crate) struct Inputs {
    inputs: Vec<Input>,
    /// The operator's watermark after the last round.
    watermark: Watermark,
}

struct Input {
    channels: Vec<Channel>,
    schema: Arc<Schema>,
    /// Its watermark after the last round.
    watermark: Watermark,
    /// Rows so far.
    arrived: u64,
}

struct Channel {
    receiver: Receiver<Piece>,
    /// Pieces that were received and not worked through: of one round, or one between rounds.
    waiting: VecDeque<Piece>,
    ended: bool,
}

impl Channel {
    /// Receives as much as belongs to what is next.
    fn fill(&mut self) {
        while !self.ended && self.next().is_none() {
            match self.receiver.receive() {
                Received::Element(piece) => self.waiting.push_back(piece),
                Received::Empty => return,
                Received::Ended => self.ended = true,
            }
        }
    }

    /// What the channel has whole at its front.
    fn next(&self) -> Option<&Ends> {
        match self.waiting.front().map(|piece| &piece.ends) {
            Some(Ends::Itself) => Some(&Ends::Itself),
            _ => self.waiting.back().map(|piece| &piece.ends).filter(|ends| matches!(ends, Ends::Round(_))),
        }
    }
}

impl Inputs {
    /// Inputs with these schemas and senders.
    pub(crate) fn new(inputs: Vec<(Arc<Schema>, Vec<Receiver<Piece>>)>) -> Self {
        let channel = |receiver| Channel { receiver, waiting: VecDeque::new(), ended: false };
        let input = |(schema, receivers): (Arc<Schema>, Vec<Receiver<Piece>>)| Input {
            channels: receivers.into_iter().map(channel).collect(),
            schema,
            watermark: Watermark::MIN,
            arrived: 0,
        };
        Self { inputs: inputs.into_iter().map(input).collect(), watermark: Watermark::MIN }
    }

    /// The next round, once it is whole.
    pub(crate) fn next(&mut self) -> Next {
        let mut whole = true;
        let mut ended = true;
        for (at, input) in self.inputs.iter_mut().enumerate() {
            for (from, channel) in input.channels.iter_mut().enumerate() {
                channel.fill();
                match channel.next() {
                    Some(Ends::Itself) => {
                        let between = channel.waiting.pop_front().expect("it is at the front");
                        return self.between(at, from, between);
                    }
                    Some(_) => ended = false,
                    None => {
                        whole = false;
                        ended &= channel.ended;
                    }
                }
            }
        }
        match (whole, ended) {
            (true, _) => self.round(),
            (_, true) => Next::Ended,
            _ => Next::Nothing,
        }
    }

    fn between(&mut self, at: usize, from: usize, piece: Piece) -> Next {
        debug_assert!(matches!(piece.ends, Ends::Itself), "channel {from} has rows between rounds at its front");
        let mut pieces: Vec<Vec<Piece>> = self.inputs.iter().map(|_| Vec::new()).collect();
        pieces[at].push(piece);
        let nothing = Arc::new(Progress::default());
        let batches = self.inputs.iter_mut().zip(pieces);
        Next::Between(batches.map(|(input, pieces)| input.merge(pieces, &nothing)).collect())
    }

    fn round(&mut self) -> Next {
        let mut batches = Vec::new();
        let mut progresses = Vec::new();
        for input in &mut self.inputs {
            let pieces: Vec<Piece> =
                input.channels.iter_mut().flat_map(|channel| std::mem::take(&mut channel.waiting)).collect();
            let progress = pieces.iter().find_map(|piece| match &piece.ends {
                Ends::Round(progress) => Some(Arc::clone(progress)),
                Ends::Nothing | Ends::Itself => None,
            });
            let progress = progress.expect("the round is whole");
            batches.push(input.merge(pieces, &progress));
            progresses.push(progress);
        }
        let progress = self.combine(progresses);
        Next::Round(batches, progress)
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

impl Input {
    /// One batch of all pieces.
    fn merge(&mut self, pieces: Vec<Piece>, progress: &Arc<Progress>) -> Batch {
        let mut parts: Vec<Part> = pieces.into_iter().flat_map(|piece| piece.parts).collect();
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
