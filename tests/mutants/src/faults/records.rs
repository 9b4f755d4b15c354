//! Faults against section 3: the order of checks, deduplication, and the account.

use super::Fault;

const ADMIT: &str = "host/dataflow/src/window/admit.rs";
const ADVANCE: &str = "host/dataflow/src/window/advance.rs";
const IDENTITIES: &str = "host/dataflow/src/window/identities.rs";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "horizon-inclusive",
        section: "3",
        breaks: "an identity is a duplicate at `W = t0 + h` still",
        file: IDENTITIES,
        find: "until.is_some_and(|until| !watermark.reached(until))",
        replace: "until.is_some_and(|until| !watermark.reached(until.saturating_add(1)))",
    },
    Fault {
        name: "horizon-one-short",
        section: "3",
        breaks: "an identity is forgotten 1 ms before `t0 + h`",
        file: IDENTITIES,
        find: "until.is_some_and(|until| !watermark.reached(until))",
        replace: "until.is_some_and(|until| !watermark.reached(until.saturating_sub(1)))",
    },
    Fault {
        name: "duplicates-extend-the-horizon",
        section: "3",
        breaks: "a duplicate starts the horizon again",
        file: ADMIT,
        find: "self.run.account.duplicate += 1;",
        replace: "identities.accept(&mut self.keys, key, identity, batch.times[row]);\nself.run.account.duplicate += 1;",
    },
    Fault {
        name: "identities-of-all-keys",
        section: "3",
        breaks: "an identity of one key makes duplicates of another's",
        file: IDENTITIES,
        find: "        self.scratch.extend_from_slice(&key.to_le_bytes());\n        encode_value(&mut self.scratch, value);",
        replace: "        self.scratch.extend_from_slice(&KeyId::MIN.to_le_bytes());\n        encode_value(&mut self.scratch, value);\n        let key = self.entries.iter().find(|entry| *entry.encoded == self.scratch[size_of::<KeyId>()..]).map_or(key, |entry| entry.key);",
    },
    Fault {
        name: "rejected-record-leaves-identity",
        section: "3",
        breaks: "a record with a value that an aggregate cannot take leaves its identity",
        file: ADMIT,
        find: "if let Some(condemned) = mismatch(prep, row) {",
        replace: "if let Some(condemned) = mismatch(prep, row) {\nif let (Some(identities), Some(key)) = (&mut self.identities, key) && !identity.is_null() { identities.accept(&mut self.keys, key, identity, batch.times[row]); }",
    },
    Fault {
        name: "too-late-record-leaves-identity",
        section: "3",
        breaks: "a too-late record leaves its identity",
        file: ADMIT,
        find: "self.run.account.too_late += 1;",
        replace: "if let (Some(identities), Some(key), Some(column)) = (&mut self.identities, key, prep.identity.as_ref()) && !column.value(row).is_null() { identities.accept(&mut self.keys, key, column.value(row), batch.times[row]); }\nself.run.account.too_late += 1;",
    },
    Fault {
        name: "duplicate-before-too-late",
        section: "3",
        breaks: "a record that is too late and a duplicate is a duplicate",
        file: ADMIT,
        find: "self.run.account.too_late += 1;",
        replace: "if let (Some(identities), Some(key), Some(column)) = (&mut self.identities, key, prep.identity.as_ref()) && !column.value(row).is_null() && identities.is_duplicate(key, column.value(row), self.watermark) { self.run.account.duplicate += 1; self.side(prep, row, SideKind::Duplicate); return true; }\nself.run.account.too_late += 1;",
    },
    Fault {
        name: "unshown-though-shown",
        section: "3",
        breaks: "under `late: none` a record counts as unshown although one of its windows shows it",
        file: ADMIT,
        find: ".iter().all(|slot| self.windows.slot(*slot).past_end)",
        replace: ".iter().any(|slot| self.windows.slot(*slot).past_end)",
    },
    Fault {
        name: "unshown-sessions-counted",
        section: "3",
        breaks: "a session purged with records that no pane showed counts as one, whatever their number",
        file: ADVANCE,
        find: "out.account.unshown += self.windows.slot(slot).fresh;",
        replace: "out.account.unshown += self.windows.slot(slot).fresh.min(1);",
    },
];
