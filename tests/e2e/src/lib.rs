//! The command, end to end.
