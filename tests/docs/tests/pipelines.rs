//! Every pipeline that a document shows whole is one that Tidegate accepts.

use tidegate_docs::{blocks, pages, root};

#[test]
fn every_pipeline_in_a_document_parses() {
    let mut seen = 0_u32;
    for page in pages(&root()).expect("the repository's documents can be read") {
        let pipelines = blocks(&page.text).into_iter().filter(|block| block.language == "yaml");
        for block in pipelines.filter(|block| block.text.starts_with("job:") && !block.text.contains("# |")) {
            seen += 1;
            let parsed = tidegate_pipeline::parse(&block.text);
            assert!(parsed.is_ok(), "{}:{}: {:?}", page.path.display(), block.line, parsed.err());
        }
    }
    assert!(seen >= 4, "the README and docs/semantics.md have pipelines; only {seen} were found");
}
