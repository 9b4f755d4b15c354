//! Sources and sinks.
