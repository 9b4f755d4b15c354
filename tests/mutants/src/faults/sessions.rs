//! Faults against sections 3 and 4 as they speak of sessions: what merges, and what becomes of the parts.

use super::Fault;

const ASSIGN: &str = "host/windows/src/assign.rs";
const SESSIONS: &str = "host/windows/src/sessions.rs";
const ADMIT: &str = "host/dataflow/src/window/admit.rs";
const COMMIT: &str = "host/dataflow/src/window/commit.rs";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "touching-sessions-merge",
        section: "3",
        breaks: "records exactly a gap apart are one session",
        file: ASSIGN,
        find: "self.start < other.end && other.start < self.end",
        replace: "self.start <= other.end && other.start <= self.end",
    },
    Fault {
        name: "longest-session-refused",
        section: "3",
        breaks: "a merged session may not last `max_duration` itself",
        file: SESSIONS,
        find: "hull.length() <= most.0",
        replace: "hull.length() < most.0",
    },
    Fault {
        name: "session-judged-before-merging",
        section: "3",
        breaks: "whether a record is too late is judged by its own window, not by the merged one",
        file: ADMIT,
        find: "is_gone(merge.span.end, lateness, watermark)",
        replace: "is_gone(own.end, lateness, watermark)",
    },
    Fault {
        name: "parts-lost",
        section: "4",
        breaks: "a merged session holds the first part's records only",
        file: COMMIT,
        find: "self.builtins.merge(merge.target, *other);",
        replace: "",
    },
    Fault {
        name: "merged-panes-count-on",
        section: "4",
        breaks: "the panes of a merged session go on counting where its first part was",
        file: ADMIT,
        find: "(merged.next_index, merged.past_end) = (0, past_end);",
        replace: "merged.past_end = past_end;",
    },
    Fault {
        name: "same-bounds-new-session",
        section: "4",
        breaks: "a record inside a session makes it a new window, whose panes count from 0",
        file: ADMIT,
        find: "[only] if self.windows.slot(*only).span == merge.span => self.touch(*only),",
        replace: "[only] if merge.span.length() < 0 => self.touch(*only),",
    },
    Fault {
        name: "fresh-counts-not-added",
        section: "4",
        breaks: "a merged session counts the unshown records of its last part only",
        file: ADMIT,
        find: "fresh += std::mem::take(&mut part.fresh);",
        replace: "fresh = std::mem::take(&mut part.fresh);",
    },
    Fault {
        name: "merged-on-time-inherited",
        section: "4",
        breaks: "a merged session counts as fired on time because a part has",
        file: ADMIT,
        find: "let past_end = self.watermark.reached(span.end);",
        replace: "let past_end = parts.iter().any(|part| self.windows.slot(*part).past_end);",
    },
    Fault {
        name: "retractions-backwards",
        section: "4",
        breaks: "the panes of merged parts are retracted in falling order of start",
        file: ADMIT,
        find: "standing.sort_by_key(|pane| pane.info.window);",
        replace: "standing.sort_by_key(|pane| std::cmp::Reverse(pane.info.window));",
    },
    Fault {
        name: "standing-panes-forgotten",
        section: "4",
        breaks: "a merged session that merges again before it fires does not pass on what its parts showed",
        file: ADMIT,
        find: "standing.append(&mut part.standing);",
        replace: "if part.next_index > 0 { standing.append(&mut part.standing); }",
    },
];
