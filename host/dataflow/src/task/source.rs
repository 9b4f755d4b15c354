//! The source task: decodes, maps, keys and deals what is read of all sources.

use std::sync::Arc;

use tidegate_connectors::{SourceBatch, SourceError, SourcePosition};
use tidegate_types::stored::{Malformed, Read, Stored, put_bytes, put_i64};
use tidegate_types::{EventTime, NO_CLOCK, Progress, Watermark};

use super::{Emission, Results, Senders, Task, TaskError, TaskReport};
use crate::channel::{Received, Receiver, Sender};
use crate::checkpoint::{HandOver, Handed};
use crate::report::SourceReport;
use crate::rounds::{Ends, Piece};
use crate::route::{Part, Route, Routed, send};
use crate::sources::{Round, Sources};

/// Decodes, maps, keys and deals what is read.
pub struct SourceTask {
    input: Receiver<Result<SourceBatch, SourceError>>,
    sources: Sources,
    /// Of each source, the routes out of it and where it stood after the last round.
    ways: Vec<Way>,
    /// For each route to an operator, in order of its place.
    outputs: Vec<Senders>,
    emissions: Sender<Emission>,
    /// The wall clock when there was no credit; none while there is.
    stands_still_since: Option<EventTime>,
    /// Where reading goes on after what was worked through; none before anything was.
    position: Option<SourcePosition>,
    /// Where what is to be kept goes; none where there are no checkpoints.
    hand_over: Option<HandOver>,
    /// The last checkpoint whose barrier was sent.
    passed: u64,
}

/// The version of what the source task keeps.
const STATE_VERSION: u8 = 1;

/// The routes out of a source.
pub(crate) struct Way {
    pub(crate) routes: Vec<Route>,
    stood: (Watermark, EventTime),
}

impl Way {
    pub(crate) fn new(routes: Vec<Route>) -> Self {
        Self { routes, stood: (Watermark::MIN, NO_CLOCK) }
    }
}

impl SourceTask {
    pub(crate) fn new(
        input: Receiver<Result<SourceBatch, SourceError>>,
        sources: Sources,
        ways: Vec<Way>,
        outputs: Vec<Senders>,
        emissions: Sender<Emission>,
    ) -> Self {
        let (position, hand_over) = (None, None);
        Self { input, sources, ways, outputs, emissions, stands_still_since: None, position, hand_over, passed: 0 }
    }

    /// Takes part in checkpoints from now on. `position`: where reading begins, if that is no start.
    pub(crate) fn keep(&mut self, hand_over: HandOver, position: Option<SourcePosition>) {
        self.passed = hand_over.checkpoints().wanted();
        self.position = position;
        self.hand_over = Some(hand_over);
    }

    /// Sends the barrier of a checkpoint that is wanted and was not sent yet. Whether there is one.
    fn pass(&mut self) -> bool {
        let Some(hand_over) = &self.hand_over else { return false };
        let checkpoint = hand_over.checkpoints().wanted();
        if checkpoint == self.passed {
            return false;
        }
        self.passed = checkpoint;
        tidegate_faults::reach("barrier.sent.before");
        let mut state = vec![STATE_VERSION];
        put_bytes(&mut state, self.position.as_ref().map_or(&[], |position| position.0.as_slice()));
        self.sources.write(&mut state);
        for way in &self.ways {
            put_i64(&mut state, way.stood.0.as_millis());
            put_i64(&mut state, way.stood.1);
        }
        hand_over.hand(Handed::Source { checkpoint, state });
        pass_on(&self.outputs, &self.emissions, checkpoint);
        tidegate_faults::reach("barrier.sent.after");
        true
    }

    fn ended(&self) -> super::Progress {
        if let Some(hand_over) = &self.hand_over {
            hand_over.hand(Handed::SourceEnded);
        }
        let report = Some(TaskReport::Sources(self.reports()));
        self.emissions.send(Emission { report, ..Emission::default() });
        super::Progress::Finished
    }

    fn work(&mut self, batch: SourceBatch, now: Option<EventTime>) -> Result<(), TaskError> {
        let bytes = batch.data.len() as u64;
        if let Some(after) = &batch.after {
            self.position = Some(after.clone());
        }
        let Round { batches, sides, account } = self.sources.process(batch, now)?;
        let mut routed = Routed::new(self.outputs.len());
        (routed.sides, routed.account) = (sides, account);
        let mut progresses: Vec<Option<Arc<Progress>>> = vec![None; self.outputs.len()];
        for (way, batch) in self.ways.iter_mut().zip(batches) {
            for route in way.routes.iter().flat_map(Route::to_operators) {
                progresses[route.place] = Some(Arc::clone(&batch.progress));
            }
            let (watermark, clock) = way.stood;
            if let Some(last) = batch.progress.entries.last() {
                way.stood = (last.watermark, last.clock);
            }
            send(&mut way.routes, Part::of_source(batch, watermark, now.unwrap_or(clock)), &mut routed)?;
        }
        for ((senders, parts), progress) in self.outputs.iter().zip(routed.dealt).zip(progresses) {
            let progress = progress.expect("every route leads out of a source");
            deal(senders, parts, &progress, Ends::Round);
        }
        let results = routed.results.into_iter().map(|(sink, rows)| (sink, Results::Rows(rows))).collect();
        let source = Some(self.sources.status(bytes));
        let (sides, account) = (routed.sides, routed.account);
        self.emissions.send(Emission { results, sides, account, source, ..Emission::default() });
        Ok(())
    }

    /// What the sources show of themselves.
    #[must_use]
    pub fn reports(&self) -> Vec<SourceReport> {
        self.sources.reports()
    }
}

/// Sends to each subtask its parts. `parts`: batch by batch, of each one part for each subtask.
pub(super) fn deal(senders: &Senders, parts: Vec<Part>, progress: &Arc<Progress>, ends: Ends) {
    let mut pieces: Vec<Vec<Part>> = senders.iter().map(|_| Vec::new()).collect();
    for (at, part) in parts.into_iter().enumerate() {
        pieces[at % senders.len()].push(part);
    }
    for (sender, parts) in senders.iter().zip(pieces) {
        sender.send(Piece { parts, progress: Arc::clone(progress), ends });
    }
}

/// Sends a barrier everywhere.
pub(super) fn pass_on(outputs: &[Senders], emissions: &Sender<Emission>, checkpoint: u64) {
    for sender in outputs.iter().flatten() {
        sender.send(Piece { parts: Vec::new(), progress: Arc::default(), ends: Ends::Barrier(checkpoint) });
    }
    emissions.send(Emission { barrier: Some(checkpoint), ..Emission::default() });
}

/// What the source task wrote: where reading goes on (none: at the start), and the rest.
pub(crate) fn read_state<'a>(state: &'a [u8]) -> Read<(Option<SourcePosition>, Stored<'a>)> {
    let mut stored = Stored::new(state);
    if stored.byte()? != STATE_VERSION {
        return Err(Malformed::new("what a source keeps, in this version"));
    }
    let position = stored.bytes()?;
    Ok(((!position.is_empty()).then(|| SourcePosition(position.to_vec())), stored))
}

impl Way {
    /// Where the source stood before the next round.
    pub(crate) fn restore(&mut self, stored: &mut Stored<'_>) -> Read<()> {
        self.stood = (Watermark::at(stored.i64()?), stored.i64()?);
        Ok(())
    }
}

impl Task for SourceTask {
    fn step(&mut self, now: Option<EventTime>) -> Result<super::Progress, TaskError> {
        let credit = self.emissions.has_credit() && self.outputs.iter().flatten().all(Sender::has_credit);
        if !credit {
            self.stands_still_since = self.stands_still_since.or(now);
            return Ok(super::Progress::Waiting { until: None });
        }
        if let (Some(since), Some(now)) = (self.stands_still_since.take(), now) {
            self.sources.stood_still(since, now);
        }
        if self.pass() {
            return Ok(super::Progress::Worked);
        }
        let next_idle = self.sources.next_idle().filter(|_| now.is_some());
        match self.input.receive() {
            Received::Element(batch) => self.work(batch?, now)?,
            Received::Ended => return Ok(self.ended()),
            Received::Empty if next_idle.is_some_and(|due| now >= Some(due)) => {
                self.work(SourceBatch::default(), now)?;
            }
            Received::Empty => return Ok(super::Progress::Waiting { until: next_idle }),
        }
        Ok(super::Progress::Worked)
    }
}
