//! Faults against section 9: rows between operators, and retractions.

use super::Fault;

const CHAIN: &str = "host/dataflow/src/chain.rs";
const ROUNDS: &str = "host/dataflow/src/rounds.rs";
const WINDOW: &str = "host/dataflow/src/window.rs";
const ROUTE: &str = "host/dataflow/src/route.rs";
const PREPARED: &str = "host/dataflow/src/aggregate/prepared.rs";
const ADMIT: &str = "host/dataflow/src/window/admit.rs";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "pane-at-its-windows-end",
        section: "9",
        breaks: "a pane that goes on to another operator has the time `window_end`",
        file: CHAIN,
        find: "info.window.expect(\"global windows feed no operator\").1 - 1",
        replace: "info.window.expect(\"global windows feed no operator\").1",
    },
    Fault {
        name: "retraction-adds",
        section: "9",
        breaks: "the operator behind adds a retraction to what it takes back",
        file: PREPARED,
        find: "if undone { Change::Undo }",
        replace: "if undone && row == u32::MAX { Change::Undo }",
    },
    Fault {
        name: "refused-row-taken-back",
        section: "9",
        breaks: "a retraction takes back a row that overflowed and was rejected",
        file: ADMIT,
        find: "if undoes && self.refused.take(",
        replace: "if undoes && row == usize::MAX && self.refused.take(",
    },
    Fault {
        name: "rows-of-an-event-as-sent",
        section: "9",
        breaks: "rows of one event reach the next operator by subtask, not by key",
        file: ROUNDS,
        find: "order.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));",
        replace: "order.sort_by_key(|place| place.0);",
    },
    Fault {
        name: "watermark-before-its-rows",
        section: "9",
        breaks: "rows reach the next operator after the watermark has moved by the same event",
        file: WINDOW,
        find: "if *position <= entry.position => Step::Row(cursor.row),",
        replace: "if *position < entry.position => Step::Row(cursor.row),",
    },
    Fault {
        name: "read-twice-counted-once",
        section: "9",
        breaks: "a row that two operators read is not counted as forwarded",
        file: ROUTE,
        find: "routed.account.forwarded += others.len() as u64 * part.batch.len() as u64;",
        replace: "routed.account.forwarded += 0 * others.len() as u64;",
    },
];
