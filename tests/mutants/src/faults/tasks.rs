//! Faults against what section 2 says of batches and tasks: neither how the input was cut nor the number of subtasks shows.

use super::Fault;

const WINDOW: &str = "host/dataflow/src/window.rs";
const ADMIT: &str = "host/dataflow/src/window/admit.rs";
const EXCHANGE: &str = "host/dataflow/src/exchange.rs";
const PROGRESS: &str = "host/types/src/progress.rs";
const SOURCE: &str = "host/dataflow/src/source.rs";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "judged-by-its-own-watermark",
        section: "2",
        breaks: "a record is judged against the watermark that it produces itself",
        file: WINDOW,
        find: "if entry.position > *position => Step::Row(cursor.row),",
        replace: "if entry.position > *position + 1 => Step::Row(cursor.row),",
    },
    Fault {
        name: "one-watermark-a-batch",
        section: "2",
        breaks: "all records of a batch are judged against the watermark before it",
        file: WINDOW,
        find: "if entry.position > *position => Step::Row(cursor.row),",
        replace: "if entry.position > 0 || *position > 0 => Step::Row(cursor.row),",
    },
    Fault {
        name: "advances-at-one-place-merge",
        section: "2, 4",
        breaks: "what moves between two records is one advance: instants lose their order, and the end its own",
        file: PROGRESS,
        find: "        self.entries.push(entry);",
        replace: "        match self.entries.last_mut() {\n            Some(last) if last.position == entry.position => *last = entry,\n            _ => self.entries.push(entry),\n        }",
    },
    Fault {
        name: "panes-of-a-batch-share-values",
        section: "2, 4",
        breaks: "two firings of a window in one batch show the values of the second",
        file: ADMIT,
        find: "prep.may_overflow || merges || slots.iter().flatten().any(pending)",
        replace: "prep.may_overflow || merges",
    },
    Fault {
        name: "arrival-numbers-restart",
        section: "2, 5",
        breaks: "arrival is numbered anew in each batch, so ties of `first` and `last` depend on the batches",
        file: SOURCE,
        find: "self.sequence += count as u64;",
        replace: "let _ = count;",
    },
    Fault {
        name: "empty-batch-without-progress",
        section: "2",
        breaks: "a subtask that gets no row of a batch does not learn where the watermark moved",
        file: EXCHANGE,
        find: "rows.iter().map(|rows| batch.take(rows)).collect()",
        replace: "rows.iter().map(|rows| { let mut part = batch.take(rows); if rows.is_empty() { part.progress = std::sync::Arc::default(); } part }).collect()",
    },
    Fault {
        name: "rows-dealt-in-turn",
        section: "2",
        breaks: "rows go to subtasks in turn, not by key",
        file: EXCHANGE,
        find: "rows[subtask_of(group, self.max_parallelism, self.parallelism)].push(index32(row));",
        replace: "let subtask = (row + subtask_of(group, self.max_parallelism, self.parallelism)) % rows.len();\nrows[subtask].push(index32(row));",
    },
];
