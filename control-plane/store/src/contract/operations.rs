//! Random operations against a model: a map of what should be there, and a list of what was appended.
//!
//! Few kinds and paths, so that expectations often meet something. The model learns versions from the store (they have no
//! meaning of their own) and holds that they grow and never come again.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::chance::Chance;
use super::conflict;
use crate::{Change, Document, Expect, MetaStore};

const KINDS: [&str; 2] = ["k", "k-2"];
const PATHS: [&str; 7] = ["a", "a/1", "a/2", "a-1", "b", "b/1", "~"];
const STEPS: usize = 300;

#[derive(Default)]
struct Model {
    /// Body and version by kind and path.
    documents: BTreeMap<(&'static str, &'static str), (Value, u64)>,
    trail: Vec<Value>,
    /// The greatest version that was ever seen.
    newest: u64,
    /// Numbers every body, so that no two are equal.
    bodies: u64,
}

/// Makes the operations of a seed; the seed is printed, so that a failure can be replayed (`SEED=n`).
pub(super) async fn agree_with_a_model(store: &dyn MetaStore, seed: u64) {
    println!("seed {seed} (replay: SEED={seed})");
    let mut chance = Chance::new(seed);
    let mut model = Model::default();
    for _ in 0..STEPS {
        match chance.below(4) {
            0 => check_get(store, &model, &mut chance).await,
            1 => check_list(store, &model, &mut chance).await,
            _ => commit(store, &mut model, &mut chance).await,
        }
    }
    let entries = store.entries("t", 0, 1_000).await.expect("a good question");
    assert_eq!(entries.into_iter().map(|entry| entry.body).collect::<Vec<_>>(), model.trail);
}

async fn check_get(store: &dyn MetaStore, model: &Model, chance: &mut Chance) {
    let (kind, path) = (*chance.of(&KINDS), *chance.of(&PATHS));
    let found = store.get(kind, path).await.expect("a good name");
    assert_eq!(found, model.documents.get(&(kind, path)).map(|known| document(path, known)));
}

async fn check_list(store: &dyn MetaStore, model: &Model, chance: &mut Chance) {
    let kind = *chance.of(&KINDS);
    let prefix = *chance.of(&["", "a", "a/", "b", "c"]);
    let after = *chance.of(&[None, Some("a"), Some("a/1"), Some("b"), Some("0")]);
    let limit = chance.below(8) + 1;
    let found = store.list(kind, prefix, after, limit).await.expect("a good list");
    let fits = |path: &str| path.starts_with(prefix) && after.is_none_or(|after| path > after);
    let known = model.documents.iter().filter(|((its, path), _)| *its == kind && fits(path));
    let expected: Vec<Document> = known.map(|((_, path), known)| document(path, known)).take(limit).collect();
    assert_eq!(found, expected, "list {kind} {prefix:?} {after:?} {limit}");
}

/// Some changes with expectations, half of them right.
async fn commit(store: &dyn MetaStore, model: &mut Model, chance: &mut Chance) {
    let mut places: Vec<(&'static str, &'static str)> =
        (0..=chance.below(3)).map(|_| (*chance.of(&KINDS), *chance.of(&PATHS))).collect();
    places.sort_unstable();
    places.dedup();
    let mut changes = Vec::new();
    let mut wrong = None;
    for &(kind, path) in &places {
        let version = model.documents.get(&(kind, path)).map(|(_, version)| *version);
        let expect = expectation(version, model.newest, chance);
        if wrong.is_none() && !is_met(expect, version) {
            wrong = Some(conflict(kind, path));
        }
        model.bodies += 1;
        changes.push(match chance.below(3) {
            0 => Change::Delete { kind: kind.into(), path: path.into(), expect },
            _ => Change::Put { kind: kind.into(), path: path.into(), body: json!({ "n": model.bodies }), expect },
        });
    }
    let entry = json!(model.bodies);
    let mut all = changes.clone();
    all.push(Change::Append { trail: "t".into(), body: entry.clone() });
    let answer = store.commit(all).await;
    assert_eq!(answer.clone().err(), wrong, "{changes:?}");
    if answer.is_ok() {
        model.trail.push(entry);
        apply(store, model, &places, &changes).await;
    }
}

/// Says in other words than `Expect::meets` what an expectation means.
fn is_met(expect: Expect, version: Option<u64>) -> bool {
    match (expect, version) {
        (Expect::Any, _) | (Expect::Absent, None) => true,
        (Expect::Absent, Some(_)) | (Expect::Version(_), None) => false,
        (Expect::Version(expected), Some(version)) => expected == version,
    }
}

fn expectation(version: Option<u64>, newest: u64, chance: &mut Chance) -> Expect {
    match chance.below(6) {
        0 => Expect::Absent,
        1 => Expect::Any,
        2 => Expect::Version(newest.saturating_sub(1)),
        _ => version.map_or(Expect::Absent, Expect::Version),
    }
}

async fn apply(store: &dyn MetaStore, model: &mut Model, places: &[(&'static str, &'static str)], changes: &[Change]) {
    let mut given = None;
    for (place, change) in places.iter().zip(changes) {
        match change {
            Change::Put { body, .. } => {
                let found = store.get(place.0, place.1).await.expect("a good name").expect("it was put just now");
                assert_eq!(&found.body, body);
                assert!(found.version > model.newest, "version {} after {}", found.version, model.newest);
                assert_eq!(*given.get_or_insert(found.version), found.version, "one version for one commit");
                model.documents.insert(*place, (found.body, found.version));
            }
            _ => {
                model.documents.remove(place);
            }
        }
    }
    model.newest = given.unwrap_or(model.newest);
}

fn document(path: &str, (body, version): &(Value, u64)) -> Document {
    Document { path: path.to_owned(), version: *version, body: body.clone() }
}
