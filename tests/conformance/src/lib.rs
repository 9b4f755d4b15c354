//! The reference interpreter of docs/semantics.md and the random tests against it.
