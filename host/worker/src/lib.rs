//! Lanes that drive tasks.
