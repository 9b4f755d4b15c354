//! The lateness of a partition's records as it is stored: what was counted before a restore counts on.
//!
//! A stored format: the newest time, the records in order, the largest lateness, then the buckets that hold records, ascending,
//! each by its distance from the one before and its count.

use tidegate_types::stored::{Malformed, Read, Stored, put_i64, put_len, put_u64};

use super::{LatenessHistogram, LatenessRecorder, growing};

/// No partition gives more records than this; so counts of many partitions can be added.
const MOST_RECORDS: u64 = 1 << 48;

impl LatenessRecorder {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_i64(out, self.newest);
        self.histogram.write(out);
    }

    pub(crate) fn read(stored: &mut Stored<'_>) -> Read<Self> {
        Ok(Self { newest: stored.i64()?, histogram: LatenessHistogram::read(stored)? })
    }
}

impl LatenessHistogram {
    fn write(&self, out: &mut Vec<u8>) {
        put_u64(out, self.in_order);
        put_u64(out, self.max);
        let recorded = || self.behind.iter().flat_map(|behind| behind.iter_recorded());
        put_len(out, recorded().count());
        let mut before = 0;
        for bucket in recorded() {
            put_u64(out, bucket.value_iterated_to() - before);
            put_u64(out, bucket.count_at_value());
            before = bucket.value_iterated_to();
        }
    }

    fn read(stored: &mut Stored<'_>) -> Read<Self> {
        let malformed = || Malformed::new("a lateness histogram");
        let (in_order, max) = (stored.u64()?, stored.u64()?);
        let mut behind = None;
        let (mut value, mut records) = (0_u64, in_order);
        for _ in 0..stored.len()? {
            value = value.checked_add(stored.u64()?).ok_or_else(malformed)?;
            let count = stored.u64()?;
            records = records.checked_add(count).ok_or_else(malformed)?;
            if value == 0 || count == 0 || records > MOST_RECORDS {
                return Err(malformed());
            }
            let histogram = behind.get_or_insert_with(|| Box::new(growing()));
            histogram.record_n(value, count).map_err(|_| malformed())?;
        }
        if records > MOST_RECORDS { Err(malformed()) } else { Ok(Self { in_order, behind, max }) }
    }
}
