//! Reads the repository's documents, so that tests can hold them to what is so: every relative link leads somewhere, every path
//! and `make` target that is named exists, every pipeline parses, the worked examples of docs/semantics.md run and give the
//! panes that stand there, and the commands of docs/tutorial.md print what it shows.
//!
//! Nothing here changes a document.

mod page;
mod spans;

pub use page::{Page, pages, root};
pub use spans::{Block, blocks, code_spans, links, slugs};

/// The README's Rust code is compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
