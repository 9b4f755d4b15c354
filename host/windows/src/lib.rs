//! Event-time rules: watermarks, windows, triggers, lateness.
