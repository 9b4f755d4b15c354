//! Artifacts: admission, immutable versions, sealed images.
