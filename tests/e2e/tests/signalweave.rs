//! The examples `guest-examples/fraud-features-rust` and `guest-examples/notifications-rust`: process hooks in WebAssembly,
//! row for row against the same computed here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_e2e::{Folder, guest, parsed};

const MINUTE: i64 = 60_000;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../guest-examples/{name}-rust"))
}

/// Runs an example over its data at several batch sizes; returns its rows, which are the same each time, and the reasons of its dead
/// letters.
fn run(name: &str, data: &str) -> (String, Vec<Value>, Vec<String>) {
    let folder = Folder::new();
    folder.write("pipeline.yaml", fs::read(example(name).join("pipeline.yaml")).expect("the example has a pipeline"));
    let records = fs::read_to_string(example(name).join("data").join(data)).expect("the example has data");
    folder.write("events.ndjson", &records);
    let component = format!("{name}={}", guest(name).display());
    let mut first: Option<(Vec<Value>, Vec<String>)> = None;
    for batch_rows in ["1", "7", "1000"] {
        let mut args = vec!["run", "pipeline.yaml", "--input", "events.ndjson", "--output", "rows.ndjson"];
        args.extend(["--dead-letter", "dead.ndjson", "--component", &component, "--allow-unsigned"]);
        args.extend(["--batch-rows", batch_rows]);
        let done = folder.tidegate(&args).success();
        assert_eq!(done.count("read"), done.count("accepted") + done.count("rejected"), "{}", done.summary());
        let dead = parsed(&folder.read("dead.ndjson"));
        let codes = dead.iter().map(|letter| letter["reason"].as_str().expect("a reason").to_owned()).collect();
        let this = (parsed(&folder.read("rows.ndjson")), codes);
        assert!(first.as_ref().is_none_or(|first| *first == this), "with batches of {batch_rows}");
        first = Some(this);
    }
    let (rows, codes) = first.expect("it ran");
    (records, rows, codes)
}

/// Milliseconds of `2026-10-22T08:00:34Z` since the beginning of that October.
fn millis(value: &Value) -> i64 {
    let text = value.as_str().expect("a time");
    assert!(text.starts_with("2026-10-") && text.ends_with('Z'), "{text}");
    let number = |from: usize, to: usize| text[from..to].parse::<i64>().expect("digits");
    let seconds = number(8, 10) * 86_400 + number(11, 13) * 3_600 + number(14, 16) * 60 + number(17, 19);
    seconds * 1_000
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Rows in an order of their own: the output goes by event, and of one event by key.
fn sorted(rows: impl IntoIterator<Item = Value>) -> Vec<String> {
    let mut rows: Vec<String> = rows.into_iter().map(|row| row.to_string()).collect();
    rows.sort_unstable();
    rows
}

/// A row as it came, its time in milliseconds and without the watermark.
fn plain(mut row: Value) -> Value {
    row["time"] = millis(&row["time"]).into();
    row.as_object_mut().expect("a row is an object").remove("watermark").expect("a row has a watermark");
    row
}

#[derive(Default)]
struct Customer {
    balance: i64,
    payments: Vec<(i64, i64, String)>,
    seen: BTreeSet<String>,
    last: i64,
    silent_at: Option<i64>,
}

/// What `fraud-features` makes of these events.
fn features(records: &str) -> Vec<Value> {
    let mut customers: BTreeMap<String, Customer> = BTreeMap::new();
    let (mut rows, mut watermark) = (Vec::new(), i64::MIN);
    for event in parsed(records) {
        let (at, amount) = (millis(&event["event_time"]), event["amount_cents"].as_i64().expect("an amount"));
        let (name, kind) = (text(&event["customer_id"]), text(&event["kind"]));
        let wrong = amount <= 0 || !["payment", "refund"].contains(&kind.as_str());
        let customer = customers.entry(name.clone()).or_default();
        if !wrong && customer.seen.insert(text(&event["event_id"])) {
            customer.last = customer.last.max(at);
            customer.silent_at = Some(customer.last + 30 * MINUTE);
            if kind == "refund" {
                customer.balance -= amount;
            } else {
                customer.balance += amount;
                rows.push(pay(&name, customer, &event, at, amount));
            }
            rows.extend(silence(&name, customer, watermark));
        }
        watermark = watermark.max(at - 2 * MINUTE);
        rows.extend(customers.iter_mut().filter_map(|(name, customer)| silence(name, customer, watermark)));
    }
    rows.extend(customers.iter_mut().filter_map(|(name, customer)| silence(name, customer, i64::MAX)));
    rows
}

fn pay(name: &str, customer: &mut Customer, event: &Value, at: i64, amount: i64) -> Value {
    let before = |payment: &&(i64, i64, String)| payment.0 <= at;
    let since =
        |minutes: i64| customer.payments.iter().filter(before).filter(move |(when, ..)| *when > at - minutes * MINUTE);
    let velocity = since(10).count() + 1;
    let country = text(&event["country"]);
    let countries: BTreeSet<&str> = since(60).map(|(.., country)| country.as_str()).chain([country.as_str()]).collect();
    let earlier: Vec<i64> = customer.payments.iter().filter(before).map(|(_, amount, _)| *amount).collect();
    let mean = earlier.iter().sum::<i64>() as f64 / earlier.len() as f64;
    let ratio = if earlier.is_empty() { Value::Null } else { json!(amount as f64 / mean) };
    let countries = countries.len();
    customer.payments.push((at, amount, country));
    assert!(customer.payments.len() <= 50, "the hook remembers no more");
    json!({
        "customer_id": name, "about": "payment", "event_id": event["event_id"], "amount_cents": amount,
        "balance_cents": customer.balance, "payments": customer.payments.len(), "velocity": velocity,
        "countries": countries, "ratio": ratio, "time": at,
    })
}

/// The row of a customer whose silence is long enough, once.
fn silence(name: &str, customer: &mut Customer, watermark: i64) -> Option<Value> {
    let at = customer.silent_at.take_if(|at| *at <= watermark)?;
    Some(json!({
        "customer_id": name, "about": "silent", "event_id": null, "amount_cents": null,
        "balance_cents": customer.balance, "payments": customer.payments.len(), "velocity": null,
        "countries": null, "ratio": null, "time": at,
    }))
}

#[test]
fn fraud_features_are_those_that_are_computed_by_hand() {
    let (records, rows, dead) = run("fraud-features", "money.ndjson");
    let expected = features(&records);
    let silent = |rows: &[Value]| rows.iter().filter(|row| row["about"] == "silent").count();
    // The data show what they are made for: silences, a robbery, repetitions.
    assert!(silent(&expected) >= 6, "{}", silent(&expected));
    assert!(expected.iter().any(|row| row["countries"] == 4 && row["velocity"].as_u64() > Some(10)));
    assert!(expected.len() - silent(&expected) < records.lines().filter(|line| line.contains("payment")).count());
    assert_eq!(dead, ["bad-amount", "unknown-kind"]);
    assert_eq!(sorted(rows.into_iter().map(plain)), sorted(expected));
}

#[derive(Default)]
struct Order {
    customer: String,
    /// How far it is, by the place of its last event's kind.
    stage: Option<usize>,
    sent: BTreeSet<&'static str>,
    waits_until: Option<i64>,
}

/// What `notifications` makes of these events.
fn notifications(records: &str) -> Vec<Value> {
    const KINDS: [&str; 5] = ["placed", "paid", "shipped", "delivered", "cancelled"];
    let mut orders: BTreeMap<String, Order> = BTreeMap::new();
    let (mut rows, mut watermark) = (Vec::new(), i64::MIN);
    for event in parsed(records) {
        let (at, name) = (millis(&event["event_time"]), text(&event["order_id"]));
        let stage = KINDS.iter().position(|kind| event["kind"] == *kind).filter(|_| event["customer_id"] != "");
        let order = orders.entry(name.clone()).or_default();
        if stage > order.stage {
            (order.stage, order.customer) = (stage, text(&event["customer_id"]));
            order.waits_until = match stage {
                Some(0) => Some(at + 30 * MINUTE),
                Some(1) => Some(at + 2_880 * MINUTE),
                _ => None,
            };
            let news = [None, None, Some("shipped"), None, Some("cancelled")][stage.expect("it has one")];
            rows.extend(news.and_then(|template| send(&name, order, template, at)));
            rows.extend(remind(&name, order, watermark));
        }
        watermark = watermark.max(at - 5 * MINUTE);
        rows.extend(orders.iter_mut().filter_map(|(name, order)| remind(name, order, watermark)));
    }
    rows.extend(orders.iter_mut().filter_map(|(name, order)| remind(name, order, i64::MAX)));
    rows
}

fn remind(name: &str, order: &mut Order, watermark: i64) -> Option<Value> {
    let at = order.waits_until.take_if(|at| *at <= watermark)?;
    send(name, order, if order.stage == Some(0) { "payment-reminder" } else { "delayed" }, at)
}

fn send(name: &str, order: &mut Order, template: &'static str, at: i64) -> Option<Value> {
    let effect = format!("{name}/{template}");
    let customer = &order.customer;
    let row = json!({"effect_id": effect, "customer_id": customer, "order_id": name, "template": template, "time": at});
    order.sent.insert(template).then_some(row)
}

#[test]
fn notifications_are_those_that_are_computed_by_hand() {
    let (records, rows, dead) = run("notifications", "orders.ndjson");
    let expected = notifications(&records);
    for template in ["payment-reminder", "delayed", "shipped", "cancelled"] {
        assert!(expected.iter().any(|row| row["template"] == template), "the data show no {template}");
    }
    let mut dead = dead;
    dead.sort_unstable();
    assert_eq!(dead, ["no-customer", "unknown-kind"]);
    assert_eq!(sorted(rows.into_iter().map(plain)), sorted(expected));
}
