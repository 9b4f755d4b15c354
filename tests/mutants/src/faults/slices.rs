//! Faults against sections 3 and 4 in sliding windows that share panes, an engine path of its own.

use super::Fault;

const SLICED: &str = "host/dataflow/src/window/sliced.rs";
const DUE: &str = "host/dataflow/src/window/sliced/due.rs";
const OVERLAP: &str = "host/dataflow/src/window/sliced/overlap.rs";
const MERGE: &str = "host/dataflow/src/window/sliced/merge.rs";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "slice-forgotten-at-its-end",
        section: "3",
        breaks: "shared panes: a slice goes with the slice's own end, not with its last window",
        file: DUE,
        find: "is_gone(self.grid.last_end(slice.span), self.lateness, watermark)",
        replace: "is_gone(slice.span.end, self.lateness, watermark)",
    },
    Fault {
        name: "first-slice-left-out",
        section: "3",
        breaks: "shared panes: a window after the first does not hold its first slice",
        file: MERGE,
        find: "self.tails.pop_if(|(start, _)| *start < window.start)",
        replace: "self.tails.pop_if(|(start, _)| *start <= window.start)",
    },
    Fault {
        name: "record-in-a-merged-slice-lost",
        section: "3",
        breaks: "shared panes: a record in a slice that was merged already is not in the next window",
        file: SLICED,
        find: "if of_key.running.holds(target.slice) {",
        replace: "if of_key.running.holds(target.slice) && builtins.state_bytes() == u64::MAX {",
    },
    Fault {
        name: "last-late-window-silent",
        section: "4",
        breaks: "shared panes: a late record does not fire the last of its windows",
        file: SLICED,
        find: "*end <= target.last_end && watermark.reached(*end)",
        replace: "*end < target.last_end && watermark.reached(*end)",
    },
    Fault {
        name: "shared-panes-do-not-count",
        section: "4",
        breaks: "shared panes: every pane of a window has the index 0",
        file: DUE,
        find: "index: fired.as_ref().map_or(0, |fired| fired.next_index),",
        replace: "index: 0,",
    },
    Fault {
        name: "shared-unshown-at-the-first-end",
        section: "3",
        breaks: "shared panes: under `late: none` a record is unshown once its first window has ended",
        file: SLICED,
        find: "self.late == Late::None && watermark.reached(target.last_end)",
        replace: "self.late == Late::None && watermark.reached(target.first_end)",
    },
    Fault {
        name: "discarded-values-overflow",
        section: "5",
        breaks: "shared panes: under `discarding` a sum is held to 64 bits over what its window has shown already",
        file: OVERLAP,
        find: "let emptied = discarding && watermark.reached(end);",
        replace: "let emptied = discarding && watermark.reached(end) && end == EventTime::MAX;",
    },
];
