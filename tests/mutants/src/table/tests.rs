//! The table is written and read back.

use super::*;
use crate::Caught;

fn fault(name: &'static str) -> Fault {
    Fault { name, section: "1", breaks: "a thing", file: "a.rs", find: "a", replace: "b" }
}

fn row_of(name: &'static str, seed: u64) -> Row {
    Row::new(&fault(name), &Caught { seed: Some(format!("seed {seed}")), ..Caught::default() })
}

#[test]
fn what_is_written_is_read_back_and_the_rest_stays() {
    let page = format!("above\n{BEGIN}\n{END}\nbelow\n");
    let units = vec!["`one`".to_owned(), "`two`".to_owned()];
    let rows = [Row::new(&fault("a"), &Caught { units, ..Caught::default() }), row_of("b", 7)];
    let written = replaced(&page, &rows).unwrap();
    assert!(written.starts_with("above\n") && written.ends_with("\nbelow\n"), "{written}");
    assert_eq!(read(&written).unwrap(), rows);
    assert_eq!(rows[0].cells, ["`one` (+1)", "–", "–"]);
}

#[test]
fn new_rows_replace_old_ones_and_lost_faults_go() {
    let old = [row_of("gone", 1), row_of("b", 1), row_of("a", 1)];
    let rows = merged(&[fault("a"), fault("b")], &old, &[row_of("b", 2)]);
    assert_eq!(rows, [row_of("a", 1), row_of("b", 2)]);
}

#[test]
fn a_fault_that_no_suite_found_is_not_caught() {
    assert!(!Row::new(&fault("a"), &Caught::default()).is_caught());
    assert!(row_of("a", 0).is_caught());
}
