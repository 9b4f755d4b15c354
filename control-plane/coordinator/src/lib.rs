//! The life of jobs: submission, running, cancelling, status.
