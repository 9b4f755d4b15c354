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
