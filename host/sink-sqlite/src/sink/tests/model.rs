//! Random panes, retractions, flushes and runs against a map in memory. A failure prints its seed; `SEED` replays one.

use super::chance::Chance;
use super::*;

const SEED: Option<u64> = None;
const SEEDS: u64 = 60;

/// The rows as they should be: by key, the pane and the run that wrote it.
type Model = BTreeMap<String, (Pane, u32)>;

fn values() -> [Value; 9] {
    [
        Value::Null,
        Value::Bool(true),
        Value::Int(0),
        Value::Int(-7),
        Value::Float(0.0),
        Value::Float(f64::NAN),
        Value::from("a"),
        Value::Bytes([97].as_slice().into()),
        Value::Json("[\"a\"]".into()),
    ]
}

fn pane(chance: &mut Chance) -> Pane {
    let window = chance.of(&[None, Some((0, 60_000)), Some((0, 60_001)), Some((-60_000, 0))]);
    let index = chance.below(3);
    let mut any = || chance.of(&values());
    Pane::new(vec![any(), any()], window, index, vec![any(), any()])
}

/// A key in words: what tells two rows apart.
fn identity(pane: &Pane) -> String {
    format!("{:?} {:?}", pane.keys, pane.info.window.map(|(start, _)| start))
}

fn applied(model: &mut Model, pane: &Pane, run: u32) {
    let key = identity(pane);
    match pane.info.op {
        PaneOp::Insert => drop(model.insert(key, (pane.clone(), run))),
        PaneOp::Retract => {
            let same = |(there, by): &(Pane, u32)| {
                *by == run && there.info.window == pane.info.window && there.info.index == pane.info.index
            };
            if model.get(&key).is_some_and(same) {
                model.remove(&key);
            }
        }
    }
}

fn run(seed: u64) {
    let mut chance = Chance::of_seed(seed);
    let place = Place::new();
    let names = fields(&["a", "b"], &["c", "d"]);
    let key = ["b", "window_start", "a"];
    let (mut model, mut pending, mut runs) = (Model::new(), Vec::<Pane>::new(), 1);
    let mut sink = place.sink(&key, &names);
    for _ in 0..60 {
        match chance.below(10) {
            0 => {
                // What was not flushed is lost with its run.
                pending.clear();
                runs += 1;
                sink = place.sink(&key, &names);
            }
            1..=3 => {
                sink.flush().expect("flushed");
                pending.drain(..).for_each(|pane| applied(&mut model, &pane, runs));
                check(&place, &names, &model, seed);
            }
            _ => {
                let panes: Vec<Pane> = (0..=chance.below(5)).map(|_| written(&mut chance, &model)).collect();
                sink.write(&batch(&panes)).expect("written");
                pending.extend(panes);
            }
        }
    }
}

/// A pane, or the retraction of a row that is there or was.
fn written(chance: &mut Chance, model: &Model) -> Pane {
    let rows: Vec<&Pane> = model.values().map(|(pane, _)| pane).collect();
    match chance.below(3) {
        0 if !rows.is_empty() => chance.of(&rows).retraction(),
        1 => pane(chance).retraction(),
        _ => pane(chance),
    }
}

fn check(place: &Place, names: &PaneFields, model: &Model, seed: u64) {
    let mut expected: Vec<String> = model.values().map(|(pane, _)| line(names, pane)).collect();
    let mut found = place.rows();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected, "seed {seed}");
}

#[test]
fn tables_are_what_a_map_in_memory_is() {
    for seed in SEED.map_or(0..SEEDS, |seed| seed..seed + 1) {
        run(seed);
    }
}
