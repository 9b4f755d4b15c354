//! The metadata store: documents under compare-and-set.
