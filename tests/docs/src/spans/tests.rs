//! The reader of Markdown on a small page.

use crate::spans::{blocks, code_spans, links, slugs};

const PAGE: &str = "\
# `tidegate run`: a page

See [there](other.md#1-times-and-values) and `host/types`.

<!-- example: first -->

```json
{\"not\": \"a `span`\", \"a\": \"[link](x)\"}
```
";

#[test]
fn finds_blocks_with_what_stands_before_them() {
    let found = blocks(PAGE);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].language, "json");
    assert_eq!(found[0].before, "<!-- example: first -->");
    assert_eq!(found[0].line, 7);
    assert!(found[0].text.starts_with("{\"not\""));
}

#[test]
fn finds_spans_and_links_outside_blocks_only() {
    assert_eq!(code_spans(PAGE), [(1, "tidegate run"), (3, "host/types")]);
    assert_eq!(links(PAGE), [(3, "other.md#1-times-and-values")]);
}

#[test]
fn makes_the_anchors_that_a_reader_clicks() {
    assert_eq!(slugs(PAGE), ["tidegate-run-a-page"]);
    assert_eq!(slugs("## 1. Times and values"), ["1-times-and-values"]);
    assert_eq!(
        slugs("## 11. Questions the text leaves open, and our answers"),
        ["11-questions-the-text-leaves-open-and-our-answers"]
    );
}
