//! Faults against section 4 in custom windows: what a tenant's window hook assigns, decides and emits. No figure and no
//! random scenario has a component: the unit tests of `host/dataflow/src/window/custom` must find them.

use super::Fault;

const ADMIT: &str = "host/dataflow/src/window/admit.rs";
const ADVANCE: &str = "host/dataflow/src/window/advance.rs";
const COMMIT: &str = "host/dataflow/src/window/commit.rs";
const CUSTOM: &str = "host/dataflow/src/window/custom.rs";
const EMITTING: &str = "host/dataflow/src/window/custom/emitting.rs";
const UNSHOWN: &str = "host/dataflow/src/window/unshown.rs";
const WINDOW: &str = "host/dataflow/src/window.rs";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "assigned-windows-as-named",
        section: "4",
        breaks: "custom windows: those that one record goes to stand in the order in which the hook names them",
        file: CUSTOM,
        find: "spans.sort_unstable_by_key(|span| (span.end, span.start));",
        replace: "spans.reverse();",
    },
    Fault {
        name: "window-named-twice-is-two",
        section: "4",
        breaks: "custom windows: a record is in a window twice that the hook names twice",
        file: CUSTOM,
        find: "spans.dedup();",
        replace: "spans.truncate(usize::MAX);",
    },
    Fault {
        name: "no-window-is-accepted",
        section: "3, 4",
        breaks: "custom windows: a record that the hook puts into no window counts as accepted",
        file: ADMIT,
        find: "self.run.account.filtered += 1;",
        replace: "self.run.account.accepted += 1;",
    },
    Fault {
        name: "trigger-asked-beside-the-hook",
        section: "4",
        breaks: "custom windows: the pipeline's trigger fires windows about which the hook decides",
        file: ADMIT,
        find: "if self.hook_decides() {",
        replace: "if self.hook_decides() && fresh == u64::MAX {",
    },
    Fault {
        name: "asked-with-a-count-of-none",
        section: "4",
        breaks: "custom windows: after a record the hook is asked with the count 0",
        file: COMMIT,
        find: "self.decide(&slots, 1, self.watermark)",
        replace: "self.decide(&slots, 0, self.watermark)",
    },
    Fault {
        name: "asked-at-the-end-of-the-run",
        section: "4",
        breaks: "custom windows: the hook is told the watermark at the end of the run, not at each record",
        file: WINDOW,
        find: "entry.watermark > self.watermark && self.asks_hook()",
        replace: "entry.watermark < self.watermark && self.asks_hook()",
    },
    Fault {
        name: "decided-panes-always-early",
        section: "4",
        breaks: "custom windows: a pane that the hook fires after its window's end is early",
        file: COMMIT,
        find: "if self.windows.slot(slot).past_end { Timing::Late } else { Timing::Early }",
        replace: "if self.windows.slot(slot).fresh == u64::MAX { Timing::Late } else { Timing::Early }",
    },
    Fault {
        name: "purged-without-asking",
        section: "4",
        breaks: "custom windows: an advance that passes both end and lateness purges without asking the hook",
        file: ADVANCE,
        find: "filter(|slot| !self.windows.slot(*slot).past_end)",
        replace: "filter(|slot| !self.windows.slot(*slot).past_end && !self.windows.is_gone(*slot, self.watermark))",
    },
    Fault {
        name: "fire-and-purge-keeps-the-window",
        section: "4",
        breaks: "custom windows: fire and purge after a record does not purge",
        file: COMMIT,
        find: "matches!(decision, Decision::Purge | Decision::FireAndPurge) && !failed",
        replace: "matches!(decision, Decision::Purge) && !failed",
    },
    Fault {
        name: "failed-pane-purges",
        section: "4",
        breaks: "custom windows: a window is purged although the hook failed to emit its pane",
        file: COMMIT,
        find: "Decision::FireAndPurge) && !failed.contains(&slot)",
        replace: "Decision::FireAndPurge) && failed.len() < usize::MAX",
    },
    Fault {
        name: "shown-in-one-window-forgotten",
        section: "3, 4",
        breaks: "custom windows: a record that one window showed is unshown if another goes without a pane",
        file: UNSHOWN,
        find: "followed.shown |= shown;",
        replace: "followed.shown = shown;",
    },
    Fault {
        name: "panes-of-two-watermarks-in-a-call",
        section: "4",
        breaks: "custom windows: one call of emit has panes of several watermarks",
        file: EMITTING,
        find: "chunk_by(|a, b| a.watermark == b.watermark)",
        replace: "chunk_by(|a, b| a.watermark == b.watermark || a.watermark != b.watermark)",
    },
];
