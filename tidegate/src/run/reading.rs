//! A source that counts what was read and, for watching, spreads its reading over a time.
//!
//! Both change nothing but when batches are cut and when they come, which no result depends on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tidegate_connectors::{Input, Source, SourceBatch, SourceError};
use tidegate_types::Value;

/// What was read so far.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    records: AtomicU64,
    bytes: AtomicU64,
}

impl Meter {
    /// Records and bytes, line feeds included.
    pub(crate) fn read(&self) -> (u64, u64) {
        (self.records.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    fn add(&self, batch: &SourceBatch) {
        let records = u64::try_from(batch.spans.len()).unwrap_or(u64::MAX);
        let bytes = u64::try_from(batch.data.len()).unwrap_or(u64::MAX);
        self.records.fetch_add(records, Ordering::Relaxed);
        self.bytes.fetch_add(bytes + records, Ordering::Relaxed);
    }
}

/// How fast a source is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// How long reading everything should take.
    over: Duration,
    /// The size of everything, bytes.
    total: u64,
}

impl Pace {
    pub(super) fn new(over: Duration, total: u64) -> Self {
        Self { over, total: total.max(1) }
    }

    /// How long after the start so many bytes should have been read.
    fn due(&self, bytes: u64) -> Duration {
        let millis = self.over.as_millis() * u128::from(bytes.min(self.total)) / u128::from(self.total);
        Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
    }

    /// Bytes to read at once: about twenty batches a second, so that the eye sees no steps.
    fn step(&self) -> usize {
        let steps = (self.over.as_millis() / 50).max(1);
        usize::try_from(u128::from(self.total) / steps).unwrap_or(usize::MAX).max(1)
    }
}

/// A source that is counted and paced.
pub(super) struct Reading {
    source: Box<dyn Source>,
    meter: Arc<Meter>,
    pace: Option<Pace>,
    started: Option<Instant>,
}

impl Reading {
    pub(super) fn new(source: Box<dyn Source>, meter: Arc<Meter>, pace: Option<Pace>) -> Self {
        Self { source, meter, pace, started: None }
    }
}

impl Source for Reading {
    fn partitions(&self) -> &[Value] {
        self.source.partitions()
    }

    fn read(&mut self, max_rows: usize, max_bytes: usize) -> Result<SourceBatch, SourceError> {
        let started = *self.started.get_or_insert_with(now);
        let max_bytes = self.pace.map_or(max_bytes, |pace| max_bytes.min(pace.step()));
        let batch = self.source.read(max_rows, max_bytes)?;
        if let Some(pace) = self.pace {
            let (_, before) = self.meter.read();
            wait_until(started + pace.due(before));
        }
        self.meter.add(&batch);
        Ok(batch)
    }
}

#[allow(clippy::disallowed_methods, reason = "how long a person watches is real time; no result depends on it")]
fn now() -> Instant {
    Instant::now()
}

#[allow(clippy::disallowed_methods, reason = "a pause for the eye, not for another thread")]
fn wait_until(due: Instant) {
    thread::sleep(due.saturating_duration_since(now()));
}

/// The size of all inputs together, bytes; none if that of one is not known.
pub(super) fn total_bytes(inputs: &[Input]) -> Option<u64> {
    let size = |input: &Input| match input {
        Input::Stdin => None,
        Input::File(path) => std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|file| file.len()),
    };
    inputs.iter().map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten bytes a batch, ten times.
    struct Ten(u32);

    impl Source for Ten {
        fn partitions(&self) -> &[Value] {
            &[]
        }

        fn read(&mut self, _max_rows: usize, max_bytes: usize) -> Result<SourceBatch, SourceError> {
            assert!(max_bytes >= 1);
            self.0 += 1;
            let data = b"123456789".as_slice().into();
            Ok(SourceBatch { data, spans: vec![(0, 9)], done: self.0 == 10, ..SourceBatch::default() })
        }
    }

    #[test]
    fn a_meter_counts_records_and_bytes() {
        let meter = Arc::new(Meter::default());
        let mut reading = Reading::new(Box::new(Ten(0)), Arc::clone(&meter), None);
        while !reading.read(1, 1000).unwrap().done {}
        assert_eq!(meter.read(), (10, 100));
    }

    #[test]
    fn a_pace_spreads_the_reading_evenly() {
        let pace = Pace::new(Duration::from_secs(10), 1000);
        assert_eq!(pace.due(0), Duration::ZERO);
        assert_eq!(pace.due(500), Duration::from_secs(5));
        assert_eq!(pace.due(5000), Duration::from_secs(10));
        assert_eq!(pace.step(), 5);
        let mut reading =
            Reading::new(Box::new(Ten(0)), Arc::default(), Some(Pace::new(Duration::from_millis(100), 100)));
        let start = now();
        while !reading.read(1, 1000).unwrap().done {}
        assert!(now() - start >= Duration::from_millis(90));
    }
}
