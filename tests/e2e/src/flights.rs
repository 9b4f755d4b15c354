//! The real flights: the whole month where its file is at hand, otherwise the part that the example ships.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The flights as JSON lines, in order of arrival.
///
/// # Panics
/// If there is neither file.
pub fn events() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let whole = root.join("../shared/data/flights-2013-01.ndjson.gz");
    if whole.is_file() {
        let unpacked = Command::new("gzip").arg("-dc").arg(&whole).output().expect("gzip is on every Linux");
        assert!(unpacked.status.success(), "{}: {}", whole.display(), String::from_utf8_lossy(&unpacked.stderr));
        return String::from_utf8(unpacked.stdout).expect("the flights are UTF-8");
    }
    fs::read_to_string(part()).expect("the example ships its data")
}

/// The file of the part that the example ships.
pub fn part() -> PathBuf {
    example().join("data/flights-2013-01-first-3000.ndjson")
}

/// The folder of the example.
pub fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest-examples/flight-delays-rust")
}
