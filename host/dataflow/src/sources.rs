//! All sources of a job, read in one order: which rows arrive, and when each source's watermark and the clock move.
//!
//! Everything that happens is an event with a position of its own: a row arrives, a record has been heard, a partition ends,
//! an instant is reached at which partitions become idle, the clock moves. Invariant: a source's progress tells, event by
//! event, its watermark and the clock, so that nothing downstream depends on where the reader cut its batches.

use std::sync::Arc;

use tidegate_connectors::SourceBatch;
use tidegate_formats::Claim;
use tidegate_types::batch::index;
use tidegate_types::stored::{Malformed, Read, Stored, put_len, put_u64};
use tidegate_types::{Arrivals, Batch, EventTime, NO_CLOCK, PartitionId, Progress, ProgressEntry, Watermark};

use crate::OperatorError;
use crate::account::Account;
use crate::report::SourceReport;
use crate::side::Side;
use crate::source::{Chained, SourceChain};
use crate::task::SourceStatus;

/// What a source batch leads to: for each source its rows, in order, and its progress.
#[derive(Debug)]
pub struct Round {
    /// One for each source, without keys.
    pub batches: Vec<Batch>,
    /// Rejected records.
    pub sides: Vec<Side>,
    /// What became of the records so far.
    pub account: Account,
}

/// The sources of a job.
pub struct Sources {
    chains: Vec<SourceChain>,
    /// Of each partition of the reader: its source, and its place among that source's partitions.
    partitions: Vec<(usize, PartitionId)>,
    /// Events so far.
    events: u64,
}

impl Sources {
    /// The chains of all sources. `partitions`: of each partition of the reader, its source, and its place there.
    pub(crate) fn new(chains: Vec<SourceChain>, partitions: Vec<(usize, PartitionId)>) -> Self {
        Self { chains, partitions, events: 0 }
    }

    /// Everything that each source shows of itself.
    #[must_use]
    pub fn reports(&self) -> Vec<SourceReport> {
        self.chains.iter().map(SourceChain::report).collect()
    }

    /// When a partition becomes idle by itself, if one does.
    pub(crate) fn next_idle(&self) -> Option<EventTime> {
        self.chains.iter().filter_map(|chain| chain.watermarks.next_idle()).min()
    }

    /// The engine read nothing from `since` to `until` of the wall clock because what is behind took no more.
    pub(crate) fn stood_still(&mut self, since: EventTime, until: EventTime) {
        for chain in &mut self.chains {
            chain.watermarks.stood_still(since, until);
        }
    }

    /// How far the slowest source is, for whoever shows it; `bytes`: read since the last status.
    pub(crate) fn status(&self, bytes: u64) -> SourceStatus {
        let slowest = self.chains.iter().min_by_key(|chain| chain.watermarks.combined());
        let slowest = slowest.expect("a job has a source");
        SourceStatus {
            watermark: slowest.watermarks.combined(),
            clock: slowest.watermarks.clock(),
            slowest: slowest.slowest(),
            bytes,
        }
    }

    /// Works through what was read. `now` is the wall clock's reading; none under a virtual clock.
    ///
    /// # Errors
    /// If a map hook cannot be called; no record is condemned then.
    pub fn process(&mut self, input: SourceBatch, now: Option<EventTime>) -> Result<Round, OperatorError> {
        let chained = self.chained(&input)?;
        let timeline = Timeline::new(&mut self.chains, &self.partitions, &chained, now.is_none());
        let Told { progress, positions, events } = timeline.tell(&input, now);
        let mut round = Round { batches: Vec::new(), sides: Vec::new(), account: Account::default() };
        for ((chained, progress), positions) in chained.into_iter().zip(progress).zip(positions) {
            let Chained { rows, origin, mut sides, account, .. } = chained;
            round.sides.append(&mut sides);
            round.account += account;
            round.batches.push(Batch {
                schema: rows.schema,
                columns: rows.columns,
                times: rows.times.into(),
                rows: rows.records.into(),
                positions: positions.into(),
                arrivals: Arrivals::From(self.events),
                retractions: None,
                keys: None,
                origin,
                progress: Arc::new(progress),
            });
        }
        self.events += u64::from(events);
        Ok(round)
    }

    /// Writes what goes beyond a round: the count of events, and each source's watermarks.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_u64(out, self.events);
        put_len(out, self.chains.len());
        for chain in &self.chains {
            put_len(out, chain.partition_names.len());
            chain.watermarks.write(out);
        }
    }

    /// Takes over what an earlier run wrote. Partitions may have been added since.
    pub(crate) fn restore(&mut self, stored: &mut Stored<'_>) -> Read<()> {
        self.events = stored.u64()?;
        if stored.len()? != self.chains.len() {
            return Err(Malformed::new("as many sources as the job has"));
        }
        for chain in &mut self.chains {
            let (before, now) = (stored.len()?, chain.partition_names.len());
            if before > now {
                return Err(Malformed::new("no more partitions than the stream has"));
            }
            // A stream's partitions keep their numbers; those that were added come after them.
            let partitions: Vec<_> = (0..now).map(|number| (number < before).then_some(number)).collect();
            chain.watermarks.restore(stored, &partitions)?;
        }
        Ok(())
    }

    /// Each source's part of what was read, decoded and mapped.
    fn chained(&mut self, input: &SourceBatch) -> Result<Vec<Chained>, OperatorError> {
        if let [chain] = self.chains.as_mut_slice() {
            return Ok(vec![chain.process(input)?]);
        }
        let parts = split(input, &self.partitions, self.chains.len());
        self.chains.iter_mut().zip(&parts).map(|(chain, part)| chain.process(part)).collect()
    }
}

/// The records of each source, with the source's own partitions.
fn split(input: &SourceBatch, partitions: &[(usize, PartitionId)], sources: usize) -> Vec<SourceBatch> {
    let mut parts: Vec<SourceBatch> =
        (0..sources).map(|_| SourceBatch { data: input.data.clone(), ..SourceBatch::default() }).collect();
    for ((span, partition), offset) in input.spans.iter().zip(&input.partition).zip(&input.offsets) {
        let (source, partition) = place(partitions, *partition);
        let part = &mut parts[source];
        part.spans.push(*span);
        part.partition.push(partition);
        part.offsets.push(*offset);
    }
    parts
}

/// The source of a record, and its partition there. Only a job of one source reads records of no partition.
fn place(partitions: &[(usize, PartitionId)], partition: Option<PartitionId>) -> (usize, Option<PartitionId>) {
    partition.map_or((0, None), |id| {
        let (source, own) = partitions[index(id.0)];
        (source, Some(own))
    })
}

/// What the timeline tells.
struct Told {
    /// Of each source.
    progress: Vec<Progress>,
    /// The positions of each source's rows.
    positions: Vec<Vec<u32>>,
    /// How many there were.
    events: u32,
}

/// Goes through the records in the order of their arrival and numbers what happens.
struct Timeline<'a> {
    chains: &'a mut [SourceChain],
    partitions: &'a [(usize, PartitionId)],
    chained: &'a [Chained],
    /// Records of each source so far.
    records: Vec<usize>,
    /// What each source's watermark is as the clock moves; kept for its memory.
    watermarks: Vec<Watermark>,
    told: Told,
    virtual_clock: bool,
}

impl<'a> Timeline<'a> {
    fn new(
        chains: &'a mut [SourceChain],
        partitions: &'a [(usize, PartitionId)],
        chained: &'a [Chained],
        virtual_clock: bool,
    ) -> Self {
        let sources = chains.len();
        let told = Told {
            progress: vec![Progress::default(); sources],
            positions: chained.iter().map(|chained| Vec::with_capacity(chained.rows.records.len())).collect(),
            events: 0,
        };
        let (records, watermarks) = (vec![0; sources], Vec::with_capacity(sources));
        Self { chains, partitions, chained, records, watermarks, told, virtual_clock }
    }

    fn tell(mut self, input: &SourceBatch, now: Option<EventTime>) -> Told {
        let mut ended = input.ended.as_slice();
        if let Some(now) = now {
            self.clock(now);
        }
        for (at, partition) in input.partition.iter().enumerate() {
            self.end_partitions(&mut ended, at);
            self.record(*partition);
        }
        self.end_partitions(&mut ended, input.spans.len());
        if input.done {
            let moved: Vec<_> = self.chains.iter_mut().map(|chain| chain.watermarks.end_all()).collect();
            self.moved(moved);
        }
        self.told
    }

    /// A record arrives: the clock moves to its arrival, its rows come, and what it claims moves the watermark.
    fn record(&mut self, partition: Option<PartitionId>) {
        let (source, partition) = place(self.partitions, partition);
        let record = self.records[source];
        self.records[source] += 1;
        let Chained { decoded, rows, .. } = &self.chained[source];
        if let Some(Some(arrival)) = decoded.arrivals.get(record) {
            self.clock(*arrival);
        }
        let Some(partition) = partition else { return };
        let timed = self.chains[source].timed;
        let claim = decoded.claims.get(record).copied().unwrap_or(Claim::Nothing);
        let mut row = self.told.positions[source].len();
        while rows.records.get(row).is_some_and(|of| index(*of) == record) {
            let position = self.event();
            self.told.positions[source].push(position);
            if !timed {
                self.hear(source, partition, rows.times[row], claim);
            }
            row += 1;
        }
        if timed
            && decoded.heard.get(record).copied().unwrap_or(false)
            && let Some(Some(time)) = decoded.times.get(record)
        {
            self.hear(source, partition, *time, claim);
        }
    }

    /// A partition gave a record with this time.
    fn hear(&mut self, source: usize, partition: PartitionId, time: EventTime, claim: Claim) {
        let watermarks = &mut self.chains[source].watermarks;
        watermarks.hear(partition);
        if let Some(watermark) = watermarks.record(partition, time, claimed(claim, time)) {
            let position = self.event();
            self.note(source, position, watermark, self.chains[source].watermarks.clock());
        }
    }

    /// The clock moves; idleness may fall due on the way, in all sources at one instant together.
    fn clock(&mut self, to: EventTime) {
        if to <= self.chains[0].watermarks.clock() {
            return;
        }
        let mut watermarks = std::mem::take(&mut self.watermarks);
        watermarks.extend(self.chains.iter().map(|chain| chain.watermarks.combined()));
        let mut due: Vec<(EventTime, usize, Watermark)> = Vec::new();
        for (source, chain) in self.chains.iter_mut().enumerate() {
            chain.watermarks.advance_clock(to, |instant, watermark| due.push((instant, source, watermark)));
        }
        due.sort_by_key(|(instant, source, _)| (*instant, *source));
        for together in due.chunk_by(|a, b| a.0 == b.0) {
            for (_, source, watermark) in together {
                watermarks[*source] = *watermark;
            }
            self.everywhere(&watermarks, together[0].0);
        }
        if self.virtual_clock {
            let clock = self.chains[0].watermarks.clock();
            self.everywhere(&watermarks, clock);
        }
        watermarks.clear();
        self.watermarks = watermarks;
    }

    /// One event that all sources tell: these watermarks at this clock.
    fn everywhere(&mut self, watermarks: &[Watermark], clock: EventTime) {
        let position = self.event();
        for (source, watermark) in watermarks.iter().enumerate() {
            self.note(source, position, *watermark, clock);
        }
    }

    /// Ends the partitions that end before the record at `at`, those of one place together.
    fn end_partitions(&mut self, ended: &mut &[(u32, PartitionId)], at: usize) {
        let count = ended.iter().take_while(|(before, _)| index(*before) <= at).count();
        if count == 0 {
            return;
        }
        let (now, later) = ended.split_at(count);
        *ended = later;
        let partitions = self.partitions;
        let of = |source: usize| {
            let own = now.iter().map(move |(_, id)| partitions[index(id.0)]);
            own.filter(move |(of, _)| *of == source).map(|(_, own)| own)
        };
        // A source that has ended holds nothing back, whatever others have still to give.
        let ends = |(source, chain): (usize, &mut SourceChain)| {
            let moved = chain.watermarks.end(of(source));
            if chain.watermarks.has_ended() { chain.watermarks.end_all() } else { moved }
        };
        let moved = self.chains.iter_mut().enumerate().map(ends).collect();
        self.moved(moved);
    }

    /// One event that moves the watermarks of some sources.
    fn moved(&mut self, watermarks: Vec<Option<Watermark>>) {
        if watermarks.iter().all(Option::is_none) {
            return;
        }
        let position = self.event();
        for (source, watermark) in watermarks.into_iter().enumerate() {
            if let Some(watermark) = watermark {
                self.note(source, position, watermark, self.chains[source].watermarks.clock());
            }
        }
    }

    fn note(&mut self, source: usize, position: u32, watermark: Watermark, clock: EventTime) {
        let clock = if self.virtual_clock { clock } else { NO_CLOCK };
        self.told.progress[source].push(ProgressEntry { position, watermark, clock });
    }

    /// The position of the next event.
    fn event(&mut self) -> u32 {
        let position = self.told.events;
        self.told.events += 1;
        position
    }
}

/// The event time that a punctuated record claims.
fn claimed(claim: Claim, own: EventTime) -> Option<EventTime> {
    match claim {
        Claim::Nothing => None,
        Claim::OwnTime => Some(own),
        Claim::At(time) => Some(time),
    }
}
