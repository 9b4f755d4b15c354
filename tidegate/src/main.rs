//! The `tidegate` command: the one composition root and the only reader of the environment.

fn main() {}
