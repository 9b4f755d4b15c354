//! Checkpoints in an object store: their layout, their manifests, what to keep, upload and restore.
