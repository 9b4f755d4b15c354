//! `approx_count_distinct`: HyperLogLog with 4,096 registers, whose relative standard error is 1.04 / 64 = 1.6%.
//!
//! The sketch is Apache DataSketches': a list and a set of hashes while they are few (then the count is all but exact),
//! one byte per register after. Its default estimator depends on the order of additions, so we ask for the composite one,
//! which is a function of the set of hashes alone. A value's hash is that of its stored encoding, so a sketch may be kept.

use datasketches::hash::value::raw_bytes;
use datasketches::hll::{Coupon, HllSketch, HllType, HllUnion};
use tidegate_types::key::encode_value;
use tidegate_types::stored::{Malformed, Read, Stored};
use tidegate_types::{Column, ValueRef};

use super::counts::{count_to_int, counts_column};
use super::store::{Rows, Store, bytes, bytes_of};

/// 2^12 registers.
const LOG_REGISTERS: u8 = 12;

/// The first byte of a sketch that has registers: the length of what stands before them, in words.
const REGISTERS: u8 = 10;

/// The bytes before the registers of a stored sketch.
const PREAMBLE: usize = 40;

/// What a register holds at most: it has 6 bits in a hash.
const LARGEST_REGISTER: u8 = 63;

/// A sketch per slot; none where nothing was added.
#[derive(Debug, Default)]
pub(super) struct ApproximateDistinct {
    sketches: Vec<Option<Box<HllSketch>>>,
    held: u64,
    scratch: Vec<u8>,
}

impl Store for ApproximateDistinct {
    fn reserve(&mut self, slots: usize) {
        self.sketches.resize_with(slots, || None);
    }

    fn reset(&mut self, slot: usize) {
        self.held -= held(self.sketches[slot].take().as_deref());
    }

    fn add(&mut self, rows: &Rows<'_>) {
        // A row with several windows stands several times in a row: its hash is taken once.
        let mut hashed: Option<(usize, Coupon)> = None;
        rows.each_value(|row, slot, value| {
            let coupon = match hashed {
                Some((last, coupon)) if last == row => coupon,
                _ => coupon_of(value, &mut self.scratch),
            };
            hashed = Some((row, coupon));
            let before = held(self.sketches[slot].as_deref());
            let sketch = self.sketches[slot].get_or_insert_with(|| Box::new(empty_sketch()));
            sketch.update_with_coupon(coupon);
            self.held = self.held + held(Some(sketch)) - before;
        });
    }

    fn merge(&mut self, into: usize, from: usize) {
        let Some(source) = &self.sketches[from] else { return };
        let before = held(self.sketches[into].as_deref());
        let merged = match &self.sketches[into] {
            None => (**source).clone(),
            Some(target) => {
                let mut union = HllUnion::new(LOG_REGISTERS).expect("12 is a legal number of index bits");
                union.update(target);
                union.update(source);
                union.to_sketch(HllType::Hll8)
            }
        };
        self.held = self.held + held(Some(&merged)) - before;
        self.sketches[into] = Some(Box::new(merged));
    }

    fn finish(&mut self, slots: &[u32]) -> Column {
        counts_column(slots.iter().map(|slot| {
            let sketch = &self.sketches[tidegate_types::batch::index(*slot)];
            sketch.as_ref().map_or(0, |sketch| count_to_int(estimate(sketch)))
        }))
    }

    fn write(&self, slot: usize, out: &mut Vec<u8>) {
        if let Some(sketch) = &self.sketches[slot] {
            out.extend_from_slice(&sketch.serialize());
        }
    }

    fn read(&mut self, slot: usize, stored: &mut Stored<'_>) -> Read<()> {
        if stored.is_empty() {
            return Ok(());
        }
        let sketch = read_sketch(stored.take(stored.rest().len())?)?;
        self.held += held(Some(&sketch));
        self.sketches[slot] = Some(Box::new(sketch));
        Ok(())
    }

    fn bytes(&self) -> u64 {
        bytes_of::<Option<Box<HllSketch>>>(self.sketches.len()) + self.held
    }
}

fn empty_sketch() -> HllSketch {
    HllSketch::new(LOG_REGISTERS, HllType::Hll8).expect("12 is a legal number of index bits")
}

/// The sketch of these bytes, which must be the very ones that it is written as.
fn read_sketch(stored: &[u8]) -> Read<HllSketch> {
    let malformed = Malformed::new("a sketch of distinct values");
    // The first byte tells lists and sets of hashes, which are read with checks, from registers, which are not.
    if stored.first() == Some(&REGISTERS) && !registers_fit(stored) {
        return Err(malformed);
    }
    let sketch = HllSketch::deserialize(stored).map_err(|_| malformed.clone())?;
    let fits = sketch.lg_config_k() == LOG_REGISTERS && sketch.target_type() == HllType::Hll8;
    if fits && sketch.serialize().len() == stored.len() { Ok(sketch) } else { Err(malformed) }
}

/// Whether stored registers are what a hash can make, and what was worked out from them fits them.
fn registers_fit(stored: &[u8]) -> bool {
    let Some((preamble, registers)) = stored.split_at_checked(PREAMBLE) else { return false };
    let number = |at: usize| preamble[at..].first_chunk().map_or(0.0, |bytes| f64::from_le_bytes(*bytes));
    let zeros = preamble[32..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let power = |register: &u8| 0.5f64.powi(i32::from(*register));
    // Each power is a multiple of the least one: the sums are exact, in whatever order.
    let sum = |of: &dyn Fn(&u8) -> bool| {
        registers.iter().filter(|register| of(register)).map(power).fold(0.0, |sum, power| sum + power)
    };
    let (near, far) = (sum(&|register| *register < 32), sum(&|register| *register >= 32));
    registers.len() == 1 << LOG_REGISTERS
        && registers.iter().all(|register| *register <= LARGEST_REGISTER)
        && usize::try_from(zeros).is_ok_and(|zeros| zeros == registers.iter().filter(|value| **value == 0).count())
        && number(16).to_bits() == near.to_bits()
        && number(24).to_bits() == far.to_bits()
}

fn coupon_of(value: ValueRef<'_>, scratch: &mut Vec<u8>) -> Coupon {
    scratch.clear();
    encode_value(scratch, value);
    Coupon::from_value(raw_bytes::from_slice(scratch))
}

fn estimate(sketch: &HllSketch) -> u64 {
    // A cast of a float to an integer saturates, and the estimate is never negative.
    sketch.composite_estimate().round() as u64
}

fn held(sketch: Option<&HllSketch>) -> u64 {
    sketch.map_or(0, |sketch| bytes_of::<HllSketch>(1) + bytes(sketch.estimated_size()))
}
