//! The summary: the last line on standard error, one JSON object with exactly the keys of docs/local-run.md. Where the
//! pipeline has the long form, also how many rows operators handed to each other and wrote without a window.

use serde::Serialize;
use tidegate_dataflow::Account;
use tidegate_pipeline::Form;

/// The account as users read it.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    read: u64,
    expanded: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    forwarded: Option<u64>,
    accepted: u64,
    filtered: u64,
    too_late: u64,
    duplicate: u64,
    rejected: u64,
    partly_late: u64,
    unshown: u64,
    panes: Panes,
    retractions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    emitted: Option<u64>,
}

/// Panes by timing; retractions are not among them.
#[derive(Debug, Serialize)]
struct Panes {
    #[serde(rename = "EARLY")]
    early: u64,
    #[serde(rename = "ON_TIME")]
    on_time: u64,
    #[serde(rename = "LATE")]
    late: u64,
}

impl Summary {
    /// The summary of a job whose pipeline has this form.
    pub(super) fn of(account: &Account, form: Form) -> Self {
        let long = form == Form::Long;
        Self {
            read: account.read,
            expanded: account.expanded,
            forwarded: long.then_some(account.forwarded),
            accepted: account.accepted,
            filtered: account.filtered,
            too_late: account.too_late,
            duplicate: account.duplicate,
            rejected: account.rejected,
            partly_late: account.partly_late,
            unshown: account.unshown,
            panes: Panes { early: account.panes_early, on_time: account.panes_on_time, late: account.panes_late },
            retractions: account.retractions,
            emitted: long.then_some(account.emitted),
        }
    }

    /// The line.
    pub(super) fn line(&self) -> String {
        serde_json::to_string(self).expect("numbers are JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_exactly_the_keys_of_the_contract() {
        let account =
            Account { read: 3, accepted: 2, rejected: 1, panes_on_time: 2, failed_panes: 1, ..Account::default() };
        let expected = "{\"read\":3,\"expanded\":0,\"accepted\":2,\"filtered\":0,\"too_late\":0,\"duplicate\":0,\"rejected\":1,\
                        \"partly_late\":0,\"unshown\":0,\"panes\":{\"EARLY\":0,\"ON_TIME\":2,\"LATE\":0},\"retractions\":0}";
        assert_eq!(Summary::of(&account, Form::Short).line(), expected);
    }

    #[test]
    fn a_graph_says_what_its_operators_handed_on() {
        let account = Account { read: 3, forwarded: 2, accepted: 5, emitted: 4, ..Account::default() };
        let line = Summary::of(&account, Form::Long).line();
        assert!(line.starts_with("{\"read\":3,\"expanded\":0,\"forwarded\":2,\"accepted\":5,"), "{line}");
        assert!(line.ends_with("\"retractions\":0,\"emitted\":4}"), "{line}");
    }
}
