//! Random damage to sound files: reading always ends in a pipeline, which the schema accepts too, or in a refusal, never in a
//! panic.
//!
//! A failure shows the seed and the smallest changes; `PROPTEST_RNG_SEED=<seed> cargo test -p tidegate-pipeline` replays it,
//! and `PROPTEST_CASES` asks for more.

use std::hash::{BuildHasher, RandomState};

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;

use super::{BASE, GRAPH, SPECIFICATION};
use crate::schema::tests::faults_of;
use crate::{check_supported, operator_ids, parse};

/// Pieces that mean something to YAML, JSON or the grammar.
const PIECES: [&str; 40] = [
    "\n",
    " ",
    "  ",
    "\t",
    ":",
    ": ",
    "- ",
    "? ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "#",
    "&a",
    "*a",
    "!!str ",
    "|",
    ">",
    "'",
    "\"",
    "\\u",
    "%",
    "@",
    "`",
    "---\n",
    "...\n",
    "<<: ",
    "null",
    "~",
    "0",
    "-1",
    "9223372036854775808",
    "1e999",
    ".nan",
    "0x",
    "every ",
    "\u{feff}",
    "\u{0}",
    "é😀",
];

/// One change: put a piece in, take a stretch out, or say a stretch twice.
#[derive(Debug, Clone)]
enum Damage {
    Insert(Index, usize),
    Remove(Index, usize),
    Repeat(Index, usize),
    Character(Index, char),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<Index>(), 0..PIECES.len()).prop_map(|(at, piece)| Damage::Insert(at, piece)),
        (any::<Index>(), 1..40_usize).prop_map(|(at, length)| Damage::Remove(at, length)),
        (any::<Index>(), 1..80_usize).prop_map(|(at, length)| Damage::Repeat(at, length)),
        (any::<Index>(), any::<char>()).prop_map(|(at, character)| Damage::Character(at, character)),
    ]
}

fn damaged(text: &str, damage: &[Damage]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for change in damage {
        let (Damage::Insert(at, _) | Damage::Remove(at, _) | Damage::Repeat(at, _) | Damage::Character(at, _)) = change;
        let at = at.index(characters.len() + 1);
        let stretch = |length: &usize| at..(at + length).min(characters.len());
        match change {
            Damage::Insert(_, piece) => drop(characters.splice(at..at, PIECES[*piece].chars())),
            Damage::Remove(_, length) => drop(characters.drain(stretch(length))),
            Damage::Repeat(_, length) => {
                let copy: Vec<char> = characters[stretch(length)].to_vec();
                characters.splice(at..at, copy);
            }
            Damage::Character(_, character) => characters.insert(at, *character),
        }
    }
    characters.into_iter().collect()
}

/// Reads the text and uses whatever comes out.
fn survive(text: &str) -> Result<(), TestCaseError> {
    match parse(text) {
        Ok(parsed) => {
            prop_assert!(!operator_ids(&parsed.pipeline).is_empty());
            drop(check_supported(&parsed.pipeline));
            prop_assert_eq!(faults_of(text), Vec::<String>::new(), "the schema refuses what is accepted");
        }
        Err(error) => {
            let lines = text.split(['\n', '\r']).count();
            prop_assert!(error.line.is_none_or(|line| (1..=lines).contains(&line)), "{error}");
            prop_assert!(!error.reason.is_empty() && !error.to_string().chars().any(char::is_control), "{error}");
            prop_assert!(error.to_string().len() < 2_000, "{error}");
        }
    }
    Ok(())
}

/// At least 2,000 cases from a seed that is printed.
pub(super) fn config() -> ProptestConfig {
    let given = ProptestConfig::default();
    let seed = match given.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => RandomState::new().hash_one(()),
    };
    println!("PROPTEST_RNG_SEED={seed}");
    let cases = given.cases.max(2_000);
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..given }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn never_panics_on_damaged_files(changes in prop::collection::vec(damage(), 1..8), file in 0..3_usize) {
        survive(&damaged([SPECIFICATION, BASE, GRAPH][file], &changes))?;
    }

    #[test]
    fn never_panics_on_damaged_json(changes in prop::collection::vec(damage(), 1..8), long in any::<bool>()) {
        let root = crate::reader::read(if long { GRAPH } else { SPECIFICATION }).expect("a sound file");
        let json = serde_json::to_string_pretty(&root.content.to_json()).expect("JSON");
        survive(&damaged(&json, &changes))?;
    }

    #[test]
    fn never_panics_on_any_text(text in any::<String>()) {
        survive(&text)?;
    }
}
