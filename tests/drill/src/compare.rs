//! What a drill's outcome differs in from an undisturbed one.
//!
//! Tables row for row with their panes. Streams of a job that commits: each key's records, once and in order. Other streams:
//! every record at least as often, nothing else, and first seen in order. The account: the same, and it adds up.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::outcome::Outcome;
use crate::plan::{Delivery, JobPlan};
use crate::workload::Output;

/// So many differences of an output are shown.
const SHOWN: usize = 3;
/// What of a dead letter does not depend on what else was in a call.
const LETTER: [&str; 9] =
    ["reason", "operator", "partition", "offset", "record", "key", "window_start", "window_end", "timer"];

/// Everything that differs, a text each.
pub(crate) fn differences(job: &JobPlan, expected: &Outcome, found: &Outcome) -> Vec<String> {
    let mut all = account(&expected.account, &found.account);
    for output in job.workload.outputs {
        let records = |outcome: &Outcome| {
            let records = outcome.outputs.get(output.name()).map_or(&[][..], Vec::as_slice);
            grouped(records, *output, job.workload.left_out)
        };
        let (expected, found) = (records(expected), records(found));
        let several = match output {
            Output::Table(_) => false,
            _ => job.delivery == Delivery::AtLeastOnce,
        };
        let in_order = matches!(output, Output::Results { in_order: true, .. });
        let check = |(expected, found): (&[String], &[String])| match several {
            true => at_least_once(expected, found, in_order),
            false => once(expected, found, in_order),
        };
        let mut wrong = Vec::new();
        for key in expected.keys().chain(found.keys().filter(|key| !expected.contains_key(*key))) {
            let of = |records: &BTreeMap<_, Vec<String>>| records.get(key).cloned().unwrap_or_default();
            wrong.extend(check((&of(&expected), &of(&found))).map(|difference| format!("{key:?}: {difference}")));
        }
        all.extend(shortened(output.name(), &wrong));
    }
    all.iter().map(|difference| format!("{}: {difference}", job.workload.name)).collect()
}

fn shortened(name: &str, wrong: &[String]) -> Vec<String> {
    let mut shown: Vec<String> = wrong.iter().take(SHOWN).map(|difference| format!("{name} {difference}")).collect();
    if wrong.len() > SHOWN {
        shown.push(format!("{name}: {} more", wrong.len() - SHOWN));
    }
    shown
}

fn account(expected: &Value, found: &Value) -> Vec<String> {
    let sum = |names: &[&str]| names.iter().map(|name| found[*name].as_u64().unwrap_or(0)).sum::<u64>();
    let came = sum(&["read", "expanded", "forwarded"]);
    let went = sum(&["accepted", "filtered", "too_late", "duplicate", "rejected"]);
    let mut wrong = Vec::new();
    if came != went {
        wrong.push(format!("the account does not add up, {came} came and {went} went: {found}"));
    }
    if let (Some(expected), Some(found)) = (expected.as_object(), found.as_object()) {
        let differ = expected.iter().filter(|(name, count)| found.get(*name) != Some(count));
        let differ: Vec<String> = differ
            .map(|(name, count)| format!("{name} {} not {count}", found.get(name).unwrap_or(&Value::Null)))
            .collect();
        if !differ.is_empty() {
            wrong.push(format!("the account has {}", differ.join(", ")));
        }
    } else {
        wrong.push(format!("there is no account: {found}"));
    }
    wrong
}

/// Records by what they are compared within: a row or record by partition and key, side records all together.
type Grouped = BTreeMap<(u64, String), Vec<String>>;

fn grouped(records: &[(u64, Value)], output: Output, left_out: &[&str]) -> Grouped {
    let mut groups = Grouped::new();
    for (partition, record) in records {
        let members = |names: &[&str]| Value::from(names.iter().map(|name| record[*name].clone()).collect::<Vec<_>>());
        let (key, shown) = match output {
            Output::Table(_) => (String::new(), without(record, &[left_out, &["changed"]].concat())),
            Output::Results { key, .. } => (members(key).to_string(), without(record, left_out)),
            Output::Late(_) => (String::new(), without(record, left_out)),
            Output::Dead(_) => (String::new(), members(&LETTER).to_string()),
        };
        groups.entry((*partition, key)).or_default().push(shown);
    }
    groups
}

fn without(record: &Value, names: &[&str]) -> String {
    let mut record = record.clone();
    if let Some(members) = record.as_object_mut() {
        names.iter().for_each(|name| drop(members.remove(*name)));
    }
    record.to_string()
}

/// The same records as often, and in the same order where there is one.
fn once(expected: &[String], found: &[String], in_order: bool) -> Option<String> {
    let difference = as_often(expected, found, |expected, found| expected == found);
    let place = || expected.iter().zip(found).position(|(expected, found)| expected != found);
    difference.or_else(|| {
        let place = in_order.then(place).flatten()?;
        Some(format!("another order from place {place}: {} stands where {} belongs", found[place], expected[place]))
    })
}

/// Every record at least as often, no other, and first seen in order where there is one.
fn at_least_once(expected: &[String], found: &[String], in_order: bool) -> Option<String> {
    as_often(expected, found, |expected, found| expected <= found && (expected > 0 || found == 0)).or_else(|| {
        let (expected, found) = (first_seen(expected), first_seen(found));
        let same = !in_order || expected == found;
        (!same).then(|| {
            let place = expected.iter().zip(&found).position(|(expected, found)| expected != found).unwrap_or(0);
            format!("first seen in another order from place {place}: {} not {}", found[place], expected[place])
        })
    })
}

fn as_often(expected: &[String], found: &[String], right: impl Fn(usize, usize) -> bool) -> Option<String> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    expected.iter().for_each(|record| counts.entry(record).or_default().0 += 1);
    found.iter().for_each(|record| counts.entry(record).or_default().1 += 1);
    let wrong: Vec<_> = counts.iter().filter(|(_, (expected, found))| !right(*expected, *found)).collect();
    let (record, (times, there)) = wrong.first()?;
    let more = if wrong.len() > 1 { format!(" (and {} more)", wrong.len() - 1) } else { String::new() };
    Some(format!("{there} times, not {times}: {record}{more}"))
}

fn first_seen(records: &[String]) -> Vec<&str> {
    let mut seen = std::collections::BTreeSet::new();
    records.iter().map(String::as_str).filter(|record| seen.insert(*record)).collect()
}

#[cfg(test)]
mod tests;
