//! Attacks on the sandbox, each with the control that stops it.
