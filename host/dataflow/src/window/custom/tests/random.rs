//! Random jobs whose hook decides at random: the engine, however batches are cut, against the model.
//!
//! A failure prints its seed; `SEED` below replays one.

use tidegate_types::Timing;
use tidegate_types::hooks::Decision;

use super::job::{Case, json};
use super::model::{Hook, Mode, Model, Record, Says};
use super::script::{Asked, Row, Said, Script, Shown, ten};

/// Replays one seed.
const SEED: Option<u64> = None;
const SEEDS: u64 = 400;

/// A random number that follows from these numbers alone.
fn draw(seed: u64, numbers: impl IntoIterator<Item = i64>) -> u64 {
    let mix = |state: u64| {
        let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        state ^ (state >> 31)
    };
    let step = |state: u64, number: i64| mix(state.wrapping_add(0x9E37_79B9_7F4A_7C15) ^ mix(number.cast_unsigned()));
    numbers.into_iter().fold(mix(seed.wrapping_add(1)), step)
}

fn letters(text: &str) -> impl Iterator<Item = i64> {
    text.bytes().map(i64::from)
}

fn assign(seed: u64, row: &Row) -> Said<Vec<(i64, i64)>> {
    let chance = draw(seed, letters(&row.mark).chain([1, row.time]));
    let (start, end) = ten(row.time);
    Ok(match chance % 16 {
        0 => return Err("trap"),
        1 => Vec::new(),
        2..=7 => vec![(start, end)],
        8 | 9 => vec![(start, end + 10), (start, end), (start, end + 10)],
        10 | 11 => vec![(start - 10, end), (start, end)],
        12 => vec![(row.time, row.time + 7)],
        _ => vec![(0, 100), (start, end), (start, start + 25)],
    })
}

fn decide(seed: u64, asked: &Asked) -> Said<Decision> {
    let Asked { key, window, count, watermark } = asked;
    let numbers = [2, window.0, window.1, i64::from(*count), watermark.as_millis()];
    match draw(seed, letters(key).chain(numbers)) % 16 {
        0 => Err("fault"),
        1..=7 => Ok(Decision::Wait),
        8..=12 => Ok(Decision::Fire),
        13 | 14 => Ok(Decision::FireAndPurge),
        _ => Ok(Decision::Purge),
    }
}

fn emit(seed: u64, shown: &Shown) -> Said<Vec<String>> {
    let Shown { key, window, timing, index, value } = shown;
    let timing = i64::from(*timing == Timing::Early);
    let index = i64::try_from(*index).expect("few panes");
    let chance = draw(seed, letters(key).chain([3, window.0, window.1, timing, index, *value]));
    if chance.is_multiple_of(8) {
        Err("trap")
    } else {
        Ok((0..chance % 3).map(|row| format!("{value}-{row}")).collect())
    }
}

struct Scenario {
    case: Case,
    model: Model,
    records: Vec<Record>,
}

fn scenario(seed: u64) -> Scenario {
    let below = |what: i64, end: u64| i64::try_from(draw(seed, [0, what]) % end).expect("small");
    let emit: Option<Says<Shown, Vec<String>>> = (below(1, 2) == 0).then_some(emit);
    let hook = Hook { assign, decide, emit, seed };
    let mut script = Script::new(move |row| assign(seed, row)).deciding(move |asked| decide(seed, asked));
    if let Some(emit) = emit {
        script = script.emitting(move |shown| emit(seed, shown));
    }
    if below(2, 3) == 0 {
        script = script.with_fuel(1 + below(3, 4).cast_unsigned());
    }
    let lateness = below(4, 3) * 8;
    let (mode, accumulation) = match below(5, 3) {
        0 => (Mode::Accumulating, "accumulating"),
        1 => (Mode::Discarding, "discarding"),
        _ => (Mode::Retracting, "accumulating_and_retracting"),
    };
    let horizon = (below(6, 2) == 0).then(|| lateness + 10 + below(7, 20));
    let case = Case { lateness, accumulation, horizon, ..Case::of(script) };
    let records = (0..5 + below(8, 60)).map(|number| record(seed, number)).collect();
    Scenario { case, model: Model::new(hook, lateness, mode, horizon), records }
}

fn record(seed: u64, number: i64) -> Record {
    let below = |what: i64, end: u64| i64::try_from(draw(seed, [4, number, what]) % end).expect("small");
    let time = number + below(1, 12) - 6;
    Record {
        key: ["a", "b", "c"][usize::try_from(below(2, 3)).expect("small")].to_owned(),
        row: Row { time, mark: format!("m{number}") },
        id: (below(3, 2) == 0).then(|| below(4, 8)),
        claim: (below(5, 5) == 0).then_some(time),
    }
}

fn line(record: &Record) -> String {
    let Record { key, row: Row { time, mark }, id, claim } = record;
    let mut line = format!("{key} {time} mark={mark}");
    line += &id.map_or_else(String::new, |id| format!(" id={id}"));
    line += &claim.map_or_else(String::new, |claim| format!(" w={claim}"));
    json(&line)
}

#[test]
fn the_engine_agrees_with_the_model_however_batches_are_cut() {
    let seeds = SEED.map_or(0..SEEDS, |seed| seed..seed + 1);
    let mut panes = 0;
    for seed in seeds {
        let Scenario { case, model, records } = scenario(seed);
        let expected = model.run(&records);
        panes += expected.panes.len();
        let lines: Vec<String> = records.iter().map(line).collect();
        for (batch_rows, parallelism) in [(1_000, 1), (1, 1), (3, 1), (8, 3)] {
            let ran = case.run_cut(&lines, batch_rows, parallelism);
            assert_eq!(ran, expected, "SEED {seed}, {batch_rows} rows a batch, {parallelism} subtasks: {lines:#?}");
        }
    }
    assert!(SEED.is_some() || panes > 2_000, "the scenarios show little: {panes} panes");
}
