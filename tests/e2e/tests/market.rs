//! The example `guest-examples/market-aggregates`: provisional, on-time and corrected results with their versions, line for
//! line, however the input is cut.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_e2e::{Folder, parsed};

/// Flags that change no output.
const CUTS: [&[&str]; 3] = [&[], &["--batch-rows", "1"], &["--parallelism", "3", "--batch-rows", "2"]];

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest-examples/market-aggregates")
}

/// The example's results, too-late records and summary.
fn run(more: &[&str]) -> (Vec<String>, Vec<Value>, Value) {
    let folder = Folder::new();
    for (name, file) in [("pipeline.yaml", "pipeline.yaml"), ("orders.ndjson", "data/orders.ndjson")] {
        folder.write(name, fs::read(example().join(file)).expect("the example has the file"));
    }
    let flags = ["run", "pipeline.yaml", "--input", "orders.ndjson", "--arrival-field", "received_at"];
    let files = ["--output", "results.ndjson", "--too-late", "review.ndjson"];
    let done = folder.tidegate(&[&flags[..], &files, more].concat()).success();
    done.assert_balanced();
    (sorted(&folder.read("results.ndjson")), parsed(&folder.read("review.ndjson")), done.summary())
}

/// The order of lines is fixed per key only.
fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_by_key(|line| {
        let row: Value = serde_json::from_str(line).expect("JSON");
        (row["market_id"].to_string(), row["window_start"].to_string(), row["version"]["pane_index"].as_u64())
    });
    lines
}

#[test]
fn results_are_provisional_then_on_time_then_corrected() {
    let expected =
        sorted(&fs::read_to_string(example().join("data/expected.ndjson")).expect("the example has results"));
    for more in CUTS {
        let (results, review, summary) = run(more);
        assert_eq!(results, expected, "{more:?}");
        assert_eq!(review.len(), 1);
        assert_eq!((&review[0]["reason"], &review[0]["record"]["order_id"]), (&json!("too-late"), &json!("o-12")));
        assert_eq!(summary["panes"], json!({"EARLY": 8, "ON_TIME": 6, "LATE": 1}));
        assert_eq!((&summary["duplicate"], &summary["too_late"]), (&json!(1), &json!(1)));
    }
}
