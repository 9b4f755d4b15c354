//! Operators and the tasks that chain them.
