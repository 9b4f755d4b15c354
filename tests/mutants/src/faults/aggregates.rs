//! Faults against section 5: the built-in aggregates.

use super::Fault;

const APPROX: &str = "host/dataflow/src/aggregate/approx.rs";
const EDGES: &str = "host/dataflow/src/aggregate/edges.rs";
const EXACT: &str = "host/dataflow/src/aggregate/exact.rs";
const PREPARED: &str = "host/dataflow/src/aggregate/prepared.rs";
const SUMS: &str = "host/dataflow/src/aggregate/sums.rs";
const TOP_K: &str = "host/dataflow/src/aggregate/top_k.rs";
const ADMIT: &str = "host/dataflow/src/window/admit.rs";
const VALUE: &str = "host/types/src/value.rs";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "floats-add-up-as-they-come",
        section: "5",
        breaks: "a float sum is rounded at each addition",
        file: EXACT,
        find: "if !value.is_finite() {",
        replace: "if value != 0.0 {",
    },
    Fault {
        name: "empty-sum-is-zero",
        section: "5",
        breaks: "the sum of an empty pane is 0",
        file: SUMS,
        find: "Sum::Empty => ValueRef::Null,",
        replace: "Sum::Empty => ValueRef::Int(0),",
    },
    Fault {
        name: "underflow-accepted",
        section: "5",
        breaks: "an integer sum may leave 64 bits downwards",
        file: SUMS,
        find: "if total.floats == 0 && i64::try_from(total.ints).is_err() {",
        replace: "if total.floats == 0 && total.ints > i128::from(i64::MAX) {",
    },
    Fault {
        name: "overflow-of-a-merge-unseen",
        section: "5",
        breaks: "a merge of sessions may overflow an integer sum",
        file: ADMIT,
        find: "Target::Session { parts, .. } => self.builtins.overflow(&prep.builtins, row, parts),",
        replace: "Target::Session { parts, .. } => self.builtins.overflow(&prep.builtins, row, &parts[..parts.len().min(1)]),",
    },
    Fault {
        name: "nulls-count",
        section: "5",
        breaks: "nulls are not skipped",
        file: PREPARED,
        find: "selection.leave_out_nulls(column);",
        replace: "let _ = (&mut selection, column);",
    },
    Fault {
        name: "where-does-not-shield",
        section: "3, 5",
        breaks: "a value that `where` leaves out rejects its record",
        file: PREPARED,
        find: "let value = self.input(*place).selected_value(index(row))?;",
        replace: "let value = self.input(*place).column.as_ref()?.value(index(row));\nif value.is_null() { return None; }",
    },
    Fault {
        name: "top-k-ties-by-greater",
        section: "5",
        breaks: "ties of `top_k` go by the greater value",
        file: TOP_K,
        find: "then(value.cmp(other))",
        replace: "then(other.cmp(value))",
    },
    Fault {
        name: "last-keeps-the-first",
        section: "5",
        breaks: "of equal times `last` keeps the first to arrive",
        file: EDGES,
        find: "moment >= kept",
        replace: "moment.0 > kept.0",
    },
    Fault {
        name: "first-takes-the-last",
        section: "5",
        breaks: "of equal times `first` takes the last to arrive",
        file: EDGES,
        find: "moment < kept",
        replace: "moment.0 <= kept.0",
    },
    Fault {
        name: "merge-forgets-arrival",
        section: "5",
        breaks: "`first` and `last` forget the order of arrival where sessions merge",
        file: EDGES,
        find: "let moment = (batch.times[row], batch.arrival(row));",
        replace: "let moment = (batch.times[row], 0);",
    },
    Fault {
        name: "strings-before-numbers",
        section: "5",
        breaks: "`min`, `max` and ties put strings before numbers",
        file: VALUE,
        find: "Self::Int(_) | Self::Float(_) => 2,",
        replace: "Self::Int(_) | Self::Float(_) => 4,",
    },
    Fault {
        name: "coarse-sketch",
        section: "5",
        breaks: "`approx_count_distinct` has a standard error of 6.5%",
        file: APPROX,
        find: "const LOG_REGISTERS: u8 = 12;",
        replace: "const LOG_REGISTERS: u8 = 8;",
    },
];
