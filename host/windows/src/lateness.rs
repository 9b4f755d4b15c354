//! How far records lie behind the newest record of their own partition: the disorder that `max_delay` must cover.
//!
//! With `bounded_out_of_orderness` a partition's watermark is its newest time less `max_delay`. So a record is not behind
//! it exactly if its lateness is at most `max_delay`, and the lateness that 99.9% of the records keep to is the
//! `max_delay` that 99.9% of them would need.
//!
//! Invariants: a quantile is never below the true one; it is at most 1/128 (0.8%) above it, exact below 256 ms, and
//! never above the maximum, which is exact. Counts are exact. Nothing is allocated while a partition is in order;
//! afterwards a histogram takes 2 KiB and grows with the largest lateness, to 43 KiB for a lateness of 9,998 years.
//! Histograms merge without loss.

mod stored;

use hdrhistogram::Histogram;
use tidegate_types::{EventTime, Millis};

/// Two significant decimal digits: 128 buckets for each doubling.
const SIGNIFICANT_DIGITS: u8 = 2;

/// Counts of records by lateness, in buckets that grow with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LatenessHistogram {
    /// Records that were not behind.
    in_order: u64,
    /// The others; none while there are none. Boxed: most partitions of most sources have none.
    behind: Option<Box<Histogram<u64>>>,
    max: u64,
}

/// The records of one bucket: their lateness is from `from` to `to`, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatenessBucket {
    /// The least lateness that falls into the bucket.
    pub from: Millis,
    /// The largest.
    pub to: Millis,
    /// How many records fell into it; never zero.
    pub records: u64,
}

/// The lateness that half, 90%, 99%, 99.9% and all of the records keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LatenessSummary {
    /// Half of the records.
    pub p50: Millis,
    /// 90% of the records.
    pub p90: Millis,
    /// 99% of the records.
    pub p99: Millis,
    /// 99.9% of the records.
    pub p999: Millis,
    /// All records; exact.
    pub max: Millis,
}

/// The lateness of one partition's records.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LatenessRecorder {
    newest: EventTime,
    histogram: LatenessHistogram,
}

impl LatenessHistogram {
    /// Counts a record that lies this far behind the newest one before it; zero if it does not.
    #[inline]
    pub fn record(&mut self, lateness: Millis) {
        match u64::try_from(lateness.0) {
            Ok(behind) if behind > 0 => self.record_behind(behind),
            _ => self.in_order += 1,
        }
    }

    fn record_behind(&mut self, behind: u64) {
        self.max = self.max.max(behind);
        let histogram = self.behind.get_or_insert_with(|| Box::new(growing()));
        histogram.record(behind).expect("a histogram that grows takes every value of 64 bits");
    }

    /// Adds another histogram's records.
    pub fn merge(&mut self, other: &Self) {
        self.in_order += other.in_order;
        self.max = self.max.max(other.max);
        match (&mut self.behind, &other.behind) {
            (Some(ours), Some(theirs)) => {
                ours.add(theirs.as_ref()).expect("a histogram that grows takes every value of 64 bits");
            }
            (ours @ None, Some(theirs)) => *ours = Some(theirs.clone()),
            (_, None) => {}
        }
    }

    /// The number of records.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.in_order + self.behind.as_ref().map_or(0, |behind| behind.len())
    }

    /// The largest lateness; exact. Zero if there is no record.
    #[must_use]
    pub fn max(&self) -> Millis {
        millis(self.max)
    }

    /// The lateness that at least this many in a thousand of the records keep to. Zero if there is no record.
    #[must_use]
    pub fn at_per_mille(&self, per_mille: u32) -> Millis {
        let wanted = (u128::from(self.count()) * u128::from(per_mille)).div_ceil(1000);
        let mut seen = 0_u128;
        for bucket in self.buckets() {
            seen += u128::from(bucket.records);
            if seen >= wanted {
                return bucket.to.min(self.max());
            }
        }
        self.max()
    }

    /// The smallest `max_delay` under which at least 99.9% of the records are not behind their partition's watermark.
    #[must_use]
    pub fn max_delay_for_999(&self) -> Millis {
        self.at_per_mille(999)
    }

    /// The usual quantiles.
    #[must_use]
    pub fn summary(&self) -> LatenessSummary {
        LatenessSummary {
            p50: self.at_per_mille(500),
            p90: self.at_per_mille(900),
            p99: self.at_per_mille(990),
            p999: self.at_per_mille(999),
            max: self.max(),
        }
    }

    /// The buckets that hold records, ascending; the first is that of the records in order, if there are any.
    pub fn buckets(&self) -> impl Iterator<Item = LatenessBucket> {
        let in_order = LatenessBucket { from: Millis(0), to: Millis(0), records: self.in_order };
        let behind = self.behind.iter().flat_map(|histogram| {
            histogram.iter_recorded().map(|bucket| LatenessBucket {
                from: millis(histogram.lowest_equivalent(bucket.value_iterated_to())),
                to: millis(histogram.highest_equivalent(bucket.value_iterated_to())),
                records: bucket.count_at_value(),
            })
        });
        Some(in_order).filter(|bucket| bucket.records > 0).into_iter().chain(behind)
    }
}

impl LatenessRecorder {
    /// A recorder of a partition that gave no record yet.
    pub(crate) fn new() -> Self {
        Self { newest: EventTime::MIN, histogram: LatenessHistogram::default() }
    }

    /// A record at `time` was seen.
    #[inline]
    pub(crate) fn observe(&mut self, time: EventTime) {
        self.histogram.record(Millis(self.newest.saturating_sub(time)));
        self.newest = self.newest.max(time);
    }

    /// The largest event time seen.
    pub(crate) fn newest(&self) -> Option<EventTime> {
        Some(self.newest).filter(|_| self.histogram.count() > 0)
    }

    pub(crate) fn histogram(&self) -> &LatenessHistogram {
        &self.histogram
    }
}

/// An empty histogram that grows with what is recorded.
fn growing() -> Histogram<u64> {
    let mut histogram = Histogram::new(SIGNIFICANT_DIGITS).expect("two significant digits are possible");
    histogram.auto(true);
    histogram
}

fn millis(value: u64) -> Millis {
    Millis(i64::try_from(value).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
