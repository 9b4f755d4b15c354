//! What every candidate fills.

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{Array, Int64Array, StringArray};

/// The fields that are wanted; `event_time` is one more and `event_id` is skipped.
pub const TEXTS: [&str; 2] = ["campaign_id", "country"];
pub const INTS: [&str; 3] = ["impressions", "clicks", "spend_micros"];

pub struct Columns {
    pub times: Vec<i64>,
    pub texts: [StringArray; 2],
    pub ints: [Int64Array; 3],
}

impl Columns {
    /// Sums that tell columns apart.
    pub fn sums(&self) -> (i64, [usize; 2], [i64; 3]) {
        let bytes = self.texts.each_ref().map(|texts| texts.iter().flatten().map(str::len).sum());
        let ints = self.ints.each_ref().map(|ints| ints.iter().flatten().sum());
        assert_eq!(self.times.len(), self.texts[0].len());
        (self.times.iter().sum(), bytes, ints)
    }
}

#[derive(Default)]
pub struct Builders {
    pub times: Vec<i64>,
    pub texts: [StringBuilder; 2],
    pub ints: [Int64Builder; 3],
}

impl Builders {
    pub fn time(&mut self, text: &str) {
        self.times.push(tidegate_formats::parse_rfc3339(text).expect("a time"));
    }

    pub fn finish(mut self) -> Columns {
        Columns {
            times: self.times,
            texts: self.texts.each_mut().map(StringBuilder::finish),
            ints: self.ints.each_mut().map(Int64Builder::finish),
        }
    }
}
