//! Faults against what section 2 says of batches and tasks: neither how the input was cut nor the number of subtasks shows.

use super::Fault;

const WINDOW: &str = "host/dataflow/src/window.rs";
const ADMIT: &str = "host/dataflow/src/window/admit.rs";
const EXCHANGE: &str = "host/dataflow/src/exchange.rs";
const PROGRESS: &str = "host/types/src/progress.rs";
const SOURCES: &str = "host/dataflow/src/sources.rs";
const TASK: &str = "host/dataflow/src/task/source.rs";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "judged-by-its-own-watermark",
        section: "2",
        breaks: "a record is judged against the watermark that it produces itself",
        file: WINDOW,
        find: "if *position <= entry.position => Step::Row(cursor.row),",
        replace: "if *position + 1 < entry.position => Step::Row(cursor.row),",
    },
    Fault {
        name: "one-watermark-a-batch",
        section: "2",
        breaks: "all records of a batch are judged against the watermark before it",
        file: WINDOW,
        find: "if *position <= entry.position => Step::Row(cursor.row),",
        replace: "if entry.position < u32::MAX || *position > 0 => Step::Row(cursor.row),",
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
        file: SOURCES,
        find: "arrivals: Arrivals::From(self.events),",
        replace: "arrivals: Arrivals::From(self.events.min(0)),",
    },
    Fault {
        name: "empty-batch-without-progress",
        section: "2",
        breaks: "a subtask that gets no row of a batch does not learn where the watermark moved",
        file: TASK,
        find: "sender.send(Piece { parts, progress: Arc::clone(progress), ends });",
        replace: "let idle = parts.iter().all(|part| part.batch.is_empty());\nlet told = if idle { Arc::default() } else { Arc::clone(progress) };\nsender.send(Piece { parts, progress: told, ends });",
    },
    Fault {
        name: "rows-dealt-in-turn",
        section: "2",
        breaks: "rows go to subtasks in turn, not by key",
        file: EXCHANGE,
        find: "rows[subtask_of(group, self.max_parallelism, self.subtasks)].push(index32(row));",
        replace: "let subtask = (row + subtask_of(group, self.max_parallelism, self.subtasks)) % rows.len();\nrows[subtask].push(index32(row));",
    },
];
