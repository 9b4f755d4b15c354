//! Random panes, retractions, flushes and starts of several jobs against a map in memory. A failure prints its seed; `SEED` replays one.

use super::chance::Chance;
use super::*;

const SEED: Option<u64> = None;
const SEEDS: u64 = 25;

/// What should be known of each key: the start that said it, and the pane; none if the pane was taken back.
type Model = BTreeMap<String, Said>;

#[derive(Clone)]
struct Said {
    /// Precedence, start.
    run: (i32, u64),
    pane: Pane,
    is_there: bool,
}

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

fn applied(model: &mut Model, pane: &Pane, run: (i32, u64)) {
    let key = identity(pane);
    let is_there = pane.info.op == PaneOp::Insert;
    if let Some(known) = model.get(&key) {
        let same_window = known.pane.info.window == pane.info.window;
        let newer = known.run > run || (known.run == run && same_window && known.pane.info.index > pane.info.index);
        if newer || (!is_there && known.is_there && !same_window) {
            return;
        }
    }
    model.insert(key, Said { run, pane: pane.clone(), is_there });
}

/// The jobs that write the table, each with its precedence.
const JOBS: [(&str, i32); 3] = [("live", 0), ("backfill", -1), ("repair", 7)];

/// A job's sink, and what was not flushed yet.
struct Job {
    start: u64,
    sink: SqliteSink,
    pending: Vec<Pane>,
}

fn run(seed: u64) {
    let mut chance = Chance::of_seed(seed);
    let place = Place::new();
    let names = fields(&["a", "b"], &["c", "d"]);
    let key = ["b", "window_start", "a"];
    let open = |job: usize, start| place.sink_of(writer(JOBS[job].0, JOBS[job].1, start), &key, &names);
    let mut jobs: Vec<Job> =
        (0..JOBS.len()).map(|job| Job { start: 1, sink: open(job, 1), pending: Vec::new() }).collect();
    let mut model = Model::new();
    for _ in 0..90 {
        let place_of_job = chance.of(&[0, 1, 2]);
        let job = &mut jobs[place_of_job];
        match chance.below(10) {
            0 => {
                // What was not flushed is lost with its start.
                job.pending.clear();
                job.start += 1;
                job.sink = open(place_of_job, job.start);
            }
            1..=3 => {
                job.sink.flush().expect("flushed");
                let run = (JOBS[place_of_job].1, job.start);
                job.pending.drain(..).for_each(|pane| applied(&mut model, &pane, run));
                check(&place, &names, &model, seed);
            }
            _ => {
                let panes: Vec<Pane> = (0..=chance.below(5)).map(|_| written(&mut chance, &model)).collect();
                job.sink.write_panes(&batch(&panes)).expect("written");
                job.pending.extend(panes);
            }
        }
    }
}

/// A pane, or the retraction of a row that is there or was.
fn written(chance: &mut Chance, model: &Model) -> Pane {
    let rows: Vec<&Pane> = model.values().map(|said| &said.pane).collect();
    match chance.below(3) {
        0 if !rows.is_empty() => chance.of(&rows).retraction(),
        1 => pane(chance).retraction(),
        _ => pane(chance),
    }
}

fn check(place: &Place, names: &PaneFields, model: &Model, seed: u64) {
    let rows = model.values().filter(|said| said.is_there);
    let mut expected: Vec<String> = rows.map(|said| line(names, &said.pane)).collect();
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
