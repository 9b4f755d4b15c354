//! The same file as JSON: the same pipeline, and the same paths and lines in refusals.

use super::{accept, refused};
use crate::parse;

const FILE: &str = r#"{
  "job": "clicks",
  "version": 1,
  "source": {
    "log": "events",
    "timestamp_field": "time",
    "watermark": {"strategy": "bounded_out_of_orderness", "max_delay": "30s"}
  },
  "key_by": ["shop", "country"],
  "window": {
	"type": "tumbling",
	"size":
		"1m"
  },
  "aggregate": {"rows": {"fn": "count"}, "price": "sum"},
  "sink": {"type": "upsert_store", "table": "clicks_minute", "key": ["shop", "country", "window_start"]}
}
"#;

fn edited(old: &str, new: &str) -> String {
    assert_eq!(FILE.matches(old).count(), 1, "{old:?}");
    FILE.replace(old, new)
}

#[test]
fn reads_json_as_the_same_pipeline() {
    assert_eq!(accept(FILE).pipeline, accept(super::BASE).pipeline);
    let on_one_line: String = FILE.split_whitespace().collect();
    assert_eq!(accept(&on_one_line).pipeline, accept(super::BASE).pipeline);
}

#[test]
fn reads_json_texts_with_every_escape() {
    let text = edited("\"shop\", \"country\"]", r#""\ud83d\ude00\/\u00e9\"\\\b\f\n\r\t", "country"]"#);
    let key = r#"["\ud83d\ude00\/\u00e9\"\\\b\f\n\r\t", "country", "window_start"]"#;
    let text = text.replace(r#"["shop", "country", "window_start"]"#, key);
    assert_eq!(accept(&text).pipeline.operators[0].key_by()[0], "😀/é\"\\\u{8}\u{c}\n\r\t");
}

#[test]
fn names_paths_and_lines_in_json() {
    refused(&edited("\t\"1m\"", "\t60000"), "window.size", 13, "write `60000ms`");
    refused(&edited("\"type\": \"tumbling\"", "\"kind\": \"tumbling\""), "window.kind", 11, "unknown key");
    refused(&edited("\"30s\"", "30"), "source.watermark.max_delay", 7, "write `30ms`");
    refused(&edited("\"version\": 1", "\"version\": \"1\""), "version", 3, "without quotes");
    refused(&edited("\"version\": 1", "\"version\": null"), "version", 3, "is empty");
    refused(&edited("\"version\": 1", "\"version\": 1, \"job\": \"b\""), "job", 3, "first on line 2");
    refused(&edited("\"country\"],", "\"country\" \"x\"],"), "", 9, "not well-formed");
    assert!(parse(&FILE[..FILE.len() - 3]).is_err());
}
