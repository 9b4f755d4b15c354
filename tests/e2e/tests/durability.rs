//! 100,000 events over HTTP, with `kill -9` of the platform in between: what was acknowledged is there once, in order within
//! its partition; what was not is there whole or not at all.
//!
//! The seed only decides where the kills fall and how large batches are.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tidegate_e2e::platform::{Asker, Http, Platform, free_port};
use tidegate_e2e::{Chance, Folder, parsed};

/// Events of the producers that count their batches: 4 of 22,500 each, which all arrive.
const PRODUCERS: u64 = 4;
const EVENTS_EACH: u64 = 22_500;
/// Batches of the one that does not count, and never asks twice: 100 of 100.
const CARELESS_BATCHES: u64 = 100;
const CARELESS_EVENTS: u64 = 100;
const PARTITIONS: u64 = 3;
const KILLS: u64 = 4;
/// A test that hangs says nothing.
const PATIENCE: Duration = Duration::from_secs(300);

/// How the producers are told where the platform is, and how far they are.
struct Shared {
    url: String,
    token: String,
    /// Events that were acknowledged to the counting producers.
    acknowledged: Mutex<u64>,
    more: Condvar,
}

impl Shared {
    fn acknowledge(&self, events: u64) {
        *self.acknowledged.lock().expect("no producer panicked") += events;
        self.more.notify_all();
    }

    /// Waits until so many events are acknowledged.
    fn wait_for(&self, events: u64) {
        let acknowledged = self.acknowledged.lock().expect("no producer panicked");
        let waited = self.more.wait_timeout_while(acknowledged, PATIENCE, |acknowledged| *acknowledged < events);
        let (acknowledged, timeout) = waited.expect("no producer panicked");
        assert!(!timeout.timed_out(), "only {acknowledged} events are acknowledged, not {events}");
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a test may be given a seed to replay")]
fn every_acknowledged_event_is_there_once_and_in_order_whenever_the_platform_is_killed() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    println!("seed {seed} (SEED=n replays another)");
    let folder = Folder::new();
    let (data, port) = (folder.path().join("data"), free_port());
    let platform = Platform::start(&data, port);
    let shared = prepare(&platform, &folder);
    let (platform, acknowledged) = thread::scope(|scope| {
        let shared = &shared;
        let counting: Vec<_> =
            (0..PRODUCERS).map(|number| scope.spawn(move || counting_producer(shared, number, seed))).collect();
        let careless = scope.spawn(|| careless_producer(shared));
        let platform = kill_again_and_again(platform, &data, port, shared, seed);
        counting.into_iter().for_each(|producer| producer.join().expect("a producer comes to its end"));
        (platform, careless.join().expect("the careless producer comes to its end"))
    });
    let asker = Asker { folder: &folder, url: platform.url.clone(), token_file: folder.path().join("acme.token") };
    let stored = parsed(&asker.must(&["stream", "read", "events"]));
    check_offsets(&stored);
    check_counting(&stored);
    check_careless(&stored, &acknowledged);
}

/// A tenant with a stream.
fn prepare(platform: &Platform, folder: &Folder) -> Shared {
    let admin = Asker { folder, url: platform.url.clone(), token_file: platform.admin_token_file() };
    admin.must(&["tenant", "create", "acme"]);
    admin.must(&["token", "create", "acme", "--role", "developer", "--output", "acme.token"]);
    let asker = Asker { folder, url: platform.url.clone(), token_file: folder.path().join("acme.token") };
    asker.must(&["stream", "create", "events", "--partitions", &PARTITIONS.to_string()]);
    let token = folder.read("acme.token").trim().to_owned();
    Shared { url: platform.url.clone(), token, acknowledged: Mutex::new(0), more: Condvar::new() }
}

/// Kills the platform when so much is acknowledged, and starts it again.
fn kill_again_and_again(mut platform: Platform, data: &Path, port: u16, shared: &Shared, seed: u64) -> Platform {
    let mut chance = Chance::of_seed(seed);
    let all = PRODUCERS * EVENTS_EACH;
    for kill in 0..KILLS {
        let at = all * kill / KILLS + all / (2 * KILLS) + chance.below(1_000);
        shared.wait_for(at);
        platform.kill_9();
        platform = Platform::start(data, port);
    }
    platform
}

/// Sends its events in batches to one partition each, one after the other, and each one until it is acknowledged.
fn counting_producer(shared: &Shared, number: u64, seed: u64) {
    let http = Http::new(&shared.url, &shared.token);
    let mut chance = Chance::of_seed(seed ^ (number + 1));
    let (mut sent, mut sequence) = (0, 0);
    while sent < EVENTS_EACH {
        let size = (1 + chance.below(400)).min(EVENTS_EACH - sent);
        let partition = chance.below(PARTITIONS);
        let body: String = (sent..sent + size)
            .map(|event| format!("{{\"producer\": {number}, \"event\": {event}, \"sequence\": {sequence}}}\n"))
            .collect();
        let path = format!("/v1/streams/events/records?partition={partition}");
        let (name, count) = (format!("producer-{number}"), sequence.to_string());
        let headers = [
            ("content-type", "application/x-ndjson"),
            ("tidegate-producer", name.as_str()),
            ("tidegate-sequence", count.as_str()),
        ];
        loop {
            match http.post(&path, &headers, &body) {
                Some((200, _)) => break,
                // Not there, or not ready: the same batch again.
                None | Some((429 | 503, _)) => pause(),
                Some((status, body)) => panic!("batch {sequence} of producer {number}: {status} {body}"),
            }
        }
        shared.acknowledge(size);
        sent += size;
        sequence += 1;
    }
}

#[allow(clippy::disallowed_methods, reason = "a client that got no answer asks again after a moment")]
fn pause() {
    thread::sleep(Duration::from_millis(20));
}

/// Sends each batch once; the numbers of those that were acknowledged. Its pace follows the others'.
fn careless_producer(shared: &Shared) -> Vec<u64> {
    let http = Http::new(&shared.url, &shared.token);
    let mut acknowledged = Vec::new();
    for batch in 0..CARELESS_BATCHES {
        shared.wait_for(PRODUCERS * EVENTS_EACH * batch / CARELESS_BATCHES);
        // By a key, so that a batch is spread over the partitions.
        let body: String = (0..CARELESS_EVENTS)
            .map(|event| format!("{{\"careless\": {batch}, \"event\": {event}, \"key\": \"{}\"}}\n", event % 7))
            .collect();
        let headers = [("content-type", "application/x-ndjson")];
        if let Some((200, _)) = http.post("/v1/streams/events/records?key=key", &headers, &body) {
            acknowledged.push(batch);
        }
    }
    acknowledged
}

/// Offsets of each partition follow each other from 0.
fn check_offsets(stored: &[Value]) {
    let mut next: BTreeMap<u64, u64> = BTreeMap::new();
    for line in stored {
        let (partition, offset) = (number(&line["partition"]), number(&line["offset"]));
        let expected = next.entry(partition).or_default();
        assert_eq!(offset, *expected, "partition {partition}");
        *expected += 1;
    }
}

/// Each event of the counting producers is there once; those of one producer in one partition are in order.
fn check_counting(stored: &[Value]) {
    let mut last: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let mut seen: BTreeMap<u64, Vec<bool>> = BTreeMap::new();
    for line in stored {
        let Some(producer) = line["record"]["producer"].as_u64() else { continue };
        let (partition, event) = (number(&line["partition"]), number(&line["record"]["event"]));
        if let Some(before) = last.insert((partition, producer), event) {
            assert!(before < event, "producer {producer}, partition {partition}: {before} stands before {event}");
        }
        let events = seen.entry(producer).or_insert_with(|| vec![false; place(EVENTS_EACH)]);
        let event = place(event);
        assert!(!std::mem::replace(&mut events[event], true), "producer {producer}, event {event}: twice");
    }
    for producer in 0..PRODUCERS {
        let missing = seen[&producer].iter().filter(|seen| !**seen).count();
        assert_eq!(missing, 0, "acknowledged events of producer {producer} are missing");
    }
}

/// Each careless batch is there whole once, or not at all; those that were acknowledged are there.
fn check_careless(stored: &[Value], acknowledged: &[u64]) {
    let mut events: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for line in stored {
        if let Some(batch) = line["record"]["careless"].as_u64() {
            events.entry(batch).or_default().push(number(&line["record"]["event"]));
        }
    }
    for (batch, events) in &mut events {
        events.sort_unstable();
        assert_eq!(*events, (0..CARELESS_EVENTS).collect::<Vec<_>>(), "batch {batch} is there in part or twice");
    }
    let missing: Vec<&u64> = acknowledged.iter().filter(|batch| !events.contains_key(batch)).collect();
    assert!(missing.is_empty(), "acknowledged batches {missing:?} are missing");
    let unknown = CARELESS_BATCHES - u64::try_from(acknowledged.len()).expect("a short list");
    println!("{unknown} careless batches got no answer; {} of {CARELESS_BATCHES} are there", events.len());
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

fn place(number: u64) -> usize {
    usize::try_from(number).expect("a small number")
}
