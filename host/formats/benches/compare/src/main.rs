//! Compares JSON decoders on campaign events: the event time and five fields of each record into Arrow columns.
//!
//! Every candidate reads the same batches of 1,024 records of about 150 bytes, checks what it skips as far as it can, and
//! writes the same columns; event times are parsed by the same function. Printed: the best and the median of all rounds,
//! in nanoseconds of CPU time per record. One argument: the number of rounds (default 30).

mod columns;
mod libraries;
mod ours;
mod records;
mod serde_visitor;
mod strictness;

use columns::Columns;
use records::Batch;

/// Decodes a batch.
type Decode = Box<dyn FnMut(&Batch) -> Columns>;

fn main() {
    let rounds = std::env::args().nth(1).map_or(30, |rounds| rounds.parse().expect("the number of rounds"));
    println!("records that should be refused");
    strictness::print();
    for spaced in [false, true] {
        let batches = records::batches(64, 1_024, spaced);
        let bytes: usize = batches.iter().map(|batch| batch.data.len()).sum();
        let records: usize = batches.iter().map(|batch| batch.spans.len()).sum();
        println!("{records} records of {} bytes, {}", bytes / records, if spaced { "spaces" } else { "no spaces" });
        let mut candidates: Vec<(&str, Decode)> = vec![
            ("serde_json, visitor", Box::new(serde_visitor::serde_json)),
            ("sonic-rs, visitor", Box::new(serde_visitor::sonic_rs)),
            ("sonic-rs, lazy values", Box::new(libraries::sonic_lazy)),
            ("simd-json, tape", Box::new(libraries::simd_tape())),
            ("arrow-json", Box::new(libraries::arrow_json())),
            ("own scanner, declared", Box::new(ours::decoder(true))),
            ("own scanner, dynamic", Box::new(ours::decoder(false))),
        ];
        let expected: Vec<_> = batches.iter().map(|batch| candidates[0].1(batch).sums()).collect();
        for (name, decode) in &mut candidates {
            for (batch, expected) in batches.iter().zip(&expected) {
                assert_eq!(decode(batch).sums(), *expected, "{name} decodes something else");
            }
            let mut times: Vec<f64> = (0..rounds).map(|_| round(decode, &batches, records)).collect();
            times.sort_by(f64::total_cmp);
            println!("  {name:24} {:7.1} ns best {:7.1} ns median", times[0], times[times.len() / 2]);
        }
    }
}

/// Nanoseconds per record on the CPU (so that other processes disturb less than by wall clock).
fn round(decode: &mut Decode, batches: &[Batch], records: usize) -> f64 {
    let start = cpu_nanoseconds();
    for batch in batches {
        std::hint::black_box(decode(std::hint::black_box(batch)));
    }
    (cpu_nanoseconds() - start) as f64 / records as f64
}

fn cpu_nanoseconds() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
