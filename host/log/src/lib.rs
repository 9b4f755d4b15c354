//! The contract of the partitioned log, and the log in memory.
