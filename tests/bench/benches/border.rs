//! The border: one call of a map hook in the sandbox against the same map in the host's own process, with fuel and epochs on.
//!
//! `cargo bench -p tidegate-bench --bench border`, after `.ci/build-guests.sh`. Prints the table of docs/benchmarks.md.

use std::path::PathBuf;
use std::sync::Arc;

use tidegate_bench::events::{campaign_natively, events, fields, identity_natively};
use tidegate_bench::nanos;
use tidegate_sandbox::{NoLog, OpenOptions, Sandbox, SandboxConfig};
use tidegate_types::Column;
use tidegate_types::hooks::{Call, HookRows, MapHook};

/// A map in the host's own process.
type Natively = fn(&HookRows) -> Vec<Column>;

fn main() {
    let sandbox = Sandbox::new(SandboxConfig::default()).expect("the sandbox starts");
    println!("| map | row, bytes | rows a call | native, ns a row | sandbox, ns a row | more, ns a row | fuel a row |");
    println!("|---|---|---|---|---|---|---|");
    let maps: [(&str, Natively); 2] = [("identity", identity_natively), ("campaign", campaign_natively)];
    for (name, native) in maps {
        let mut hook = open(&sandbox, name);
        for row_bytes in [100, 1_000] {
            for rows in [1, 16, 256, 1_024] {
                measure(name, native, &mut *hook, row_bytes, rows);
            }
        }
    }
}

fn measure(name: &str, native: Natively, hook: &mut dyn MapHook, row_bytes: usize, rows: usize) {
    let input = events(rows, row_bytes);
    let answer = hook.process(Call::USUAL, &input).expect("the call succeeds");
    assert_eq!(format!("{:?}", answer.value.columns), format!("{:?}", native(&input)), "both make the same columns");
    let count = f64::from(u32::try_from(rows).expect("a few rows"));
    let natively = nanos(|| native(&input)) / count;
    let sandboxed = nanos(|| hook.process(Call::USUAL, &input).expect("the call succeeds")) / count;
    let fuel = answer.fuel_used / u64::try_from(rows).expect("a few rows");
    let more = sandboxed - natively;
    println!("| {name} | {row_bytes} | {rows} | {natively:.1} | {sandboxed:.1} | {more:.1} | {fuel} |");
}

fn open(sandbox: &Sandbox, name: &str) -> Box<dyn MapHook> {
    let path = guests().join(format!("{name}.wasm"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| {
        panic!("{}: {error}; build the guests with .ci/build-guests.sh", path.display());
    });
    let component = sandbox.load(name, &bytes).expect("the component loads");
    component.open_mapper("null", &fields(), OpenOptions::new(Arc::new(NoLog))).expect("the hook opens")
}

#[allow(
    clippy::disallowed_methods,
    reason = "a benchmark is a program of its own, and finds its guests by the environment"
)]
fn guests() -> PathBuf {
    let from = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let target = from("CARGO_TARGET_DIR").or_else(|| from("HOME").map(|home| home.join(".cache/tidegate/target")));
    target.expect("there is a home folder").join("guests")
}
