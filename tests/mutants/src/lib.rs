//! Mutants: faults planted in the engine one at a time, each of which some test must find.
//!
//! A test that no fault can break proves nothing. `faults` lists the faults as exact texts and what to put in their place,
//! `tree` keeps a copy of the repository to plant them in, `suites` runs the tests on it, `table` writes down which test
//! found which fault. Invariant: nothing is ever planted in the user's own tree.

mod faults;
mod report;
mod seeds;
mod suites;
mod table;
mod tree;

pub use faults::{Fault, Misfit, all};
pub use report::{Caught, Row};
pub use suites::{Suites, SuitesError};
pub use table::{TableError, merged, read, replaced};
pub use tree::{Tree, TreeError};
