//! Faults against section 3: which windows a time falls into, and when a window is gone.

use super::Fault;

const ASSIGN: &str = "host/windows/src/assign.rs";
const ADMIT: &str = "host/dataflow/src/window/admit.rs";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "window-holds-its-end",
        section: "3",
        breaks: "a record at a window's end is in it",
        file: ASSIGN,
        find: "size.0.saturating_sub(1).saturating_sub(reach)",
        replace: "size.0.saturating_sub(reach)",
    },
    Fault {
        name: "negative-times-truncate",
        section: "1, 3",
        breaks: "times before 1970 are divided towards zero",
        file: ASSIGN,
        find: "moved.div_euclid(size.0)",
        replace: "(moved / size.0)",
    },
    Fault {
        name: "offset-moves-the-other-way",
        section: "3",
        breaks: "`offset` moves the grid backwards",
        file: ASSIGN,
        find: "let last = tumbling_start(time, slide, offset);",
        replace: "let last = tumbling_start(time, slide, Millis(-offset.0));",
    },
    Fault {
        name: "gone-one-late",
        section: "3",
        breaks: "a window is gone 1 ms after `end + L`",
        file: ASSIGN,
        find: "watermark.reached(end.saturating_add(lateness.0))",
        replace: "watermark.reached(end.saturating_add(lateness.0).saturating_add(1))",
    },
    Fault {
        name: "one-gone-window-uncounted",
        section: "3",
        breaks: "a record one of whose windows is gone is not `partly_late`",
        file: ADMIT,
        find: "let partly_late = spans.len() < all;",
        replace: "let partly_late = spans.len() + 1 < all;",
    },
];
