//! The aggregate hook: a histogram of delays per airport and hour.
//!
//! The buckets are fixed, so that any two sketches merge by adding: 1 minute wide up to an hour and a half, then 5 minutes, then half an
//! hour. A percentile is the lower edge of the bucket that the flight of that rank is in: exact where buckets are a minute wide.

use tidegate_sdk::{Aggregator, Fault, Field, Reject, Row};

/// What the sketch needs of a flight: two fields that the map hook made.
#[derive(Row, Clone, Debug)]
pub struct Departure {
    /// Minutes, negative when early, null when cancelled.
    pub delay_min: Option<i64>,
    /// Whether it did not leave at all.
    pub cancelled: bool,
}

/// The accumulator: what the host stores per airport and hour.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Sketch {
    /// Flights that left.
    pub departed: i64,
    /// Flights that did not.
    pub cancelled: i64,
    /// The sum of the delays in minutes.
    pub total_min: i64,
    /// How many delays fell into each bucket.
    pub buckets: [u32; BUCKETS],
}

/// What a pane shows. Without flights everything but `departed` is null.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Delays {
    /// Flights that left.
    pub departed: i64,
    /// The mean delay in minutes.
    pub mean_min: Option<f64>,
    /// The median delay.
    pub p50_min: Option<i64>,
    /// The delay that 9 of 10 flights stayed within.
    pub p90_min: Option<i64>,
    /// The delay that 99 of 100 flights stayed within.
    pub p99_min: Option<i64>,
    /// Cancelled flights of all, 0 to 1.
    pub cancelled_share: Option<f64>,
}

/// A run of buckets of one width: its lower edge and the width, in minutes, and how many there are.
const RUNS: [(i64, i64, usize); 3] = [(-30, 1, 120), (90, 5, 42), (300, 30, 86)];

/// All buckets. Earlier delays fall into the first, later ones into the last.
const BUCKETS: usize = RUNS[0].2 + RUNS[1].2 + RUNS[2].2;

fn bucket_of(delay_min: i64) -> usize {
    let mut before = 0;
    for (edge, width, count) in RUNS {
        let place = usize::try_from((delay_min - edge).div_euclid(width)).unwrap_or(0);
        if place < count {
            return before + place;
        }
        before += count;
    }
    BUCKETS - 1
}

fn lower_edge(bucket: usize) -> i64 {
    let mut place = bucket;
    for (edge, width, count) in RUNS {
        if place < count {
            return edge + width * i64::try_from(place).unwrap_or(i64::MAX);
        }
        place -= count;
    }
    i64::MAX
}

impl Sketch {
    fn empty() -> Self {
        Self { departed: 0, cancelled: 0, total_min: 0, buckets: [0; BUCKETS] }
    }

    /// The lower edge of the bucket with the flight of rank `ceil(percent / 100 * departed)`; none without flights.
    fn percentile(&self, percent: i64) -> Option<i64> {
        let rank = (percent * self.departed + 99) / 100;
        let mut seen = 0;
        let bucket = self.buckets.iter().position(|count| {
            seen += i64::from(*count);
            seen >= rank
        });
        bucket.filter(|_| rank > 0).map(lower_edge)
    }
}

/// The aggregate hook.
pub struct DelaySketch;

impl Aggregator for DelaySketch {
    type Config = ();
    type In<'a> = Departure;
    type Accumulator = Sketch;
    type Out = Delays;

    fn open((): (), _key: &[Field], _input: &[Field]) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn init(&self) -> Sketch {
        Sketch::empty()
    }

    fn accumulate(&self, sketch: &mut Sketch, flight: Departure) -> Result<(), Reject> {
        if let Some(delay) = flight.delay_min {
            sketch.departed += 1;
            sketch.total_min += delay;
            sketch.buckets[bucket_of(delay)] += 1;
        }
        sketch.cancelled += i64::from(flight.cancelled);
        Ok(())
    }

    fn merge(&self, left: &mut Sketch, right: &Sketch) {
        left.departed += right.departed;
        left.cancelled += right.cancelled;
        left.total_min += right.total_min;
        left.buckets.iter_mut().zip(right.buckets).for_each(|(left, right)| *left += right);
    }

    fn finish(&self, sketch: &Sketch) -> Delays {
        let share = |part: i64, whole: i64| (whole > 0).then(|| part as f64 / whole as f64);
        Delays {
            departed: sketch.departed,
            mean_min: share(sketch.total_min, sketch.departed),
            p50_min: sketch.percentile(50),
            p90_min: sketch.percentile(90),
            p99_min: sketch.percentile(99),
            cancelled_share: share(sketch.cancelled, sketch.departed + sketch.cancelled),
        }
    }
}

#[cfg(test)]
mod tests;
