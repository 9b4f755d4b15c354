//! The pipelines that docs/pipeline-file.md shows whole: they are accepted without a remark, by the schema too.

use super::accept;
use crate::schema::tests::faults_of;

/// Where `cargo test` finds the page, from this crate.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pipeline-file.md");

fn pipelines() -> Vec<String> {
    let page = std::fs::read_to_string(PAGE).expect("the page can be read");
    let blocks = page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_owned());
    blocks.filter(|block| block.starts_with("job:")).collect()
}

#[test]
fn every_pipeline_of_the_page_is_accepted_without_a_remark() {
    for text in pipelines() {
        assert_eq!(accept(&text).warnings, [], "{text}");
        assert_eq!(faults_of(&text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn the_page_shows_a_join_and_a_chain_of_two_windows() {
    let names: Vec<Vec<String>> = pipelines()
        .iter()
        .map(|text| accept(text).pipeline.operators.into_iter().map(|operator| operator.name).collect())
        .collect();
    assert!(names.contains(&vec!["attributed".to_owned(), "per_minute".to_owned()]), "{names:?}");
    assert!(names.contains(&vec!["minutes".to_owned(), "hours".to_owned()]), "{names:?}");
}

/// The section below a heading, up to the next one.
fn section(heading: &str) -> String {
    let page = std::fs::read_to_string(PAGE).expect("the page can be read");
    let rest =
        page.split(&format!("\n## {heading}\n")).nth(1).unwrap_or_else(|| panic!("no section {heading}")).to_owned();
    rest.split("\n## ").next().unwrap_or_default().to_owned()
}

#[test]
fn the_page_says_what_every_key_of_sinks_and_checkpoints_means() {
    let sink = section("sink");
    for key in crate::decode::sink::KEYS.iter().chain(&crate::decode::sink::COMMON) {
        assert!(sink.contains(&format!("`{key}`")), "sink.{key} is not documented");
    }
    let checkpoint = section("checkpoint");
    for key in crate::decode::CHECKPOINT {
        assert!(checkpoint.contains(&format!("| `{key}` |")), "checkpoint.{key} is not documented");
    }
    assert!(checkpoint.contains(&format!("every {}", accept(super::BASE).pipeline.checkpointing().interval)));
    assert!(checkpoint.contains(&format!("{} is the longest recovery", crate::WORST_RECOVERY)));
    assert!(sink.contains(&format!("{} where absent", crate::checkpointing::DEFAULT_TRANSACTION_TIMEOUT)));
}
